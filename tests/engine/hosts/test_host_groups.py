"""Large parts of neighboring hosts are merged as they arrive, and pages are the same."""

from itertools import permutations
from pathlib import Path
from random import Random
from unittest.mock import Mock

import pytest
from helpers.drawn.replaced_parts import replace_part
from helpers.drawn.small_runs import BROKEN, CPU_TRACE, GPU_TRACE
from helpers.payloads import content_of
from traces import draw, write_run

from tbprof.analysis.ops.op_metrics import merge_op_metrics
from tbprof.base.caches import LatestCache
from tbprof.base.errors import NoData, TbprofError
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.hosts import host_groups
from tbprof.engine.hosts.host_groups import HostGroups
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import part_keys
from tbprof.storage.logdir import Logdir
from tbprof.tools import TOOLS

OTHER_OPS = draw({"/host:CPU": "t |aabb..cc"}, names={"a": "x:Add", "b": "op:Op", "c": "y:Mul"})
HOSTS = (CPU_TRACE, GPU_TRACE, BROKEN, OTHER_OPS, GPU_TRACE, CPU_TRACE, OTHER_OPS)


@pytest.fixture
def logdir(tmp_path: Path) -> Logdir:
    """A run `many` of seven hosts, one of which cannot be read."""
    write_run(tmp_path, {f"h{at}": content for at, content in enumerate(HOSTS)}, "many")
    return Logdir(str(tmp_path))


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pages_are_those_of_single_hosts(
    logdir: Logdir, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    def pages() -> dict[str, bytes]:
        engine, found = Engine(logdir), {}
        for tool in TOOLS:
            try:
                found[tool.name] = content_of(engine, DataRequest("many", tool.name))
            except NoData as error:
                found[tool.name] = str(error).encode()
        return found

    expected = pages()
    assert len(set(expected.values())) > 5
    monkeypatch.setattr(host_groups, "GROUP", size)
    assert pages() == expected


def test_complete_groups_keep_one_part_and_all_notices(
    logdir: Logdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_groups, "GROUP", 3)
    files, wanted = logdir.run("many").files, part_keys(("ops", "steps"), {})
    arrived = list(SummaryCache(None).parts_of_hosts(files, wanted))
    alone = {file: dict(found) for file, found in arrived if isinstance(found, dict)}
    Random(3).shuffle(arrived)
    groups = HostGroups(files, wanted, LatestCache(9, 0))
    for file, found in arrived:
        groups.add(file, dict(found) if isinstance(found, dict) else found)
    assert len(groups) == 7
    results = groups.all()
    assert [isinstance(found, TbprofError) for found in results] == [
        index == 2 for index in range(7)
    ]
    ops = [found["ops"].value for found in results if isinstance(found, dict)]
    single = [alone[file]["ops"].value for file in files if file in alone]
    for merged, members in ((ops[0], single[:2]), (ops[2], single[2:5]), (ops[5], single[5:])):
        assert repr(merged) == repr(merge_op_metrics(members))
    assert [part is None for part in ops] == [False, True, False, True, True, False]
    for file, found in zip(files, results, strict=True):
        if isinstance(found, dict):
            assert found["steps"] is alone[file]["steps"]
            assert found["ops"].notices == alone[file]["ops"].notices


def test_hosts_may_arrive_in_any_order(logdir: Logdir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_groups, "GROUP", 2)
    files, wanted = logdir.run("many").files[3:], part_keys(("ops",), {})
    arrived = dict(SummaryCache(None).parts_of_hosts(files, wanted))
    outcomes = set()
    for order in permutations(files):
        groups = HostGroups(files, wanted, LatestCache(9, 0))
        for file in order:
            found = arrived[file]
            assert isinstance(found, dict)
            groups.add(file, dict(found))
        outcomes.add(repr(groups.all()))
    assert len(outcomes) == 1


def test_a_second_page_merges_nothing_again(
    logdir: Logdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_groups, "GROUP", 3)
    merge = Mock(wraps=merge_op_metrics)
    replace_part(monkeypatch, "ops", merge=merge)
    engine = Engine(logdir)
    for tool, hosts, merged in (
        ("framework_op_stats", (), [2, 3]),
        ("overview_page", (), [2, 3]),
        ("framework_op_stats", ("h3", "h4", "h5"), [2, 3]),
        ("framework_op_stats", ("h4", "h5", "h6"), [2, 3, 3]),
    ):
        engine.data(DataRequest("many", tool, hosts))
        assert sorted(len(call.args[0]) for call in merge.call_args_list) == merged
