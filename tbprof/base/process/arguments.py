"""Reads the arguments of a command without `argparse`, where they are spelled as usual."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from tbprof.base.records import NamedTuple

# What an argument that is read here may be declared with.
_READ = {"action", "choices", "default", "dest", "help", "metavar", "nargs", "required"}


class _Argument(NamedTuple):
    names: tuple[str, ...]
    options: dict[str, Any]

    @property
    def is_option(self) -> bool:
        return self.names[0].startswith("-")

    @property
    def default(self) -> Any:
        is_flag = self.options.get("action") == "store_true"
        return self.options.get("default", False if is_flag else None)

    @property
    def destination(self) -> str:
        long = next((name for name in self.names if not name.startswith("-") or name[1] == "-"), "")
        return self.options.get("dest") or (long or self.names[0]).lstrip("-").replace("-", "_")


class Arguments:
    """Arguments that are declared as those of an `ArgumentParser`.

    Importing it and parsing with it take 2 % of a small export.
    """

    def __init__(self) -> None:
        self._declared: list[_Argument] = []

    def add_argument(self, *names: str, **options: Any) -> None:
        """Declares an argument."""
        self._declared.append(_Argument(names, options))

    def read(self, words: Sequence[str]) -> SimpleNamespace | None:
        """The values, as a parser returns them; None where only a parser can tell.

        It knows the help, mistakes, other spellings than `--name VALUE`, and types of values.
        """
        options = {name: each for each in self._declared if each.is_option for name in each.names}
        [others] = [each for each in self._declared if not each.is_option]
        values = {each.destination: each.default for each in self._declared}
        given, rest = set(), []
        left = iter(words)
        for word in left:
            if not word.startswith("-"):
                rest.append(word)
                continue
            value = next(left, "-")
            option = options.get(word)
            if option is None or value.startswith("-") or not _is_read(option, value):
                return None
            name = option.destination
            is_list = option.options.get("action") == "append"
            values[name] = [*values[name], value] if is_list else value
            given.add(name)
        values[others.destination] = rest
        needed = {each.destination for each in self._declared if each.options.get("required")}
        return SimpleNamespace(**values) if rest and needed <= given else None


def _is_read(option: _Argument, value: str) -> bool:
    """Whether the value of an option is as it should be, and needs no conversion."""
    return (
        option.options.keys() <= _READ
        and option.options.get("action") in (None, "append")
        and value in option.options.get("choices", (value,))
    )
