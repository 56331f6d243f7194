"""The trace viewer's payload: made while it is sent, never held."""

import functools
import gzip
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers.drawn import small_runs
from timeline.export.chrome_twin import expected_events, parsed, read_events, written
from traces import draw, listed, message_of, space_of, write_run

from tbprof.base.errors import BadRequest, BadTrace, NoData
from tbprof.engine.engine import DataRequest, Engine, Stream
from tbprof.engine.timelines import streams
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.timeline.export.size_limit import TooLarge, limit

TOOL, OPS = "trace_viewer", "framework_op_stats"
HOST, GPU = "/host:CPU", "/device:GPU:0"
EPOCH_NS = 1_700_000_000 * 10**9
TRACE = draw({HOST: "t |aaaa.bb", GPU: "Stream #1 |.kk"}, names={"a": "a:A", "b": "b:B"})


@pytest.fixture
def one_run(tmp_path: Path) -> Callable[..., Engine]:
    return functools.partial(small_runs.one_run, tmp_path)


def stream(engine: Engine, *hosts: str, derived: str = "0", **params: str) -> Stream:
    """Without the tracks that the files lack, unless a test is about them."""
    params["derived"] = derived
    found = engine.data(DataRequest("run", TOOL, hosts, params=params))
    assert isinstance(found, Stream)
    return found


def content(engine: Engine, *hosts: str, **params: str) -> bytes:
    return b"".join(stream(engine, *hosts, **params).chunks())


def document(engine: Engine, *hosts: str, **params: str) -> dict[str, Any]:
    return parsed(content(engine, *hosts, **params))


def test_a_payload_is_every_event(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=TRACE)
    assert content(engine) == written(space_of(TRACE))
    assert read_events(document(engine)) == expected_events(space_of(TRACE))
    assert stream(engine).content_type.startswith("application/json")


def steps_trace() -> bytes:
    return draw(
        {HOST: "python |ssss.tttt", GPU: "Stream #1 |.kk...mm"},
        names={"s": "train", "t": "train"},
        stats={
            "s": {"step_num": 7, "_r": 1}, "t": {"step_num": 8, "_r": 1},
            "k": {"tf_op": "a/b/MatMul:MatMul"}, "m": {"tf_op": "a/b/MatMul:MatMul"},
        },
    )  # fmt: skip


def threads(trace: dict[str, Any]) -> dict[str, list[str]]:
    """The names of the events of each thread, by its name."""
    named = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "thread_name"
    }
    by_thread: dict[str, list[str]] = {name: [] for name in named.values()}
    for event in trace["traceEvents"]:
        if event["ph"] in "Xi":
            by_thread[named[event["pid"], event["tid"]]].append(event["name"])
    return by_thread


def test_tracks_that_the_file_lacks_come_with_it(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=steps_trace())
    trace = document(engine, derived="1")
    by_thread = threads(trace)
    assert by_thread["Stream #1"] == ["k", "m"]
    assert by_thread["Steps"] == ["train 7", "train 8"]
    assert by_thread["TensorFlow Ops"] == ["MatMul"] * 2
    assert {"a", "b"} <= {name for names in by_thread.values() for name in names}
    host = trace["metadata"]["hosts"][0]
    assert (host["events"], host["derived_events"] > 4) == (4, True)
    # They stand in the device's process, above its streams.
    named = [event for event in trace["traceEvents"] if event["name"] == "process_name"]
    assert [event["args"]["name"] for event in named] == [GPU, HOST]
    place = {
        event["tid"]: event["args"]["sort_index"]
        for event in trace["traceEvents"]
        if event["name"] == "thread_sort_index" and event["pid"] == 1
    }
    assert min(place, key=lambda tid: place[tid]) == 0xDEADBEEF
    assert max(place, key=lambda tid: place[tid]) == 1  # the stream
    assert "Steps" not in threads(document(engine))
    assert stream(engine).etag != stream(engine, derived="1").etag


