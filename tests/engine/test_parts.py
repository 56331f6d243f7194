"""Parts as arrays and back."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.drawn.computed_parts import compute_part, compute_parts
from helpers.drawn.counted_parts import TRACE, same
from hypothesis import given
from hypothesis import strategies as st
from traces import draw, write

from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.run.outline import Outline
from tbprof.engine.parts import (
    PARTS,
    PartKind,
)
from tbprof.storage.packing import pack, unpack
from tbprof.xplane.reader import read_space


def assert_round_trip(kind: PartKind, part: Any) -> None:
    back: Any = unpack(kind.type, pack(part))
    for field in dataclasses.fields(part):
        assert same(getattr(back, field.name), getattr(part, field.name)), field.name


@pytest.mark.parametrize("name", PARTS)
def test_every_part_of_a_trace_round_trips(name: str, tmp_path: Path):
    space = read_space(write(tmp_path, TRACE))
    assert_round_trip(PARTS[name], compute_part(name, space))


def test_every_part_of_an_empty_trace_round_trips(tmp_path: Path):
    space = read_space(write(tmp_path, draw({"/host:CPU": "t |"})))
    for name, part in compute_parts(space).items():
        assert_round_trip(PARTS[name], part)


@given(st.lists(st.text()), st.lists(st.text()))
def test_texts_of_any_alphabet_round_trip(errors, warnings):
    outline = Outline(["p"], np.array([1]), ["kernels"], errors, warnings, 0, "")
    assert_round_trip(PARTS["outline"], outline)


def test_unknown_numbers_round_trip():
    assert_round_trip(PARTS["devices"], Devices(1, 0, "GPU", math.nan, 1.5))
