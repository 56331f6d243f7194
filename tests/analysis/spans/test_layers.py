import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.spans.layers import exclusive_time, unite
from tbprof.kernels.analysis.activity_sweep import keep_active

_intervals = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=12)


def _columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    start = np.array([start for start, _ in pairs], np.int64)
    return start, start + np.array([length for _, length in pairs], np.int64)


def test_an_instant_belongs_to_the_first_layer_that_covers_it() -> None:
    window = np.array([0, 10], np.int64), np.array([10, 20], np.int64)
    device = _columns([(1, 4), (3, 4), (12, 2)])  # [1, 7) and [12, 14)
    host = _columns([(0, 3), (6, 9)])  # [0, 3) and [6, 15)
    assert exclusive_time(*window, [device, host]).tolist() == [[6, 1 + 3], [2, 2 + 1]]


def test_what_lies_outside_the_windows_counts_nothing() -> None:
    window = np.array([10], np.int64), np.array([20], np.int64)
    assert exclusive_time(*window, [_columns([(0, 10), (20, 5)])]).tolist() == [[0]]
    assert exclusive_time(*window, [_columns([(0, 30)])]).tolist() == [[10]]


def test_no_windows_and_no_layers_are_empty() -> None:
    nothing = np.empty(0, np.int64)
    assert exclusive_time(nothing, nothing, [_columns([(0, 1)])]).shape == (0, 1)
    assert exclusive_time(np.array([0]), np.array([1]), []).shape == (1, 0)


def test_layers_are_split_alike_one_by_one_and_together() -> None:
    random = np.random.default_rng(5)
    window_start = np.sort(random.integers(0, 1 << 40, 7)).astype(np.int64)
    window_end = np.append(window_start[1:], window_start[-1] + 5)
    layers = []
    for size in (70_000, 3, 0, 500, 70_000, 1, 900):
        start = random.integers(-5, 1 << 40, size)
        layers.append((start, start + random.integers(-9, 1 << 25, size)))

    together = exclusive_time(window_start, window_end, layers)

    # What the first layers cover, less what those before them cover.
    covered = [
        exclusive_time(window_start, window_end, [_united(layers[: index + 1])])[:, 0]
        for index in range(len(layers))
    ]
    assert together.tolist() == np.diff([0 * covered[0], *covered], axis=0).T.tolist()


def _united(layers: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    start, end = (np.concatenate(column) for column in zip(*layers, strict=True))
    return unite(start, end)


@given(_intervals)
def test_unite_covers_the_same_instants(pairs: list[tuple[int, int]]) -> None:
    start, end = unite(*_columns(pairs))
    covered = {index for begin, length in pairs for index in range(begin, begin + length)}
    assert {index for row in range(start.size) for index in range(start[row], end[row])} == covered
    assert np.all(start < end)
    assert np.all(start[1:] > end[:-1])


@given(st.lists(_intervals, max_size=5), st.lists(st.integers(0, 50), max_size=6))
def test_split_agrees_with_counting_instants(
    layers: list[list[tuple[int, int]]], bounds: list[int]
) -> None:
    bounds = sorted(set(bounds))
    window_start, window_end = bounds[::2][: len(bounds) // 2], bounds[1::2]
    expected = np.zeros((len(window_end), len(layers)), np.int64)
    for window, (begin, finish) in enumerate(zip(window_start, window_end, strict=True)):
        for index in range(begin, finish):
            for column, pairs in enumerate(layers):
                if any(start <= index < start + length for start, length in pairs):
                    expected[window, column] += 1
                    break
    exclusive_ps = exclusive_time(
        np.array(window_start, np.int64),
        np.array(window_end, np.int64),
        [_columns(pairs) for pairs in layers],
    )
    assert exclusive_ps.tolist() == expected.tolist()


@given(st.lists(_intervals, max_size=3), _intervals)
def test_events_that_meet_a_span_stay(
    lines: list[list[tuple[int, int]]], spans: list[tuple[int, int]]
) -> None:
    lines = [sorted(line) for line in lines]
    rows = [row for line in lines for row in line]
    first = np.cumsum([0, *map(len, lines)]).astype(np.int64)
    start, end = _columns(rows)
    covered = {index for begin, length in spans for index in range(begin, begin + length)}
    counts = np.ones(len(rows), np.bool_)
    nothing_else = (
        np.zeros(len(rows), np.int32),
        np.ones(1, np.bool_),
        np.ones(len(lines), np.bool_),
    )
    keys = np.empty(2, np.int64)
    met = keep_active(
        first, start, end - start, *unite(*_columns(spans)), *nothing_else, counts,
        np.zeros(2, np.bool_), keys,
    )  # fmt: skip
    assert keys[:met].tolist() == [1] * bool(counts.any())
    for (begin, length), meets in zip(rows, counts.tolist(), strict=True):
        if length:
            assert meets == bool(covered.intersection(range(begin, begin + length)))
