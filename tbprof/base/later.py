"""Functions whose modules are imported when they are first called."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def named(name: str) -> Any:
    """What a dotted name stands for, such as "tbprof.base.later.named"; imports its module.

    Raises ImportError, or AttributeError where the module has no such name.
    """
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


class Later:
    """A function by its dotted name.

    A process that needs one tool imports neither the others nor what they stand on, which would
    take longer than reading a small trace.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: object, **named_arguments: object) -> Any:
        """What the function returns."""
        return named(self.name)(*arguments, **named_arguments)


def load(function: Callable[..., Any]) -> None:
    """Imports what a function that is `Later` needs, before anyone waits for it."""
    if isinstance(function, Later):
        named(function.name)
