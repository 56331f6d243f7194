"""What the engine computes, keeps and prepares, and its progress."""

import re
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import DEFAULT, Mock

import pytest
from helpers.drawn.replaced_parts import before_part, replace_part
from helpers.drawn.small_runs import GPU_TRACE, KERNELS, ON_GPUS, OPS, one_run
from helpers.patience import PATIENCE_S
from helpers.payloads import body_of, content_of
from traces import write_run

from tbprof.base.errors import NoData
from tbprof.base.lazy import object_named
from tbprof.engine import encode, look_ahead
from tbprof.engine.engine import ALL_HOSTS, Body, DataRequest, Engine
from tbprof.engine.hosts import space_pool, summary_cache
from tbprof.engine.look_ahead import LookAhead
from tbprof.engine.parts import PARTS
from tbprof.engine.progress import Progress, time_left
from tbprof.events.space import Space
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.tools import TOOLS


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the computations of every part, and the tables that are built."""
    found: Counter[str] = Counter()
    lock = threading.Lock()

    def counted(name: str, function):
        def call(*arguments):
            with lock:
                found[name] += 1
            return function(*arguments)

        return call

    for name, kind in list(PARTS.items()):
        replace_part(monkeypatch, name, compute=counted(name, kind.compute))
    for tool in TOOLS:
        name = f"{tool.module}.build"
        monkeypatch.setattr(name, counted(f"build {tool.name}", object_named(name)))
    return found


# What the tables of ops and kernels need, of two hosts.
ALL_ONCE = dict.fromkeys(("outline", "devices", "kernels", "ops", "host_calls", "peaks"), 2)


def test_a_second_engine_computes_nothing(logdir: Path, store: ResultStore, counts: Counter[str]):
    first = Engine(Logdir(str(logdir)), store)
    one, _ = (body_of(first, DataRequest("gpu", tool)) for tool in (OPS, KERNELS))
    assert {name: counts[name] for name in PARTS if counts[name]} == ALL_ONCE
    two = Engine(Logdir(str(logdir)), store)
    assert content_of(two, DataRequest("gpu", OPS)) == one.content
    two.data(DataRequest("gpu", KERNELS, ("h0",)))
    assert two.run_tools("gpu") == ON_GPUS
    assert {name: counts[name] for name in PARTS if counts[name]} == ALL_ONCE


def test_the_second_answer_comes_from_memory(engine: Engine, counts: Counter[str]):
    one = engine.data(DataRequest("gpu", OPS))
    before = dict(counts)
    assert engine.data(DataRequest("gpu", OPS)) is one
    assert counts == before


def test_a_second_page_of_many_hosts_computes_none_of_their_parts_again(
    tmp_path: Path, counts: Counter[str]
):
    hosts = 100
    engine = one_run(tmp_path, **{f"h{host:03}": GPU_TRACE for host in range(hosts)})
    for tag in (OPS, KERNELS, "overview_page"):
        engine.data(DataRequest("run", tag))
    assert counts["ops"] == counts["kernels"] == counts["devices"] == hosts


def test_every_layout_and_csv_are_made_from_one_payload(engine: Engine, counts: Counter[str]):
    request = DataRequest("gpu", OPS)
    for table in range(len(engine.tables(request))):
        engine.data(replace(request, format="csv", table=table))
    engine.data(request)
    engine.data(replace(request, layout="columns"))
    assert counts[f"build {OPS}"] == 2  # once for `tables`, which keeps nothing
    engine.data(replace(request, hosts=("h0",)))
    assert counts[f"build {OPS}"] == 3


def test_the_other_tools_are_prepared_behind_the_first_answer(logdir: Path, counts: Counter[str]):
    engine = Engine(Logdir(str(logdir)), background=True)
    engine.data(DataRequest("gpu", OPS))
    engine._look_ahead.wait()
    before = dict(counts)
    for tool in (OPS, KERNELS):
        for layout in ("rows", "columns"):
            for hosts in ((), (ALL_HOSTS,), ("h0", "h1")):
                body = engine.data(DataRequest("gpu", tool, hosts, layout))
                assert "gzipped" in vars(body)  # compressed ahead, too
    assert counts == before


def answering() -> Mock:
    """Answers requests with nothing, and knows them."""
    return Mock(return_value=Body(b"", "application/json"))


def asked_of(data: Mock) -> list[DataRequest]:
    return [call.args[0] for call in data.call_args_list]


def test_what_is_prepared_is_what_pages_and_scripts_request(logdir: Path):
    data = answering()
    run = Logdir(str(logdir)).run("gpu")
    ahead = LookAhead(data, lambda *_: None, lambda: None)
    ahead.start(run, run.files)
    ahead.wait()
    chosen = {(one.tag, one.layout): one.params for one in asked_of(data)}
    assert chosen["roofline_model", "columns"] == {"per": "op", "feeds": "1"}
    assert chosen["roofline_model", "rows"] == {}
    assert chosen.keys() == {
        (tool.name, layout)
        for tool in TOOLS
        if not tool.is_streamed
        for layout in ("rows", "columns")
    }


def test_the_first_page_is_sent_before_others_are_prepared(
    logdir: Path, monkeypatch: pytest.MonkeyPatch
):
    data, is_sent = answering(), threading.Event()
    monkeypatch.setattr(look_ahead, "sleep", lambda _: is_sent.wait())
    run = Logdir(str(logdir)).run("gpu")
    ahead = LookAhead(data, lambda *_: None, lambda: None)
    ahead.start(run, run.files)
    data.assert_not_called()
    is_sent.set()
    ahead.wait()
    data.assert_called()


def test_pages_are_prepared_while_no_request_waits(logdir: Path):
    engine = Engine(Logdir(str(logdir)), background=True)
    data, is_waiting = answering(), threading.Event()

    def until_idle() -> None:
        is_waiting.set()
        engine._progress.wait()

    run = engine._logdir.run("gpu")
    ahead = LookAhead(data, lambda *_: None, until_idle)
    with engine._progress.request("other", OPS, run.files):
        ahead.start(run, run.files)
        is_waiting.wait()
        data.assert_not_called()
    ahead.wait()
    data.assert_called()


ENTRIES = Path(__file__).resolve().parents[2] / "frontend/src/tools"


def test_the_usual_parameters_are_those_of_the_pages():
    for tool in TOOLS:
        entry = ENTRIES / tool.name / "entry.ts"
        written = re.search(r"defaults: \{(.*?)\}", entry.read_text()) if entry.exists() else None
        pairs = re.findall(r'(\w+): "(\w+)"', written[1] if written else "")
        assert tuple(pairs) == tool.usual


def test_preparing_others_survives_what_they_lack_and_their_defects(
    logdir: Path, monkeypatch: pytest.MonkeyPatch
):
    engine = Engine(Logdir(str(logdir)), background=True)
    engine.data(DataRequest("cpu", OPS))  # there are no kernels to prepare
    engine._look_ahead.wait()
    monkeypatch.setattr(encode, "encode_json", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        engine.data(DataRequest("gpu", OPS))
    engine._look_ahead.start(engine._logdir.run("gpu"), engine._logdir.run("gpu").files)
    engine._look_ahead.wait()


@pytest.mark.parametrize(("hosts", "layouts"), [(16, {"columns", "rows"}), (17, {"columns"})])
def test_of_many_hosts_only_what_pages_request_is_prepared(
    logdir: Path, hosts: int, layouts: set[str]
):
    data = answering()
    run = Logdir(str(logdir)).run("gpu")
    ahead = LookAhead(data, lambda *_: None, lambda: None)
    ahead.start(run, [replace(run.files[0], host=f"h{number}") for number in range(hosts)])
    ahead.wait()
    assert {request.layout for request in asked_of(data)} == layouts
    assert all(len(request.hosts) == hosts for request in asked_of(data))


def test_each_file_of_many_hosts_is_opened_once_for_all_pages(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
):
    write_run(tmp_path, {f"h{number}": GPU_TRACE for number in range(6)}, "many")
    opened = Counter[str]()
    read = space_pool.read_space

    def counted(path: Path, name: str) -> Space:
        opened[name] += 1
        return read(path, name)

    monkeypatch.setattr(space_pool, "read_space", counted)
    engine = Engine(Logdir(str(tmp_path)), background=True)
    engine.data(DataRequest("many", OPS))
    engine._look_ahead.wait()
    assert len(opened) == 6
    assert set(opened.values()) == {2}  # for the first page, and for all others
    before = dict(counts)
    for tool in TOOLS:
        if not tool.is_streamed:
            with suppress(NoData):
                engine.data(
                    DataRequest("many", tool.name, layout="columns", params=dict(tool.usual))
                )
    assert counts == before


def test_any_number_of_choices_is_prepared_by_one_thread(logdir: Path):
    release, data = threading.Event(), answering()
    data.side_effect = lambda _: release.wait() and DEFAULT
    run = Logdir(str(logdir)).run("gpu")
    choices = [[replace(run.files[0], host=f"h{number}", url=str(number))] for number in range(300)]
    ahead = LookAhead(data, lambda *_: None, lambda: None)
    before = threading.active_count()
    for files in choices:
        ahead.start(run, files)
    assert threading.active_count() <= before + 1
    release.set()
    ahead.wait()
    # The first, which was begun, and the latest.
    prepared = dict.fromkeys(request.hosts[0] for request in asked_of(data))
    assert len(prepared) <= 5
    assert {"h299", "h298", "h297", "h296"} <= prepared.keys()
    assert len(ahead._prepared) <= 256


def test_many_threads_get_one_answer_and_each_part_is_computed_once(
    engine: Engine, counts: Counter[str]
):
    barrier = threading.Barrier(12)

    def ask(number: int) -> bytes:
        barrier.wait()
        tool = OPS if number % 2 else KERNELS
        return content_of(engine, DataRequest("gpu", tool))

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(ask, range(12)))
    assert len(set(answers[0::2])) == len(set(answers[1::2])) == 1
    assert {name: counts[name] for name in PARTS if counts[name]} == ALL_ONCE


def test_memory_is_bounded_and_keeps_the_latest(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine._bodies, "_most_bytes", 1)
    one = engine.data(DataRequest("gpu", OPS))
    assert engine.data(DataRequest("gpu", OPS)) is one  # the last one stays, whatever its size
    engine.data(DataRequest("gpu", KERNELS))
    assert engine.data(DataRequest("gpu", OPS)) is not one


def test_progress_tells_what_is_being_done(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    seen: list[dict[str, Any]] = []
    for name in list(PARTS):
        before_part(
            monkeypatch, name, lambda: seen.append(engine.progress("cpu", "tensorflow_stats^"))
        )
    idle = {"state": "idle", "text": "", "done": 0, "total": 0, "share": 0.0}
    assert engine.progress("cpu", OPS) == idle
    engine.data(DataRequest("cpu", "tensorflow_stats"))
    assert {one["state"] for one in seen} == {"working"}
    assert {one["total"] for one in seen} == {1}
    assert len(seen) == 5
    assert sorted(one["text"].partition(": ")[0] for one in seen) == [
        "decoding GPU kernels of h0", "decoding ops of h0",
        "finding calls and annotations of h0", "reading the devices of h0",
        "reading the index of h0",
    ]  # fmt: skip
    assert [one["text"].partition(": ")[2] for one in seen] == [
        f"part {part} of 5" for part in (1, 2, 3, 4, 5)
    ]
    assert [one["share"] for one in seen] == sorted(one["share"] for one in seen)
    assert engine.progress("cpu", OPS) == engine.progress("cpu", "no_such_tool") == idle


@pytest.mark.parametrize(("least", "is_side_by_side"), [(0, True), (4 << 20, False)])
def test_parts_of_large_files_are_computed_side_by_side(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, least: int, is_side_by_side: bool
):
    threads: set[int] = set()
    monkeypatch.setattr(summary_cache, "_SMALL", least)
    for name in list(PARTS):
        before_part(monkeypatch, name, lambda: threads.add(threading.get_ident()))
    engine.data(DataRequest("cpu", OPS))
    assert (threads == {threading.get_ident()}) is not is_side_by_side


def test_progress_counts_hosts(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []
    monkeypatch.setattr(summary_cache, "_SMALL_HOSTS_AT_ONCE", 1)
    before_part(monkeypatch, "ops", lambda: seen.append(engine.progress("gpu", OPS)))
    engine.data(DataRequest("gpu", OPS))
    assert [(one["done"], one["total"]) for one in seen] == [(0, 2), (1, 2)]
    assert [one["text"] for one in seen] == [
        "decoding ops of h0: 0 of 2 hosts done", "decoding ops of h1: 1 of 2 hosts done"
    ]  # fmt: skip
    assert seen[1]["share"] >= 0.5


def test_progress_says_how_much_time_is_left(engine: Engine):
    now = 100.0
    progress = Progress(clock=lambda: now)
    files = [*engine.run("gpu").files] * 20
    with progress.request("gpu", OPS, files):
        progress.host_done("gpu", OPS)  # it was kept
        progress.work("gpu", OPS, files[0], "ops")
        for _ in range(3):
            progress.host_done("gpu", OPS)
        now += 4
        assert progress.of("gpu", OPS)["text"] == "decoding ops of h0: 4 of 40 hosts done"
        now += 2
        assert progress.of("gpu", OPS)["text"] == (
            "decoding ops of h0: 4 of 40 hosts done, about 72 s left"
        )
    assert [time_left(1, 11, seconds) for seconds in (60, 6000)] == [
        "about 10 min left", "about 17 h left"
    ]  # fmt: skip
    assert time_left(0, 10, 60) == time_left(10, 10, 60) == ""


def test_progress_tells_how_the_hosts_of_a_run_are_listed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    seen: list[Any] = []
    monkeypatch.setattr(summary_cache, "_SMALL_HOSTS_AT_ONCE", 1)
    before_part(monkeypatch, "outline", lambda: seen.append(engine.progress("gpu", OPS)))
    engine.session("gpu")
    assert [one["text"] for one in seen] == [
        "reading the index of h0: 0 of 2 hosts done", "reading the index of h1: 1 of 2 hosts done"
    ]  # fmt: skip


def test_what_waits_for_requests_goes_on_when_all_are_answered() -> None:
    progress = Progress()
    progress.wait()
    is_waiting, has_waited = threading.Event(), threading.Event()

    def wait() -> None:
        is_waiting.set()
        progress.wait()
        has_waited.set()

    with progress.request("run", OPS, ()):
        with progress.request("run", "", ()):
            waiter = threading.Thread(target=wait)
            waiter.start()
            assert is_waiting.wait(PATIENCE_S)
        assert not has_waited.wait(0.02)
    assert has_waited.wait(PATIENCE_S)
    waiter.join()


def test_progress_tells_how_much_of_a_large_file_is_decoded(engine: Engine):
    [file] = engine.run("cpu").files
    ratios = iter([0.0, 0.404, 1.0])
    progress = Progress(lambda _file: next(ratios))
    large = replace(file, bytes=767 << 20)
    with progress.request("run", OPS, (large,), parts=3):
        assert progress.of("run", OPS)["text"] == "opening the trace"
        progress.work("run", OPS, large, "ops")
        found = [progress.of("run", OPS) for _ in range(3)]
    assert [one["text"] for one in found] == [
        "decoding ops of h0: part 1 of 3",
        "decoding ops of h0: part 1 of 3, 40 % of 767 MiB decoded",
        "decoding ops of h0: part 1 of 3",
    ]
    assert [one["share"] for one in found] == [0, 0.202, 0.5]


def test_bodies_are_equal_by_content():
    assert Body(b"a", "t", "n") == Body(b"a", "t", "n")
