"""Requests about the calls of a kernel, over runs of several hosts."""

import json
from pathlib import Path

import pytest
from traces import draw, write_run

from tbprof.base.errors import BadTrace, HostNotFound, TbprofError
from tbprof.engine.engine import Engine
from tbprof.engine.kernel_requests import ChosenKernel, kernel_calls
from tbprof.storage.logdir import Logdir

KERNEL = {"k": {"kernel_details": "regs:8"}}
GOOD = draw({"/device:GPU:0": "Stream #1 |kk..k"}, stats=KERNEL)
BAD = b"\x0a\xff\xff\xff\xff\x0fxx"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    write_run(tmp_path, {"h0": GOOD, "h1": GOOD, "h2": BAD}, "good")
    write_run(tmp_path, {"h0": BAD}, "bad")
    return Engine(Logdir(str(tmp_path)))


def calls(engine: Engine, *hosts: str) -> tuple[int, list[str]]:
    document = json.loads(kernel_calls(engine, "good", hosts, ChosenKernel("k")))
    return document["durations"]["calls"], [stream["host"] for stream in document["streams"]]


def test_calls_are_those_of_the_chosen_hosts(engine: Engine) -> None:
    assert calls(engine, "h1") == (2, ["h1"])
    with pytest.raises(HostNotFound):
        calls(engine, "h7")


def test_hosts_that_cannot_be_read_are_left_out(engine: Engine) -> None:
    assert calls(engine) == (4, ["h0", "h1"])
    with pytest.raises(BadTrace):
        kernel_calls(engine, "bad", (), ChosenKernel("k"))


def test_calls_are_computed_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    calls(engine)

    def fail(*_: object) -> None:
        raise TbprofError("nothing is read again")

    monkeypatch.setattr("tbprof.engine.hosts.summary_cache._compute", fail)
    assert calls(engine, "h0") == (2, ["h0"])
