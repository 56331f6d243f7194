"""Captures of one and several workers, good and bad ones."""

import threading
import time
from pathlib import Path

import grpc
import pytest
from helpers.patience import PATIENCE_S, until
from helpers.started.profilers import (
    EMPTY,
    Profiler,
    capture_of,
    captured,
    recorded,
    serving,
    trace,
)

import tbprof
from tbprof.capturing.requests.options import MOST_RETRIES
from tbprof.capturing.sessions.session import CaptureReport, NothingCaptured
from tbprof.storage.new_run import NotWritten

BUSY = (grpc.StatusCode.INTERNAL, "Another profiling session active.")


def test_a_capture_is_what_the_server_sent(tmp_path):
    sent = trace(size=5_000_000)
    profiler = Profiler([recorded(sent)])
    with serving(profiler):
        report = captured(tmp_path, profiler, run="mine", python_level=1)
    [worker] = report.workers
    assert worker.is_written
    assert worker.bytes == len(sent)
    folder = tmp_path / "plugins" / "profile" / "mine"
    assert report.path == str(folder)
    assert [path.name for path in folder.iterdir()] == [f"127.0.0.1_{profiler.port}.xplane.pb"]
    assert Path(worker.path).read_bytes() == sent
    [request] = profiler.requests
    assert request.opts.python_tracer_level == 1
    assert request.session_id == "mine"


def test_the_logdir_sees_the_new_run(tmp_path, profiler):
    report = tbprof.capture(profiler.address, str(tmp_path), duration_ms=20)
    assert list(tbprof.open_logdir(tmp_path, cache=False).runs) == [report.run]


def test_a_run_is_never_written_over(tmp_path):
    profiler = Profiler([recorded(trace("a")), recorded(trace("b"))])
    with serving(profiler):
        first = captured(tmp_path, profiler, run="same")
        second = captured(tmp_path, profiler, run="same")
    assert (first.run, second.run) == ("same", "same_2")
    assert Path(first.workers[0].path).read_bytes() == trace("a")
    assert Path(second.workers[0].path).read_bytes() == trace("b")


def test_some_workers_are_recorded_and_each_other_one_says_why(tmp_path, free_port):
    good, busy, empty, slow = (
        Profiler([recorded(trace())]),
        Profiler([BUSY]),
        Profiler([EMPTY]),
        Profiler([recorded(trace())], may_answer=(is_needed := threading.Event())),
    )
    dead, garbage = Profiler([], port=free_port), Profiler([b"\xff\xff\xff"])
    with serving(good, busy, empty, slow, garbage):
        capture = capture_of(tmp_path, good, busy, empty, slow, dead, garbage)
        report = capture.run(lambda now: is_needed.set() if now.written else None)
    reasons = [worker.reason for worker in report.workers]
    assert reasons == ["", "busy", "empty", "", "refused", "garbled"]
    assert all(worker.fix for worker in report.workers if worker.reason)
    assert report.written == 2
    assert len(list(Path(report.path).iterdir())) == 2


def test_nothing_is_written_where_nothing_was_recorded(tmp_path):
    empty = Profiler([EMPTY])
    with serving(empty), pytest.raises(NothingCaptured, match="nothing was recorded"):
        tbprof.capture(empty.address, str(tmp_path), duration_ms=20, retries=0)
    assert list(tmp_path.iterdir()) == []


def test_retries_help_where_they_can(tmp_path):
    busy_once = Profiler([BUSY, recorded(trace())])
    broken = Profiler([(grpc.StatusCode.INTERNAL, "no such folder"), recorded(trace())])
    with serving(busy_once, broken):
        report = captured(tmp_path, busy_once, broken, retries=2)
    once, never = report.workers
    assert (once.is_written, once.attempts) == (True, 2)
    assert once.late_s > 0.4  # the pause before the second attempt
    assert (never.reason, never.attempts, never.details) == ("failed", 1, "no such folder")


def test_a_server_that_comes_up_late_is_waited_for(tmp_path, free_port):
    late = Profiler([recorded(trace())], port=free_port)
    capture = capture_of(tmp_path, late, retries=MOST_RETRIES)
    thread = threading.Thread(target=capture.run)
    thread.start()
    until(lambda: capture.report().workers[0].reason)
    with serving(late):
        thread.join(PATIENCE_S)
    (worker,) = capture.report().workers
    assert worker.is_written
    assert worker.attempts > 1


def test_who_cannot_be_reached_does_not_keep_the_others_waiting(tmp_path, monkeypatch, free_port):
    monkeypatch.setattr("tbprof.capturing.sessions.capture_worker._PATIENCE_S", 0.3)
    first, second = Profiler([recorded(trace())]), Profiler([recorded(trace())])
    late = Profiler([recorded(trace())], port=free_port)
    results: list[CaptureReport] = []
    with serving(first, second):
        thread = threading.Thread(
            target=lambda: results.append(
                captured(tmp_path, first, second, late, retries=MOST_RETRIES)
            )
        )
        thread.start()
        until(lambda: first.starts and second.starts)
        with serving(late):
            thread.join(PATIENCE_S)
    asked = [one.requests[0].opts.start_timestamp_ns for one in (first, second)]
    assert asked[0] == asked[1]
    assert [worker.is_written for worker in results[0].workers] == [True] * 3
    *others, last = (worker.late_s for worker in results[0].workers)
    assert last > max(others)


