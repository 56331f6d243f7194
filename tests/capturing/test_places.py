"""Where runs go: full, forbidden and vanished places."""

import resource
import shutil
import signal
import sys
import threading
from pathlib import Path

import pytest
from helpers.commands import python_prints
from helpers.patience import until
from helpers.started.profilers import Profiler, captured, recorded, serving, trace

import tbprof
from tbprof.capturing.sessions.session import CaptureReport, NothingCaptured
from tbprof.storage.new_run import NewRun, NotWritten, runs_root


def test_a_full_disk_leaves_nothing_half_written(tmp_path):
    profiler = Profiler([recorded(trace(size=3_000_000))])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with serving(profiler):
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
            report = captured(tmp_path, profiler)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    [worker] = report.workers
    assert (worker.phase, worker.reason) == ("failed", "not_written")
    assert "too large" in worker.details
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not Path(report.path).exists()


def test_a_place_that_may_not_be_written(unprivileged):
    unprivileged.chmod(0o555)
    with pytest.raises(NotWritten, match="Permission denied") as caught:
        NewRun(str(unprivileged), "r").write("a.xplane.pb", memoryview(b"x"))
    assert caught.value.hint
    assert list(unprivileged.iterdir()) == []


def test_a_logdir_that_vanishes_meanwhile_is_made_again(tmp_path):
    logdir = tmp_path / "logs"
    logdir.mkdir()
    is_gone = threading.Event()
    profiler = Profiler([recorded(trace())], may_answer=is_gone)
    reports: list[CaptureReport] = []
    with serving(profiler):
        thread = threading.Thread(target=lambda: reports.append(captured(logdir, profiler)))
        thread.start()
        until(lambda: profiler.starts)
        shutil.rmtree(logdir)
        is_gone.set()
        thread.join()
    assert Path(reports[0].workers[0].path).read_bytes() == trace()


@pytest.mark.parametrize("logdir", ["", " "])
def test_no_logdir_is_not_this_folder(logdir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotWritten, match="no logdir"):
        NewRun(logdir, "r")
    assert list(tmp_path.iterdir()) == []


def test_why_nothing_could_be_written_is_in_the_error(tmp_path, profiler):
    (tmp_path / "file").write_text("")
    with pytest.raises(NothingCaptured, match="Not a directory"):
        tbprof.capture(profiler.address, str(tmp_path / "file"), duration_ms=20)


def test_names_that_are_no_names_of_files_are_refused(tmp_path):
    run = NewRun(str(tmp_path), "r")
    for name in ("", ".", "..", "a/b", "../a"):
        with pytest.raises(NotWritten):
            run.write(name, memoryview(b"x"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("logdir", "root"),
    [
        ("/logs", "/logs/plugins/profile"),
        ("/logs/plugins/profile", "/logs/plugins/profile"),
        ("/logs/plugins/profile/run", "/logs/plugins/profile"),
        ("memory://b/logs", "memory:///b/logs/plugins/profile"),
    ],
)
def test_runs_go_where_runs_are(logdir, root):
    assert runs_root(logdir) == root


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_follow_the_trace(tmp_path):
    """Measured in a process of its own, which holds nothing else."""
    size = 200_000_000
    sent = recorded(trace(size=size))
    profiler = Profiler([sent])
    program = (
        "import re, sys, tbprof\n"
        "tbprof.capture(sys.argv[1], sys.argv[2], duration_ms=20)\n"
        # Not getrusage, which knows the parent's peak, too.
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) * 1024)"
    )
    with serving(profiler):
        most_bytes = int(python_prints("-c", program, profiler.address, tmp_path))
    [path] = tmp_path.rglob("*.xplane.pb")
    assert path.stat().st_size > size
    assert most_bytes < size  # the interpreter and its packages included
