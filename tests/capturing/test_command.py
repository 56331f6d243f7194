"""`tbprof capture`: what it prints, and how it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.patience import PATIENCE_S, until
from helpers.started.profilers import EMPTY, Profiler, recorded, serving, trace

from tbprof._pb import message
from tbprof.capturing.sessions.session import WorkerReport
from tbprof.cli_capture import _activity

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "tbprof.cli", "capture"]
# Shells let what they run in the background ignore Ctrl-C. A `preexec_fn` would run between fork
# and exec, while gRPC has threads in this process.
_LISTEN = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
LISTENING = [sys.executable, "-c", _LISTEN, *COMMAND[1:]]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE_S
    )


def test_a_capture_prints_the_run_and_what_became_of_each_worker(tmp_path):
    space = message("tensorflow.profiler.XSpace")(errors=["CUPTI [bold]broke[/bold]"])
    good = Profiler([recorded(trace())])
    complains = Profiler([recorded(space.SerializeToString())])
    with serving(good, complains):
        addresses = f"{good.address},{complains.address}"
        result = run(addresses, "--logdir", str(tmp_path), "--duration-ms", "50", "--run", "r")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(tmp_path / "plugins" / "profile" / "r")
    assert result.stderr.count("written") == 2
    assert "recorder: CUPTI [bold]broke[/bold]" in result.stderr  # text, never markup


def test_levels_and_options_reach_the_server(tmp_path, profiler):
    result = run(
        profiler.address, "--logdir", str(tmp_path), "-d", "20", "--host-level", "3",
        "--device-level", "0", "--python-level", "1", "--no-hlo", "--option", "a=1",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    opts = profiler.requests[0].opts
    levels = (opts.host_tracer_level, opts.device_tracer_level, opts.python_tracer_level)
    assert levels == (3, 0, 1)
    assert not opts.enable_hlo_proto
    assert opts.advanced_configuration["a"].int64_value == 1


def test_where_a_worker_failed_the_status_says_so(tmp_path):
    good, empty = Profiler([recorded(trace())]), Profiler([EMPTY])
    with serving(good, empty):
        addresses = f"{good.address},{empty.address}"
        some = run(addresses, "--logdir", str(tmp_path), "-d", "20", "--retries", "0")
        none = run(empty.address, "--logdir", str(tmp_path), "-d", "20", "--retries", "0")
    assert some.returncode == none.returncode == 1
    assert Path(some.stdout.strip()).is_dir()
    assert "nothing was recorded" in some.stderr
    assert none.stdout == ""
    assert "hint:" in none.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["localhost:1"], 2, "--logdir"),
        (["--logdir", "x"], 1, "no address"),
        (["localhost", "--logdir", "x"], 1, "has no port"),
        (["localhost:1", "--logdir", "x", "-d", "0"], 1, "0 ms"),
        (["localhost:1", "--logdir", "x", "-d", "soon"], 2, "soon"),
        (["localhost:1", "--logdir", "x", "--option", "a"], 1, "NAME=VALUE"),
        (["localhost:1", "--logdir", "x", "--run", "../up"], 1, "cannot be named"),
        (["localhost:1", "--test"], 1, "nothing listens"),
        (["localhost:1", "--monitor"], 1, "nothing listens"),
    ],
)
def test_mistakes(arguments, status, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.returncode == status
    assert says in result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_connections_that_are_good(tmp_path, profiler):
    result = run(profiler.address, "--test")
    assert (result.returncode, result.stdout.count("✓")) == (0, 4)


def test_ctrl_c_stops_the_server_and_leaves_nothing(tmp_path):
    profiler = Profiler([recorded(trace())], may_answer=threading.Event())
    with serving(profiler):
        child = subprocess.Popen(
            [*LISTENING, profiler.address, "--logdir", str(tmp_path), "-d", "20"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
        )  # fmt: skip
        until(lambda: profiler.starts)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=PATIENCE_S)
        assert profiler.cancelled.wait(PATIENCE_S)
    assert child.returncode == 1
    assert out == ""
    assert "cancelled" in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_shows_what_is_being_done_and_that_it_is_cancelling(tmp_path):
    pty = pytest.importorskip("pty")
    profiler = Profiler([recorded(trace())], may_answer=threading.Event())
    ours, theirs = pty.openpty()
    with serving(profiler), os.fdopen(ours, "rb", buffering=0) as screen:
        child = subprocess.Popen(
            [*LISTENING, profiler.address, "--logdir", str(tmp_path), "-d", "1500"],
            stdout=theirs, stderr=theirs, env={**ENVIRONMENT, "TERM": "xterm"},
        )  # fmt: skip
        os.close(theirs)
        shown = b""
        while b"receiving" not in shown:
            shown += screen.read(4096)
        assert b"recording" in shown
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while piece := screen.read(4096):
                shown += piece
        assert child.wait(PATIENCE_S) == 1
    assert b"cancelling" in shown
    assert b"cancelled: nothing was recorded" in shown


def test_how_much_has_come_is_told():
    def worker(phase: str, size: int) -> WorkerReport:
        return WorkerReport("a:1", "a_1", phase, 1, "", "", "", "", (), size, "", 0.0)

    several = [worker("written", 9), worker("receiving", 2_500_000), worker("receiving", 500_000)]
    assert _activity(several) == "receiving 3.0 MB · 1 of 3 done"
    assert _activity([worker("recording", 0)]) == "recording"
    assert _activity([worker("written", 9)]) == ""
