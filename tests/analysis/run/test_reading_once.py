"""What many analyses of a host ask for is found once."""

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock, create_autospec

import pytest
from traces import draw, drawn_space, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.single_ops import find_single_ops
from tbprof.analysis.job.idle_time import find_idle_time
from tbprof.analysis.steps import step_finding
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.tpu import tpu_kinds
from tbprof.analysis.tpu.tpu_kinds import find_tpu_kinds
from tbprof.base import names
from tbprof.xplane.stat_reading import StatReader

CORE = draw(
    {"/device:TPU:0": "Steps |ss.tt\nXLA Ops |a..b."},
    names={"s": "1", "t": "2", "a": "%add.1 = f32[] add()", "b": "%dot.2 = f32[] dot()"},
    stats={"a": {"hlo_category": "add", "tf_op": "x/Add:Add"}, "b": {"hlo_category": "dot"}},
)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], Mock]:
    """Makes a function or method count its calls."""

    def watched(owner: Any, name: str) -> Mock:
        function = getattr(owner, name)
        mock: Mock = create_autospec(function, side_effect=function)
        monkeypatch.setattr(owner, name, mock)
        return mock

    return watched


def test_steps_of_a_file_without_host_threads_are_found_once(watch):
    find = watch(step_finding, "_find_step_layers")
    space = space_of(CORE)
    programs = Programs(space)
    assert find_steps(space, programs).number.tolist() == [1, 2]
    find_idle_time(space, programs, find_single_ops(space, programs))
    assert find_steps(space, programs).number.tolist() == [1, 2]
    assert find.call_count == 1


def test_the_kinds_of_a_core_are_found_once_by_whatever_lines_it_has(watch):
    find = watch(tpu_kinds, "_find")
    [plane] = space_of(CORE).planes
    both = find_tpu_kinds(plane, names.XLA_OPS_LINE, names.SPARSE_CORE_OPS_LINE)
    assert both is find_tpu_kinds(plane, names.XLA_OPS_LINE)
    assert find.call_count == 1


def test_the_stats_of_a_few_types_are_read_in_one_pass_and_their_texts_once(watch):
    decode, text_ids = watch(StatReader, "_decode"), watch(StatReader, "text_ids")
    [plane] = drawn_space(
        {"/device:TPU:0": "XLA Ops |a"},
        names={"a": "%a.1 = f32[] add()"},
        type_stats={"a": {"hlo_category": "add", "tf_op": "x/Add:Add"}},
    ).planes
    for wanted in ("hlo_category", "tf_op", "flops", "bytes_accessed"):
        [column] = plane.types.stats([wanted]).values()
        assert column.texts() is column.texts()
    # No type has flops or bytes: they are one column.
    assert (decode.call_count, text_ids.call_count) == (1, 3)
