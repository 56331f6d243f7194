"""Our dataclasses do what those of the standard library do."""

import copy
import dataclasses
import functools
import pickle
import re
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import python_prints

from tbprof.base.records import (
    NamedTuple,
    as_dict,
    dataclass,
    field,
    field_names,
    is_record,
    replace,
)

PACKAGE = Path(__file__).resolve().parents[2] / "tbprof"


def point(make: Any, **options: bool) -> Any:
    """A class with each kind of field."""
    fields_of: Any = field if make is dataclass else dataclasses.field

    class Point:
        """A place."""

        x: int
        y: "float" = 2.5
        names: list[str] = fields_of(default_factory=list)

        def norm(self) -> float:
            """How far from the origin."""
            return abs(self.x) + abs(self.y)

    return make(slots=True, **options)(Point)


@pytest.fixture(params=[dataclass, dataclasses.dataclass], ids=["ours", "theirs"])
def make(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def frozen(make: Any) -> Any:
    return point(make, frozen=True)


@pytest.fixture
def mutable(make: Any) -> Any:
    return point(make)


@pytest.fixture(params=[True, False], ids=["frozen", "mutable"])
def either(make: Any, request: pytest.FixtureRequest) -> Any:
    return point(make, frozen=request.param)


def test_fields_defaults_and_methods(either: Any) -> None:
    one = either(1)
    assert (one.x, one.y, one.names, one.norm()) == (1, 2.5, [], 3.5)
    assert one.names is not either(1).names
    assert [field.name for field in dataclasses.fields(one)] == ["x", "y", "names"]
    assert dataclasses.asdict(either(x=1, y=0.5)) == {"x": 1, "y": 0.5, "names": []}
    assert dataclasses.replace(one, y=7.0) == replace(one, y=7.0) == either(1, 7.0)
    assert either.__match_args__ == ("x", "y", "names")
    assert not hasattr(one, "__dict__")
    assert repr(one) == "point.<locals>.Point(x=1, y=2.5, names=[])"
    assert copy.copy(one) == one == copy.deepcopy(one)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        either()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        either(1, z=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        replace(one, z=3)
    assert field_names(one) == field_names(either) == ("x", "y", "names")
    assert as_dict(one) == {"x": 1, "y": 2.5, "names": []}
    assert as_dict(one)["names"] is one.names
    assert is_record(either)
    assert not any(map(is_record, (one, int, list[str], "x")))


def test_equal_ones_are_of_one_class_and_have_equal_values(either: Any) -> None:
    assert either(1) == either(1) != either(2)
    assert either(1) != point(dataclasses.dataclass, frozen=True)(1)
    with pytest.raises(ValueError, match="truth value"):
        assert either(np.zeros(2)) == either(np.zeros(2))


def test_frozen_ones_can_be_keys(frozen: Any) -> None:
    assert hash(frozen(1, names=())) == hash((1, 2.5, ()))
    assert {frozen(1, names=()): 5}[frozen(1, names=())] == 5


def test_others_can_change_and_not_be_keys(mutable: Any) -> None:
    one = mutable(1)
    one.x = 2
    assert one == mutable(2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


@pytest.mark.parametrize("name", ["x", "y"])
def test_frozen_ones_stay_as_they_are(frozen: Any, name: str) -> None:
    one = frozen(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(one, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(one, name)
    with pytest.raises((AttributeError, TypeError)):
        one.z = 3
    assert one == frozen(1)


def test_wrong_arguments_are_named(either: Any) -> None:
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        either(1, x=2)
    with pytest.raises(TypeError, match=r"takes .* 5 were given|takes 3 arguments but 4"):
        either(1, 2, 3, 4)


def test_a_class_can_check_its_values(make: Any) -> None:
    class Even:
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError(f"{self.number} is odd")

    even = make(slots=True, frozen=True)(Even)
    assert even(4) == even(number=4) != even(2)
    assert len({even(4), even(number=4)}) == 1
    with pytest.raises(ValueError, match="5 is odd"):
        even(5)
    with pytest.raises(ValueError, match="7 is odd"):
        dataclasses.replace(even(4), number=7)


def test_a_base_class_may_keep_values_beside_the_fields(make: Any) -> None:
    class Keeping:
        __slots__ = ("__dict__",)

    class Sum(Keeping):
        terms: tuple[int, ...] = ()

        @functools.cached_property
        def total(self) -> int:
            return sum(self.terms)

    one = make(slots=True, frozen=True)(Sum)((3, 4))
    assert (one.total, one.__dict__) == (7, {"total": 7})


class Ours(NamedTuple):
    """A span."""

    begin: int
    end: "float" = 2.5
    name: str = ""

    @property
    def length(self) -> float:
        """Its length."""
        return self.end - self.begin


class Theirs(typing.NamedTuple):
    """A span."""

    begin: int
    end: "float" = 2.5
    name: str = ""

    @property
    def length(self) -> float:
        """Its length."""
        return self.end - self.begin


@pytest.mark.parametrize("span", [Ours, Theirs])
def test_named_tuples_are_tuples_with_names(span: Any) -> None:
    one = span(1)
    begin, *rest = one
    assert (begin, rest) == (1, [2.5, ""])
    assert (one.begin, one.end, one.name, one.length) == (1, 2.5, "", 1.5)
    assert one == (1, 2.5, "") == span(name="", begin=1) == span._make((1, 2.5, ""))
    assert {one: 5}[1, 2.5, ""] == 5
    assert one < span(1, 3.0) == one._replace(end=3.0)
    assert one[1:] == (2.5, "")
    assert type(one._replace(end=3.0)) is type(span._make(one)) is span
    assert span._fields == span.__match_args__ == field_names(one) == ("begin", "end", "name")
    assert as_dict(one) == {"begin": 1, "end": 2.5, "name": ""}
    assert repr(one) == f"{span.__name__}(begin=1, end=2.5, name='')"
    for equal in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert equal == one
        assert type(equal) is span
    assert span.__doc__ == "A span."
    assert not hasattr(one, "__dict__")
    assert not is_record(span)
    match one:
        case (begin, end, _):
            assert (begin, end) == (1, 2.5)
    match one:
        case span(begin, name=name):
            assert (begin, name) == (1, "")


@pytest.mark.parametrize("span", [Ours, Theirs])
def test_wrong_arguments_of_named_tuples_are_named(span: Any) -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'begin'"):
        span(end=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        span(1, z=3)
    with pytest.raises(TypeError, match="multiple values for argument 'begin'"):
        span(1, begin=2)
    with pytest.raises(TypeError, match=r"takes .* 5 were given|takes 3 arguments but 4"):
        span(1, 2.0, "", 4)
    with pytest.raises(AttributeError):
        span(1).begin = 2
    with pytest.raises((TypeError, ValueError)):
        span(1)._replace(z=3)
    with pytest.raises(TypeError):
        span._make((1, 2.0, "", 4))


@pytest.mark.parametrize("module", ["dataclasses", "typing"])
def test_all_dataclasses_and_named_tuples_are_ours(module: str) -> None:
    theirs = [
        path.name
        for path in PACKAGE.rglob("*.py")
        if path.name != "records.py"
        and re.search(
            rf"^from {module} import .*\b(dataclass|field|NamedTuple)\b",
            path.read_text("utf-8"),
            re.M,
        )
    ]
    assert theirs == []


def test_nothing_of_the_standard_library_is_imported_to_make_one() -> None:
    code = "import sys, tbprof.base.errors; print('dataclasses' in sys.modules)"
    assert python_prints("-c", code) == "False\n"
