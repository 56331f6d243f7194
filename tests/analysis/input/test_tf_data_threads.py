"""Calls on several threads: who made an element for whom, who waited, who worked."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from traces import COLUMN_PS
from traces.input_pipelines import (
    MAPPED,
    MAPPING,
    ROOT,
    SIMPLE,
    element,
    ids,
    nodes,
    parents,
    pipelines,
    tf_data,
)

from tbprof.analysis.input.iterator_calls import work_in_windows

PREFETCHING = {
    "r": ROOT, "q": ROOT, "p": f"{ROOT}::Prefetch", "o": f"{ROOT}::Prefetch",
    "c": "PrefetchConsume", "d": "PrefetchConsume",
    "P": "PrefetchProduce", "Q": "PrefetchProduce",
    "b": f"{ROOT}::Prefetch::BatchV2", "a": f"{ROOT}::Prefetch::BatchV2",
}  # fmt: skip
PREFETCHED = {
    "r": ids(1), "q": ids(1), "p": ids(2, 1), "o": ids(2, 1), "b": ids(3, 2), "a": ids(3, 2),
    "c": element(7), "P": element(7), "d": element(8), "Q": element(8),
}  # fmt: skip


def test_a_buffer_that_waits_is_not_what_is_slow():
    # The first element was made while the call waited for it, the second one before.
    found = tf_data(
        """
        python |rrrrrrrrrr...qqqq
               |.pppppppp....oooo
               |........c......d.
        pool   |.PPPPPPPQQQQ
               |.bbbbbbb.aa
        """,
        PREFETCHING,
        PREFETCHED,
    )
    assert pipelines(found) == {"Host:0": [(0, 10), (13, 4)]}
    assert nodes(found, 0) == {
        "Root": (10, 2, 1, "*"),
        "Prefetch": (8, 1, 1, "*"),
        "BatchV2": (7, 7, 1, "!"),
    }
    assert nodes(found, 1) == {
        "Root": (4, 0, 1, "*"),
        "Prefetch": (4, 4, 1, "!"),
        "BatchV2": (2, 2, 1, ""),  # was there before
    }
    assert found.is_async.tolist() == [False, True, False]
    wait = dict(zip(found.iterator[:3].tolist(), found.wait_ps[:3].tolist(), strict=True))
    assert wait == {0: 0, 1: COLUMN_PS, 2: 0}
    assert found.is_cut.tolist() == [False, False]


def test_what_follows_the_taking_of_an_element_is_no_wait_for_it():
    """The element is there; then the call waits for a lock, such as that of Python."""
    pipelines = tf_data(
        """
        python |...qqqqqq
               |...oooooo
               |....d
        pool   |QQ
               |aa
        """,
        PREFETCHING,
        PREFETCHED,
    )
    assert nodes(pipelines, 0)["Prefetch"] == (6, 6, 1, "!")
    assert sorted(pipelines.wait_ps.tolist()) == [0, 0, 2 * COLUMN_PS]


def test_an_element_number_that_is_used_again_belongs_to_the_next_call():
    again = PREFETCHED | {"d": element(7), "Q": element(7)}
    pipelines = tf_data(
        """
        python |rrrrrr....qqqqqq
               |.ppppp.....ooooo
               |.....c.........d
        pool   |.PPPP......QQQQ
               |.bbbb......aaaa
        """,
        PREFETCHING,
        again,
    )
    assert nodes(pipelines, 0)["BatchV2"] == nodes(pipelines, 1)["BatchV2"] == (4, 4, 1, "!")


def test_an_element_made_before_the_recording_hides_what_was_slow():
    pipelines = tf_data(
        """
        python |rrrrrrrrrr
               |.ppppppppp
               |.........c
        pool   |..........QQQQ
               |..........aaaa
        """,
        PREFETCHING,
        PREFETCHED,
    )
    assert nodes(pipelines) == {"Root": (10, 1, 1, "*"), "Prefetch": (9, 9, 1, "!")}
    assert pipelines.is_cut.tolist() == [True]


def test_calls_of_a_turn_that_began_before_the_recording_are_what_was_waited_for():
    # Neither the turn nor the call of BatchV2 were recorded, as they had begun before.
    names = PREFETCHING | {"m": f"{ROOT}::Prefetch::BatchV2::Map"}
    pipelines = tf_data(
        """
        python |.rrrrrrrrrr....qqqqqqq
               |.pppppppppp....ooooooo
               |..........c..........d
        pool   |..mmmmm.......QQQQQQ
               |..............aaaaaa
               |...............mmm
        """,
        names,
        PREFETCHED | {"m": ids(4, 3)},
    )
    assert nodes(pipelines, 0) == {
        "Root": (10, 0, 1, "*"),
        "Prefetch": (10, 5, 1, "!"),
        "Map": (5, 5, 1, "*"),
    }
    assert parents(pipelines, 0) == {"Root": "", "Prefetch": "Root", "Map": "Prefetch"}
    assert nodes(pipelines, 1) == {
        "Root": (7, 0, 1, "*"),
        "Prefetch": (7, 2, 1, "*"),
        "BatchV2": (6, 3, 1, "!"),
        "Map": (3, 3, 1, "*"),
    }


def test_old_versions_that_mark_no_elements_are_matched_by_time():
    pipelines = tf_data(
        """
        python |rrrrrrrrrr
               |.ppppppppp
        pool   |..bbbbbb..aaaaaa
        """,
        PREFETCHING,
        PREFETCHED,
    )
    assert nodes(pipelines) == {
        "Root": (10, 1, 1, "*"),
        "Prefetch": (9, 3, 1, "*"),
        "BatchV2": (6, 6, 1, "!"),
    }


def test_what_threads_did_for_a_stage_is_told_from_its_wait():
    pipelines = tf_data(
        """
        python |..rrrrrrrrrr
               |..pppppppppp
               |...........c
        pool 1 |PPPPPP
               |.ii
               |...f
        pool 2 |....eeee.eee.eee
               |.....ss
        pool 3 |....gggg
        """,
        MAPPING,
        MAPPED,
    )
    assert nodes(pipelines) == {
        "Root": (10, 0, 1, "*"),
        "ParallelMapV2": (10, 9, 1, "!"),
        "Range": (2, 2, 1, "*"),
    }
    work = dict(
        zip(
            [pipelines.type_name[row] for row in pipelines.iterator],
            pipelines.worker_ps,
            strict=True,
        )
    )
    # The turn from 2 on, less the call of Range, and what ran for it until the call ended at 12.
    assert work == {
        "Root": -1,
        "ParallelMapV2": (3 + 7) * COLUMN_PS,
        "Range": -1,
    }
    assert pipelines.wait_ps.tolist() == [0, 9 * COLUMN_PS, 0]


def test_children_under_function_runs_are_kept():
    names = SIMPLE | {"f": "InstantiatedCapturedFunction::Run", "x": "MatMul:MatMul"}
    pipelines = tf_data(
        """
        python |rrrrrrrrrr
               |.bbbbbbbb
               |..ffffff
               |...xxxxx
               |....mmm
        """,
        names,
        {"r": ids(1), "b": ids(2, 1), "m": ids(3, 2), "f": {"id": 5}},
    )
    assert nodes(pipelines) == {
        "Root": (10, 2, 1, "*"),
        "BatchV2": (8, 5, 1, "!"),
        "Map": (3, 3, 1, "*"),
    }


PIECES = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 30), st.integers(0, 10), st.sampled_from((1, 1, -1))
    ),
    max_size=12,
)


@given(PIECES, st.integers(0, 30), st.integers(0, 10))
def test_work_in_a_window_is_what_lies_inside(pieces, begin: int, length: int):
    columns = np.array(pieces, np.int64).reshape(-1, 4).T
    of = np.arange(3)
    work_ps = work_in_windows(
        columns[0], columns[1], columns[1] + columns[2], columns[3],
        of, np.full(3, begin), np.full(3, begin + length),
    )  # fmt: skip
    expected = [
        max(
            0,
            sum(
                sign * len(range(max(at, begin), min(at + size, begin + length)))
                for owner, at, size, sign in pieces
                if owner == one
            ),
        )
        if any(owner == one for owner, *_ in pieces)
        else -1
        for one in range(3)
    ]
    assert work_ps.tolist() == expected
