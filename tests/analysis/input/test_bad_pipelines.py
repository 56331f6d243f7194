"""Iterators as they ought not to be: in circles, without length, too many, damaged."""

import json

import pytest
from traces import draw, space_of
from traces.bad_pipelines import BAD_PIPELINES, DEPTH, MANY
from traces.input_pipelines import HOST, nodes, pipelines

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.tf_data import TfData, find_tf_data


def found_in(content: bytes) -> TfData:
    space = space_of(content)
    return find_tf_data(space, Programs(space))


def test_calls_of_no_length_are_kept():
    pipelines = found_in(BAD_PIPELINES["calls of no length"]())
    assert nodes(pipelines) == {"Root": (0, 0, 1, "*"), "Map": (0, 0, 1, "")}
    assert pipelines.bottleneck.tolist() == [-1]
    assert pipelines.is_cut.tolist() == [False]


def test_iterators_that_feed_each_other_are_stated_and_survived():
    pipelines = found_in(BAD_PIPELINES["iterators that feed each other"]())
    # The inner call of Map is left out: what it did is its caller's own time.
    assert nodes(pipelines) == {
        "Root": (8, 2, 1, "*"),
        "Map": (6, 2, 1, "*"),
        "Batch": (4, 4, 1, "!"),
    }
    assert pipelines.loops == 1


def test_elements_that_are_made_of_themselves_are_cut_loose():
    found = found_in(BAD_PIPELINES["elements that are made of themselves"]())
    assert found.loops == 1
    assert pipelines(found) == {"Host:0": [(0, 1)]}


def test_a_hundred_stages_deep():
    pipelines = found_in(BAD_PIPELINES["a hundred stages"]())
    assert pipelines.parent.tolist() == list(range(-1, DEPTH - 1))
    assert pipelines.self_ps.tolist() == [3] * (DEPTH - 1) + [1000 - 3 * (DEPTH - 1)]
    assert pipelines.is_critical.all()
    assert pipelines.bottleneck.tolist() == [DEPTH - 1]


def test_thousands_of_iterators_of_one_stage():
    pipelines = found_in(BAD_PIPELINES["thousands of iterators"]())
    assert pipelines.iterator.size == MANY + 2
    assert pipelines.self_ps.tolist() == [0, 6 * MANY] + [4] * MANY
    assert json.loads(pipelines.parameters[-1]) == {"count": MANY + 2}


def test_damaged_times_do_not_wrap_around():
    pipelines = found_in(BAD_PIPELINES["calls of 40 hours"]())
    assert (pipelines.total_ps > 0).all()
    assert (pipelines.self_ps >= 0).all()


@pytest.mark.parametrize(
    "content", [draw({HOST: ""}), draw({HOST: "main |aaa"}), draw({"/device:GPU:0": "s |a"})]
)
def test_without_iterators_there_are_no_rows(content: bytes):
    found = found_in(content)
    assert not found.has_events
    assert pipelines(found) == {}
    assert found.first_node.tolist() == [0]