def test_derived_tracks_keep_to_the_range(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=steps_trace())
    found = threads(document(engine, derived="1", start_time_ms="0.0065"))
    assert found["Steps"] == ["train 8"]
    assert found["Stream #1"] == ["m"]
    # Where nothing was recorded in the range, what is derived stands alone.
    found = threads(document(engine, derived="1", start_time_ms="0.0085", end_time_ms="0.0088"))
    assert found == {"python": ["train"], "Steps": ["train 8"]}


def test_how_full_memory_was_is_a_counter(one_run: Callable[..., Engine]) -> None:
    content_ = draw(
        {HOST: "t |a.b.c.d", GPU: "Stream #1 |k"},
        names=dict.fromkeys("abc", "MemoryAllocation") | {"d": "MemoryDeallocation"},
        stats={
            "a": {"allocator_name": "GPU_0_bfc", "bytes_allocated": 10},
            "b": {"allocator_name": "cpu", "bytes_allocated": 5},
            "c": {"allocator_name": "GPU_0_bfc", "bytes_allocated": 30},
            "d": {"allocator_name": "GPU_0_bfc", "bytes_allocated": 20},
        },
    )
    engine = one_run(h0=content_)
    trace = document(engine)
    points = [event for event in trace["traceEvents"] if event["ph"] == "C"]
    assert [(event["name"], event["pid"], event["ts"], event["args"]) for event in points] == [
        ("GPU_0_bfc: memory in use", 1, 0, {"bytes": 10}),
        ("GPU_0_bfc: memory in use", 1, 4, {"bytes": 30}),
        ("GPU_0_bfc: memory in use", 1, 6, {"bytes": 20}),
        ("cpu: memory in use", 701, 2, {"bytes": 5}),
    ]
    assert len(read_events(trace)) == 5
    later = document(engine, start_time_ms="0.0055")
    assert [event["ts"] for event in later["traceEvents"] if event["ph"] == "C"] == [6]


def test_a_range_is_in_milliseconds_of_the_trace(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=TRACE)
    trace = document(engine, start_time_ms="0.0045", end_time_ms="0.01")
    assert [event["name"] for event in trace["traceEvents"] if event["ph"] == "X"] == ["b:B"]
    assert len(read_events(document(engine, start_time_ms="-1e300", end_time_ms="1e300"))) == 3
    with pytest.raises(BadRequest):
        stream(engine, start_time_ms="x")


def test_hosts_meet_by_the_time_of_day(one_run: Callable[..., Engine]) -> None:
    early = draw({HOST: "t |aa"}, start_ns=EPOCH_NS)
    late = draw({HOST: "t |bb"}, start_ns=EPOCH_NS + 5000)
    unknown = draw({HOST: "t |c"})
    engine = one_run(h0=late, h1=early, h2=unknown)
    trace = document(engine)
    times = {event["name"]: event["ts"] for event in trace["traceEvents"] if event["ph"] == "X"}
    assert times == {"a": 0, "b": 5, "c": 0}
    assert [host["origin_ns"] for host in trace["metadata"]["hosts"]] == [
        str(EPOCH_NS), str(EPOCH_NS), "0",
    ]  # fmt: skip
    assert document(engine, "h0")["traceEvents"][4]["ts"] == 0  # alone it keeps its times


def test_hosts_of_different_days_are_told(one_run: Callable[..., Engine]) -> None:
    early = draw({HOST: "t |aa"}, start_ns=EPOCH_NS)
    late = draw({HOST: "t |bb"}, start_ns=EPOCH_NS + 10**9 * 86400 * 400)
    trace = document(one_run(h0=early, h1=late))
    assert {event["ts"] for event in trace["traceEvents"] if event["ph"] == "X"} == {0}
    [notice] = trace["metadata"]["warnings"]
    assert (notice["code"], notice["host"]) == ("times_apart", "h1")


