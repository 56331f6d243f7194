"""Dataclasses with slots whose modules are imported in a quarter of the time.

For each frozen class the standard library compiles six methods, a millisecond together: with a
hundred classes more than reading a small trace takes. Here `__init__` alone is compiled, and the
others are shared by all classes.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, slots: bool, frozen: bool = False) -> Callable[[type], type]:
        """As `dataclasses.dataclass`; `fields`, `replace` and the like take its instances.

        Attributes of a frozen one can be set once, which `__init__` does.
        """
        shared = _FROZEN if frozen else _MUTABLE

        def make(cls: type) -> type:
            made = dataclasses.dataclass(slots=slots, eq=False, repr=False)(cls)
            for name, method in shared.items():
                setattr(made, name, method)
            return made

        return make


def _values(record: Any) -> tuple[object, ...]:
    return tuple(getattr(record, name) for name in record.__dataclass_fields__)


def _eq(self: object, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: object) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    values = zip(self.__dataclass_fields__, _values(self), strict=True)
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in values)})"


def _set(self: object, name: str, value: object) -> None:
    if hasattr(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


_MUTABLE = {"__eq__": _eq, "__hash__": None, "__repr__": _repr}
_FROZEN = {**_MUTABLE, "__hash__": _hash, "__setattr__": _set, "__delattr__": _delete}
