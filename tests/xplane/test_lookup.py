"""The rows of ids, whatever ids a recorder gives."""

from collections.abc import Callable

import numpy as np
import pytest
from helpers.promises.growth import is_linear

from tbprof.kernels.xplane.id_lookup import find_rows, row_of
from tbprof.xplane.lookup import build_lookup

MANY = 200_000
IDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "from 0": lambda at: at,
    "backwards": lambda at: at[::-1].copy(),
    "few, far apart": lambda at: at << 16,
    "alike low bits": lambda at: (at << 20) | 5,
    "alike high and low bits": lambda at: (at << 32) | at,
    "the same twice": lambda at: at * 65537,
    "high bits alone": lambda at: at << 46,
    "negative": lambda at: -at - 1,
    "many small, others large": lambda at: np.where(at < 65536, at, at << 16),
}


@pytest.mark.parametrize("kind", IDS)
def test_each_id_has_its_row(kind):
    ids = IDS[kind](np.arange(1000, dtype=np.int64))
    lookup = build_lookup(ids)
    rows = np.empty(ids.size, np.int32)
    find_rows(lookup, ids, rows)
    assert rows.tolist() == list(range(1000))
    known = set(ids.tolist())
    others = [id_ for id_ in (-1, 0, 5, 999, 1000, 2**31, 2**62, -(2**63)) if id_ not in known]
    assert {row_of(lookup, id_) for id_ in others} == {-1}


def test_of_equal_ids_the_last_counts():
    assert row_of(build_lookup(np.array([7, 2**40, 7])), 7) == 2


@pytest.mark.parametrize("kind", IDS)
def test_tables_of_any_ids_take_time_in_proportion_to_their_number(kind):
    def prepare(size: int) -> Callable[[], object]:
        ids = IDS[kind](np.arange(size, dtype=np.int64))
        return lambda: build_lookup(ids)

    assert is_linear(prepare, MANY)