def test_workers_begin_together(tmp_path):
    profilers = [Profiler([recorded(trace())]) for _ in range(64)]
    with serving(*profilers):
        report = captured(tmp_path, *profilers)
    assert report.written == 64
    asked = {profiler.requests[0].opts.start_timestamp_ns for profiler in profilers}
    assert len(asked) == 1
    assert all(profiler.starts[0] * 1e9 >= max(asked) for profiler in profilers)


def test_a_delay_passes_before_the_recording(tmp_path, profiler):
    began = time.time()
    capture = capture_of(tmp_path, profiler, duration_ms=400, delay_ms=400)
    assert capture.share() == 0
    seen: list[tuple[float, float, float]] = []
    report = capture.run(lambda _: seen.append((time.time(), capture.share(), time.time())))
    assert report.written == 1
    assert profiler.starts[0] - began > 0.35
    shares = [share for _, share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    # Half of the time has passed when it begins to record, however late anybody looks.
    halfway = profiler.starts[0]
    assert all(min(1, 0.5 + (before - halfway) / 0.8) <= share for before, share, _ in seen)
    assert all(share <= (after - began) / 0.8 for _, share, after in seen)


def test_cancelling_stops_the_servers_and_keeps_what_is_written(tmp_path):
    quick = Profiler([recorded(trace())])
    slow = Profiler([recorded(trace())], may_answer=threading.Event())
    with serving(quick, slow):
        capture = capture_of(tmp_path, quick, slow)
        thread = threading.Thread(target=capture.run)
        thread.start()
        until(lambda: capture.report().workers[0].is_written)
        capture.cancel()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
        assert slow.cancelled.wait(PATIENCE_S)
    first, second = capture.report().workers
    assert (first.phase, second.phase) == ("written", "cancelled")
    assert len(list(Path(capture.report().path).iterdir())) == 1


def test_a_worker_that_dies_says_so(tmp_path):
    dying = Profiler([recorded(trace())], may_answer=threading.Event())
    results: list[CaptureReport] = []
    thread = threading.Thread(target=lambda: results.append(captured(tmp_path, dying)))
    with serving(dying):
        thread.start()
        until(lambda: dying.starts)
    thread.join(PATIENCE_S)
    assert results[0].workers[0].reason in ("lost", "cancelled")
    assert list(tmp_path.iterdir()) == []


def test_errors_of_the_recorder_are_told(tmp_path):
    from tbprof._pb import message

    space = message("tensorflow.profiler.XSpace")(errors=["CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"])
    profiler = Profiler([recorded(space.SerializeToString())])
    with serving(profiler):
        report = captured(tmp_path, profiler)
    [error] = report.workers[0].recorder_errors
    assert error.startswith("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (the driver restricts")


@pytest.mark.parametrize("sends_trace", [True, False])
def test_files_that_older_servers_send_are_kept(tmp_path, sends_trace):
    from tbprof._pb import message

    response = message("tensorflow.ProfileResponse")()
    if sends_trace:
        response.xspace = trace("sent")
    for name in (
        "xplane.pb",
        "memory_profile.json",
        "../../up",
        "tf_stats_helper_result",
        "x" * 300,
    ):
        response.tool_data.add(name=name, data=trace("file"))
    profiler = Profiler([response.SerializeToString()])
    with serving(profiler):
        report = captured(tmp_path, profiler, run="r")
    assert report.workers[0].phase == "written", report
    host = f"127.0.0.1_{profiler.port}"
    folder = tmp_path / "plugins" / "profile" / "r"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        f"{host}.memory_profile.json",
        f"{host}.xplane.pb",
    ]
    sent = (folder / f"{host}.xplane.pb").read_bytes()
    assert sent == trace("sent" if sends_trace else "file")


def test_a_logdir_that_is_a_file_is_refused(tmp_path, profiler):
    (tmp_path / "plugins").write_text("")
    report = captured(tmp_path, profiler)
    assert report.workers[0].reason == "not_written"
    with pytest.raises(NotWritten):
        raise NotWritten(report.workers[0].details)


def test_a_bucket_gets_its_run(profiler):
    import fsspec

    report = tbprof.capture(profiler.address, "memory://logs", duration_ms=20, run="r")
    name = f"127.0.0.1_{profiler.port}.xplane.pb"
    assert fsspec.filesystem("memory").cat(f"/logs/plugins/profile/r/{name}") == trace()
    assert report.workers[0].path.endswith(f"/logs/plugins/profile/r/{name}")
