"""Every regular expression of the package takes linear time, whatever the text says."""

import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from helpers.promises.growth import seconds
from helpers.promises.pattern_attacks import attacks

import tbprof
from tbprof.base.lazy import LazyPattern  # type: ignore[attr-defined]

_CHARACTERS = 3_000
# Squared growth takes tens of times as long.
_QUICK_S = 0.001
# Some patterns read on for up to 400 letters from each place: both texts are longer than that.
_FEW, _MANY = 1_600, 12_800
_SLOW_S = 0.02
_TRIES = 12
_METHODS = "match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn"
# A syntax tree would say the same, in 20 times the time.
_CALL = re.compile(rf"(?<![\w.])(\w+)\.({'|'.join(_METHODS)})\b")


def patterns() -> dict[str, tuple[str, int, set[str]]]:
    """module.name -> (pattern, flags, the methods that the module calls of it)."""
    found = {}
    for module in _modules():
        of_module = {
            (name, index): pattern
            for name, value in vars(module).items()
            for index, pattern in enumerate(_patterns_of(value))
        }
        used = _methods(Path(str(module.__file__))) if of_module else {}
        of_all = set().union(*used.values())
        for (name, index), pattern in of_module.items():
            found[f"{module.__name__}.{name}[{index}]"] = (*pattern, used.get(name) or of_all)
    return found


def _modules() -> Iterator[ModuleType]:
    """Those that are Python; kernels have no patterns."""
    for found in pkgutil.walk_packages(tbprof.__path__, "tbprof."):
        module = importlib.import_module(found.name)
        if str(module.__file__).endswith(".py"):
            yield module


def _patterns_of(value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, LazyPattern):
        yield value._given
    elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value.pattern, value.flags
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _patterns_of(item)
    elif isinstance(value, dict):
        yield from _patterns_of(list(value.values()))


def _methods(path: Path) -> defaultdict[str, set[str]]:
    """By the name of a constant, the methods of patterns that the file reads of it."""
    used: defaultdict[str, set[str]] = defaultdict(set)
    for name, method in _CALL.findall(path.read_text()):
        used[name].add(method)
    return used


def _work(pattern: str, flags: int, method: str) -> Callable[[str], object]:
    compiled = re.compile(pattern, flags)
    if method == "finditer":
        return lambda text: list(compiled.finditer(text))
    if method in ("sub", "subn"):
        return lambda text: compiled.sub("", text)
    function: Callable[[str], object] = getattr(compiled, method)
    return function


def slow_text(pattern: str, flags: int, methods: set[str], tries: int = _TRIES) -> str:
    """What makes the pattern take more than linear time, as "method: prefix + repeated", or ""."""
    for method in sorted(methods):
        work = _work(pattern, flags, method)
        for prefix, pump in sorted(attacks(pattern, flags)):
            if not _is_linear(work, prefix, pump, tries):
                return f"{method}: {prefix!r} + {pump!r}"
    return ""


def _is_linear(work: Callable[[str], object], prefix: str, pump: str, tries: int) -> bool:
    """Whether 8 times the text takes less than 24 times as long: squared growth takes 64.

    What is quick in any of several tries is linear, too: the machine interrupts others.
    """

    def took(characters: int) -> float:
        text = prefix + pump * (characters // len(pump)) + "\0"
        return seconds(lambda: work(text))

    if took(_CHARACTERS) < _QUICK_S:
        return True
    few = min(took(_FEW) for _ in range(3))
    return any(took(_MANY) < max(24 * few, _SLOW_S) for _ in range(tries))


@pytest.mark.parametrize("name", PATTERNS := patterns())
def test_a_pattern_takes_linear_time(name: str) -> None:
    assert slow_text(*PATTERNS[name]) == ""


@pytest.mark.parametrize(
    "pattern", [r"([a-z_]+):(\S+)", r"fmha_\w*_sm[56]\d", r"(?:\.\d+)+\Z", r"Save|Write\w*Summary"]
)
def test_patterns_that_take_squared_time_are_found(pattern: str) -> None:
    # An interruption only makes a try longer: these are slow in the first one.
    assert slow_text(pattern, 0, {"search"}, tries=1)