def test_a_host_that_cannot_be_read_is_left_out_and_told(one_run: Callable[..., Engine]) -> None:
    trace = document(one_run(h0=TRACE, h1=b"not a trace"))
    assert [host["name"] for host in trace["metadata"]["hosts"]] == ["h0"]
    [notice] = trace["metadata"]["warnings"]
    assert (notice["code"], notice["host"]) == ("bad_trace", "h1")


def test_no_events_are_no_data_with_the_reason(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=draw({HOST: "t |", GPU: ""}))
    with pytest.raises(NoData, match="Trace viewer has nothing to show: the trace has no events"):
        stream(engine)


def test_planes_without_lines_are_a_reason_in_the_menu(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=draw({HOST: ""}))
    assert TOOL not in engine.run_tools("run")
    reasons = {tool["name"]: tool["reason"] for tool in engine.session("run")["tools"]}
    assert reasons[TOOL] == "the trace has no events"
    with pytest.raises(NoData, match="no events"):
        stream(engine)


def test_events_that_stand_for_several_are_told(one_run: Callable[..., Engine]) -> None:
    space = message_of(TRACE)
    space.planes[0].lines[0].events.add(metadata_id=1, num_occurrences=7, duration_ps=5)
    trace = document(one_run(h0=space.SerializeToString()))
    assert len(read_events(trace)) == 3
    [notice] = trace["metadata"]["warnings"]
    assert notice["code"] == "unplaced"


def test_damage_is_told_in_the_document(one_run: Callable[..., Engine]) -> None:
    trace = document(one_run(h0=TRACE[:-8]))
    assert {notice["host"] for notice in trace["metadata"]["warnings"]} == {"h0"}
    assert trace["metadata"]["complete"] is True  # all there was


