"""Groups of equal rows, against dictionaries."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.spans.groups import group_rows, reduce_groups, sums_of_groups

VALUES = st.sampled_from([-1, 0, 1, 2, 2**32, 2**33, -(2**40), 2**62])
ROWS = st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=40)


def columns(rows):
    return [np.array([row[index] for row in rows], np.int64) for index in range(3)]


@given(ROWS)
def test_groups_are_the_distinct_rows_as_they_appear(rows):
    code, first = group_rows(columns(rows))
    distinct = list(dict.fromkeys(rows))
    assert [rows[row] for row in first.tolist()] == distinct
    assert code.tolist() == [distinct.index(row) for row in rows]


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-100, 100))))
def test_reductions_are_those_of_each_group(pairs):
    code = np.array([group for group, _ in pairs], np.int64)
    value = np.array([value for _, value in pairs], np.int64)
    count, total, least, most = reduce_groups(code, value, 5)
    for group in range(5):
        own = [value for other, value in pairs if other == group]
        assert (count[group], total[group]) == (len(own), sum(own))
        assert (least[group], most[group]) == (min(own, default=0), max(own, default=0))


@given(ROWS, st.data())
def test_sums_of_several_columns_are_those_of_each_group(rows, data):
    rows = [tuple(value >> 6 for value in row) for row in rows]  # whose sums have 64 bits
    code = data.draw(st.lists(st.integers(-1, 4), min_size=len(rows), max_size=len(rows)))
    table = np.array(columns(rows), np.int64)
    sums = sums_of_groups(np.array(code, np.int32), table, 5)
    later = sums_of_groups(np.array(code[1:], np.int32), table[:, 1:], 5)
    for group in range(5):
        own = [at for at, other in enumerate(code) if other == group]
        assert sums[group].tolist() == [sum(rows[at][of] for at in own) for of in range(3)]
        own = [at for at in own if at > 0]
        assert later[group].tolist() == [sum(rows[at][of] for at in own) for of in range(3)]


def test_hundred_thousand_groups_take_no_quadratic_time():
    """Values a power of two apart share their low bits, which the hash must not rest on."""
    rows = np.arange(100_000, dtype=np.int64) << 20
    code, first = group_rows([rows, np.full(rows.size, -1, np.int64)])
    assert first.size == rows.size
    assert (code == np.arange(rows.size)).all()
