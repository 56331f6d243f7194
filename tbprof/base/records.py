"""Dataclasses with slots, and named tuples, that are fast to create.

For each dataclass the standard library compiles up to seven methods, which takes half a
millisecond: for a hundred classes, more than reading a small trace. A named tuple takes a tenth.
Here nothing is compiled, and the module `dataclasses` is not imported until its functions are used
on a class.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = [
    "NamedTuple",
    "as_dict",
    "dataclass",
    "field",
    "field_names",
    "is_record",
    "replace",
    "values_of",
]

_FIELDS = "__dataclass_fields__"
_VALUES = "__values__"

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from typing import NamedTuple as NamedTuple
else:
    # Attributes of a named tuple read its items by number, so those of one class serve any other.
    _Items = namedtuple("_Items", [f"item{number}" for number in range(32)])  # noqa: PYI024
    _READERS = [vars(_Items)[name] for name in _Items._fields]

    def dataclass(*, slots: bool, frozen: bool = False) -> Callable[[type], type]:
        """As `dataclasses.dataclass`; `fields`, `replace` and the like accept its instances.

        Fields are not inherited, and all have slots.
        """
        if not slots:
            raise TypeError("tbprof's dataclasses have slots")

        def make(cls: type) -> type:
            names = tuple(cls.__annotations__)
            defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
            left_out = {*names, "__dict__", "__weakref__"}
            body = {name: value for name, value in vars(cls).items() if name not in left_out}
            body |= {
                "__slots__": names,
                "__match_args__": names,
                _FIELDS: _Fields(defaults),
                "__repr__": _repr,
                "__reduce__": _reduce,
                **_comparisons(names, is_frozen=frozen),
                **({"__setattr__": _set, "__delattr__": _delete} if frozen else {}),
            }
            created = type(cls)(cls.__name__, cls.__bases__, body)
            created.__qualname__ = cls.__qualname__
            created.__init__ = _initializer(created, names, defaults)
            return created

        return make

    def replace(record: object, /, **changes: object) -> Any:
        """As `dataclasses.replace`."""
        return type(record)(**{**as_dict(record), **changes})

    def field(*, default_factory: Callable[[], object]) -> _DefaultFactory:
        """As `dataclasses.field`, with a default that is created for each instance."""
        return _DefaultFactory(default_factory)

    class _NamedTupleMaker(type):
        """The type of `NamedTuple` alone: what is derived from it is a plain class of tuples."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            created = type(name, (tuple,), {**body, "__slots__": ()})
            names = tuple(created.__annotations__)
            if len(names) > len(_READERS):
                raise TypeError(f"named tuples of tbprof have at most {len(_READERS)} fields")
            defaults = {name: body[name] for name in names if name in body}
            for name, reader in zip(names, _READERS, strict=False):
                setattr(created, name, reader)
            created.__match_args__ = created._fields = names
            created.__new__ = staticmethod(_tuple_maker(names, defaults))
            created.__getnewargs__ = _items
            created.__repr__ = _repr
            created._make = classmethod(_make_tuple)
            created._replace = _replace_items
            return created

    class NamedTuple(metaclass=_NamedTupleMaker):
        """As `typing.NamedTuple`; `as_dict` takes the place of `_asdict`."""


def is_record(kind: object) -> bool:
    """Whether it is a dataclass."""
    return isinstance(kind, type) and _FIELDS in vars(kind)


def field_names(record: Any) -> tuple[str, ...]:
    """The names of the fields of a dataclass or named tuple, or of one of its instances."""
    names: tuple[str, ...] = record.__match_args__
    return names


def values_of(record: Any) -> tuple[Any, ...]:
    """The values of an instance of a dataclass, as they are."""
    values: tuple[Any, ...] = getattr(type(record), _VALUES, _values)(record)
    return values


def as_dict(record: Any) -> dict[str, Any]:
    """The values of an instance by field, as they are."""
    return {name: getattr(record, name) for name in field_names(record)}


class _DefaultFactory:
    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def _initializer(cls: Any, names: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., None]:
    """The method `__init__` of a class with these slots."""
    own = vars(cls)  # five times as fast as looking slots up in base classes, too
    assigns = [own[name].__set__ for name in names]
    check = getattr(cls, "__post_init__", None)

    def initialize(self: object, /, *values: object, **named: object) -> None:
        if named or len(values) != len(assigns):
            values = _completed(cls, names, defaults, values, named)
        for assign, value in zip(assigns, values, strict=True):
            assign(self, value)
        if check is not None:
            check(self)

    return initialize