def test_the_tag_follows_the_files_and_the_request(
    one_run: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = one_run(h0=TRACE, h1=TRACE)
    tags = [
        stream(engine).etag,
        stream(engine, "h0").etag,
        stream(engine, "h1").etag,
        stream(engine, end_time_ms="1").etag,
        engine.data(DataRequest("run", TOOL, format="csv")).etag,
    ]
    assert len(set(tags)) == 5
    again = Engine(Logdir(str(tmp_path)))
    assert stream(again).etag == stream(engine, resolution="8000").etag == tags[0]
    write_run(tmp_path, {"h1": TRACE + TRACE})
    other = Engine(Logdir(str(tmp_path)))
    assert stream(other).etag != tags[0]
    assert stream(other, "h0").etag == tags[1]


def test_csv_is_one_table(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=TRACE)
    found = engine.data(DataRequest("run", TOOL, format="csv"))
    assert isinstance(found, Stream)
    assert found.filename == "trace_viewer_run_ALL_HOSTS.csv"
    assert b"".join(found.chunks()).splitlines()[1:] == [
        b"h0,/device:GPU:0,Stream #1,k,1,2",
        b"h0,/host:CPU,t,a:A,0,4",
        b"h0,/host:CPU,t,b:B,5,2",
    ]
    with pytest.raises(BadRequest, match="has no table 1"):
        engine.data(DataRequest("run", TOOL, format="csv", table=1))


def test_there_are_no_tables(one_run: Callable[..., Engine]) -> None:
    with pytest.raises(BadRequest, match="no tables") as error:
        one_run(h0=TRACE).tables(DataRequest("run", TOOL))
    assert "to_chrome_json" in error.value.hint


def test_nothing_of_it_is_kept_or_prepared_behind_requests(
    one_run: Callable[..., Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_run(h0=TRACE)

    def refuse(*_args: object) -> None:
        raise AssertionError

    monkeypatch.setattr(streams, "event_stream", refuse)
    engine = Engine(Logdir(str(tmp_path)), ResultStore(tmp_path / "s"), background=True)
    engine.data(DataRequest("run", OPS))
    engine._look_ahead.wait()
    monkeypatch.undo()
    before = list(engine._bodies._values)
    assert content(engine)
    assert list(engine._bodies._values) == before


def long_trace(events: int) -> bytes:
    """More than the files that are held in memory, so that cutting it off is noticed."""
    stats = {"x": "y" * 1000}
    return listed({HOST: {"t": [("a", index * 10, 5, stats) for index in range(events)]}})


def test_a_file_that_shrinks_on_the_way(one_run: Callable[..., Engine], tmp_path: Path) -> None:
    engine = one_run(h0=long_trace(20_000), h1=TRACE)
    [path] = tmp_path.rglob("h0.xplane.pb")
    size = path.stat().st_size
    for is_strict in (True, False):
        chunks = stream(engine).chunks(is_strict=is_strict)
        pieces = [next(chunks), next(chunks)]
        os.truncate(path, size // 2)
        if is_strict:
            with pytest.raises(BadTrace, match="shrank"):
                list(chunks)
            write_run(tmp_path, {"h0": long_trace(20_000)})
            engine = Engine(Logdir(str(tmp_path)))
            continue
        found = parsed(b"".join([*pieces, *chunks]))
        assert found["metadata"]["complete"] is False
        assert any("shrank" in notice["message"] for notice in found["metadata"]["warnings"])
        # What was read of it is there, and the next host.
        names = [event["name"] for event in found["traceEvents"] if event["ph"] == "X"]
        assert 0 < names.count("a") < 20_003
        assert names.count("b:B") == 1


def test_who_leaves_early_costs_nothing(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=long_trace(20_000))
    for _ in range(5):
        chunks = stream(engine).chunks()
        next(chunks)
        chunks.close()
    assert not engine._cache._spaces._users
    assert len(read_events(document(engine))) == 20_000


def test_several_at_a_time_are_the_same(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=long_trace(3000), h1=TRACE)
    expected = content(engine)
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda _: content(engine), range(4))] == [expected] * 4


def test_compressed_traces_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "h0.xplane.pb.gz").write_bytes(gzip.compress(TRACE))
    engine = Engine(Logdir(str(folder)))
    assert content(engine) == written(space_of(TRACE))


def repeating() -> bytes:
    """One long text, which the document repeats for each event."""
    return listed({HOST: {"t": [("y" * 5000, index, 1) for index in range(3000)]}})


def test_an_export_far_larger_than_its_trace_is_refused(
    one_run: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = one_run(h0=repeating(), h1=TRACE)
    whole = content(engine)
    assert len(whole) > 15e6  # below a gigabyte, all is usual
    monkeypatch.setattr(streams, "_FEWEST_BYTES", 10**6)
    assert sum(file.bytes for file in engine._logdir.run("run").files) * 100 < 9e6
    for request in (stream(engine), engine.data(DataRequest("run", TOOL, format="csv"))):
        sizes: list[int] = []
        assert isinstance(request, Stream)
        with pytest.raises(TooLarge, match="limit of ") as raised:
            sizes += map(len, request.chunks())
        assert "max_gb=" in raised.value.hint
        assert sum(sizes) < 10e6
    assert content(engine, max_gb="0.1") == whole


def test_a_response_says_that_it_was_too_large(one_run: Callable[..., Engine]) -> None:
    engine = one_run(h0=TRACE, h1=repeating(), h2=TRACE)
    found = parsed(b"".join(stream(engine, max_gb="0.004").chunks(is_strict=False)))
    assert found["metadata"]["complete"] is False
    [notice] = found["metadata"]["warnings"]
    assert (notice["code"], notice["host"]) == ("too_large", "h1")
    assert "max_gb=0.04" in notice["hint"]
    assert [host["name"] for host in found["metadata"]["hosts"]] == ["h0", "h1"]
    assert "a:A" in [event["name"] for event in found["traceEvents"]]


def test_pieces_pass_up_to_the_limit() -> None:
    limited = limit(7)
    assert list(limited([b"123", b"4"])) == [b"123", b"4"]
    assert list(limited([b"567"])) == [b"567"]
    assert list(limited([b""])) == [b""]
    with pytest.raises(TooLarge):
        next(limited([b"8"]))
