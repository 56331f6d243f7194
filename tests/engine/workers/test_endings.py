"""Workers that end, and the files that ended them."""

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.drawn.small_runs import OPS
from helpers.patience import until
from helpers.payloads import document_of
from helpers.started.planted_workers import Plant
from helpers.started.worker_pools import ignored, is_alive, kernels, ops, path

from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.workers import endings, starting
from tbprof.engine.workers.endings import WorkerEnded
from tbprof.engine.workers.limits import Limits
from tbprof.engine.workers.starting import (
    Forked,
)
from tbprof.storage.logdir import Logdir
from tbprof.storage.runs import TraceFile

SERVER = """
import sys, threading, time
from tbprof.engine.parts import PartKey
from tbprof.engine.workers import starting
from tbprof.engine.workers.processes import WorkerProcesses
from tbprof.storage.logdir import Logdir
import planted_server

starting._CODE = planted_server.CODE
pool = WorkerProcesses(None, 2)
file = Logdir([sys.argv[1]]).run("gpu").files[0]
pool.compute(file, [PartKey("ops")], lambda name: None)
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed (SIGSEGV)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "was killed"),
        ("os.abort()", "crashed (SIGABRT)"),
        ("os._exit(3)", "crashed (status 3)"),
        ("numpy.ones(1 << 28)", "was ended: it took more than 0.25 GiB of memory"),
        ("x = []\n while True: x.append(bytearray(1000))", "took more than 0.25 GiB of memory"),
    ],
)
def test_the_end_of_a_worker_is_said_of_its_host(
    logdir: Path, pool, plant: Plant, script: str, said: str
):
    engine = Engine(Logdir(str(logdir)), workers=pool(limits=Limits(1 << 28)))
    plant.do(f"if host == 'h0':\n {script}")
    with pytest.raises(WorkerEnded) as caught:
        engine.data(DataRequest("gpu", OPS, ("h0",)))
    assert caught.value.message.startswith("the process that read host 'h0' ")
    assert said in caught.value.message
    assert caught.value.hint
    (notice,) = document_of(engine, "gpu", OPS)[0]["warnings"]
    assert notice["host"] == "h0"
    assert said in notice["message"]


def test_a_file_that_ended_a_worker_is_tried_again_later(
    pool, plant: Plant, hosts: Sequence[TraceFile], monkeypatch: pytest.MonkeyPatch
):
    workers = pool()
    plant.do("os._exit(3)")

    def is_tried(now: float) -> bool:
        monkeypatch.setattr(endings, "monotonic", lambda: now)
        before = len(plant.computed("ops"))
        with pytest.raises(WorkerEnded, match="crashed"):
            workers.compute(hosts[0], [ops], ignored)
        return len(plant.computed("ops")) > before

    assert [is_tried(now) for now in (0.0, 4.9, 5.1, 10.0, 15.0, 15.2)] == [
        True, False, True, False, False, True
    ]  # fmt: skip
    plant.do("")
    monkeypatch.setattr(endings, "monotonic", lambda: 100.0)
    assert workers.compute(hosts[0], [ops], ignored)


def test_a_worker_that_takes_too_long_is_ended(pool, plant: Plant, hosts: Sequence[TraceFile]):
    workers = pool(limits=Limits(seconds=0.5))
    plant.do("while True: ...")
    with pytest.raises(WorkerEnded, match=r"it took longer than 0\.5 s"):
        workers.compute(hosts[0], [ops], ignored)
    ((_, process),) = plant.computed("ops")
    until(lambda: not is_alive(process))


def test_a_worker_that_was_killed_while_idle_is_replaced(
    pool, plant: Plant, hosts: Sequence[TraceFile]
):
    workers = pool()
    workers.compute(hosts[0], [ops], ignored)
    ((_, process),) = plant.computed("ops")
    os.kill(process, signal.SIGKILL)
    assert workers.compute(hosts[0], [kernels], ignored)
    ((_, other),) = plant.computed("kernels")
    assert other != process


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each worker is started alone")
def test_what_starts_workers_is_replaced_when_it_was_killed(pool, hosts: Sequence[TraceFile]):
    starters: list[Forked] = []

    def make() -> Forked:
        starters.append(Forked())
        return starters[-1]

    workers = pool(make=make)
    os.kill(starters[0].process, signal.SIGKILL)
    assert workers.compute(hosts[0], [ops], ignored)
    assert len(starters) == 2


def test_workers_end_with_a_server_that_was_killed(
    logdir: Path, plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plant.do("while True: ...")
    (tmp_path / "planted_server.py").write_text(f"CODE = {starting._CODE!r}")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(logdir)],
        env={**os.environ, "PYTHONPATH": path(str(tmp_path))},
    )
    until(lambda: plant.computed("ops"))
    ((_, process),) = plant.computed("ops")
    server.kill()
    server.wait()
    until(lambda: not is_alive(process))


def test_ctrl_c_ends_a_server_quietly(sample_logdir: Path):
    server = subprocess.Popen(
        [sys.executable, "-m", "tbprof.cli", "serve", str(sample_logdir), "--port", "0"],
        env={**os.environ, "PYTHONPATH": path(), "TBPROF_PROCESSES": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background, it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[3]
        query = "data/plugin/profile/data?run=jax_cpu_training&tag=overview_page"
        with urllib.request.urlopen(address + query) as answer:
            assert answer.status == 200
        os.killpg(server.pid, signal.SIGINT)
        _, said = server.communicate()
    assert (server.returncode, said) == (0, "")