def _completed(
    cls: type,
    names: tuple[str, ...],
    defaults: dict[str, Any],
    values: tuple[object, ...],
    named: dict[str, object],
) -> tuple[object, ...]:
    """A value for each field: given by position, by name, which is taken out, or the default."""
    completed, missing = list(values), []
    for name in names[len(values) :]:
        if name in named:
            completed.append(named.pop(name))
        elif name in defaults:
            default = defaults[name]
            completed.append(default.make() if isinstance(default, _DefaultFactory) else default)
        else:
            missing.append(name)
    if missing or named or len(completed) > len(names):
        _refuse_arguments(cls, names, len(values), named, missing)
    return tuple(completed)


def _refuse_arguments(
    cls: type, names: Sequence[str], positions: int, unknown: Iterable[str], missing: Sequence[str]
) -> NoReturn:
    if positions > len(names):
        _refuse(cls, f"takes {len(names)} arguments but {positions} were given")
    for name in unknown:
        problem = "multiple values for" if name in names else "an unexpected keyword"
        _refuse(cls, f"got {problem} argument {name!r}")
    plural = "s" if len(missing) > 1 else ""
    listed = ", ".join(map(repr, missing))
    _refuse(cls, f"missing {len(missing)} required positional argument{plural}: {listed}")


def _refuse(cls: type, problem: str) -> NoReturn:
    raise TypeError(f"{cls.__qualname__}.__init__() {problem}")


def _comparisons(names: tuple[str, ...], *, is_frozen: bool) -> dict[str, Any]:
    """The methods `__eq__` and `__hash__` of a class with these slots, and what gets its values."""
    values: Callable[[object], object] = attrgetter(*names) if len(names) > 1 else _values

    def equals(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hashed(self: object) -> int:
        return hash(values(self))

    return {_VALUES: values, "__eq__": equals, "__hash__": hashed if is_frozen else None}


def _values(record: Any) -> tuple[object, ...]:
    return tuple(getattr(record, name) for name in record.__match_args__)


def _repr(self: Any) -> str:
    values = zip(self.__match_args__, _values(self), strict=True)
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in values)})"


def _reduce(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), values_of(self)


def _set(_self: object, name: str, _value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(_self: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _Fields:
    """The `__dataclass_fields__` of a class, computed when first used."""

    __slots__ = ("defaults",)

    def __init__(self, defaults: dict[str, Any]) -> None:
        self.defaults = defaults

    def __get__(self, _instance: object, cls: Any) -> dict[str, Any]:
        import dataclasses

        listed: list[Any] = []
        for name, kind in cls.__annotations__.items():
            if name not in self.defaults:
                listed.append((name, kind))
            elif isinstance(default := self.defaults[name], _DefaultFactory):
                listed.append((name, kind, dataclasses.field(default_factory=default.make)))
            else:
                listed.append((name, kind, dataclasses.field(default=default)))
        standard: Any = dataclasses.make_dataclass(
            cls.__name__, listed, init=False, repr=False, eq=False, namespace={"__doc__": "Fields."}
        )
        fields: dict[str, Any] = standard.__dataclass_fields__
        cls.__dataclass_fields__ = fields
        return fields


def _tuple_maker(names: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., Any]:
    """The method `__new__` of named tuples with these fields."""
    count, make = len(names), tuple.__new__
    required, last = count - len(defaults), tuple(defaults.values())

    def new(cls: Any, /, *values: object, **named: object) -> Any:
        given = len(values)
        if named or not required <= given <= count:
            values = _completed(cls, names, defaults, values, named)
        elif given != count:
            values += last[given - required :]
        return make(cls, values)

    return new


def _items(self: Iterable[object]) -> tuple[object, ...]:
    return tuple(self)


def _make_tuple(cls: Any, values: Iterable[object]) -> Any:
    return cls(*values)


def _replace_items(self: Any, /, **changes: object) -> Any:
    replaced = type(self)(*map(changes.pop, self._fields, self))
    if changes:
        _refuse(type(self), f"got an unexpected keyword argument {next(iter(changes))!r}")
    return replaced
