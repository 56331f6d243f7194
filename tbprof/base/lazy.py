"""Functions, regular expressions and loggers that are imported or compiled when first used."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from types import ModuleType


def object_named(name: str) -> Any:
    """The object with a dotted name, such as "tbprof.base.lazy.object_named"; imports its module.

    Raises ImportError, or AttributeError if the module has no such name.
    """
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


class Later:
    """A function that is imported by its dotted name when it is first called.

    A process that needs one tool imports neither the others nor their dependencies, which would
    take longer than reading a small trace.
    """

    __slots__ = ("_module", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._module: ModuleType | None = None

    def __call__(self, *arguments: object, **named_arguments: object) -> Any:
        """What the function returns."""
        module, _, function = self.name.rpartition(".")
        if self._module is None:
            self._module = import_module(module)
        return getattr(self._module, function)(*arguments, **named_arguments)


def load(function: Callable[..., Any]) -> None:
    """Imports in advance what a `Later` function needs.

    This includes every `Later` in its module, and in the modules of tbprof that this imports.
    """
    if isinstance(function, Later):
        _load(function, set())


def _load(function: Later, seen: set[str]) -> None:
    seen.add(function.name)
    known = set(sys.modules)
    object_named(function.name)
    new = {name for name in set(sys.modules) - known if name.startswith("tbprof.")}
    for name in new | {function.name.rpartition(".")[0]}:
        for other in list(vars(sys.modules[name]).values()):
            if isinstance(other, Later) and other.name not in seen:
                _load(other, seen)


if TYPE_CHECKING:
    import logging

    regex = re.compile
    get_logger = logging.getLogger

    def compile_patterns(wait: Callable[[], None]) -> None:
        """Compiles the expressions of all imported modules ahead of time; waits before each."""

else:

    class LazyPattern:
        """A regular expression that is compiled when it is first used.

        A process uses few of the patterns of its modules, and compiling all of them would take as
        long as reading a small trace.
        """

        known: ClassVar[list[LazyPattern]] = []

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self._given = (pattern, flags)
            self._compiled: re.Pattern[str] | None = None
            self.known.append(self)

        def __getattr__(self, name: str) -> Any:
            if self._compiled is None:
                self._compiled = re.compile(*self._given)
            attribute = getattr(self._compiled, name)
            setattr(self, name, attribute)  # so that `__getattr__` is not called again
            return attribute

    regex = LazyPattern

    def compile_patterns(wait: Callable[[], None]) -> None:
        """As above."""
        while LazyPattern.known:
            wait()
            _ = LazyPattern.known.pop().pattern

    class LazyLogger:
        """The logger of a module; `logging` is imported with the first message, if there is one."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            import logging

            return getattr(logging.getLogger(self._name), name)

    get_logger = LazyLogger
