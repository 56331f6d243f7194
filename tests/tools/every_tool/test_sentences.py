"""Every sentence of every page over traces that are damaged, empty, tiny, skewed or overlapping."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from helpers.drawn.small_runs import one_run
from helpers.promises.sentences import check_sentence, check_sentences
from traces import draw, message_of
from traces.every_trace import TRACES, every_trace, opened
from traces.misread_runs import marked
from traces.runs import GPU, HOST, RUNS, cpu_steps, gpu_steps
from xplane.fuzz import mutate

HOUR_NS = 3600 * 10**9
NOW_NS = 1_700_000_000_000_000_000
SEEDS = range(6)


def changed(content: bytes, how: str) -> bytes:
    """The trace with all durations 0, or negative, or times far apart or all the same."""
    space = message_of(content)
    for plane in space.planes:
        for line in plane.lines:
            for at, event in enumerate(line.events):
                match how:
                    case "no length":
                        event.duration_ps = 0
                    case "negative":
                        event.duration_ps = -event.duration_ps
                    case "same time":
                        event.offset_ps = 0
                    case "apart":
                        event.offset_ps += at * 10**14
                    case "overlapping":
                        event.duration_ps *= 7
                    case "huge":
                        event.duration_ps *= 10**9
                    case "backwards":
                        event.offset_ps = 10**12 - event.offset_ps
                    case _:
                        raise ValueError(how)
    return bytes(space.SerializeToString())


CHANGES = ("no length", "negative", "same time", "apart", "overlapping", "huge", "backwards")
ODD: dict[str, Mapping[str, bytes]] = {
    "empty": {"h0": draw({HOST: "main |"})},
    "no planes": {"h0": b""},
    "one event": {"h0": draw({HOST: "main |x"})},
    "one kernel": {"h0": draw({GPU: "Stream #1 |k"}, stats={"k": {"kernel_details": "regs:1"}})},
    "one copy": {"h0": draw({GPU: "Stream #1 |h"}, names={"h": "MemcpyH2D"})},
    "one step": {"h0": draw({HOST: "main |sss"}, names={"s": "train"}, stats=marked("s"))},
    "one step of nothing": {
        "h0": changed(draw({HOST: "main |s"}, names={"s": "train"}, stats=marked("s")), "no length")
    },
    "steps inside steps": {
        "h0": draw(
            {HOST: "main |ssssssssss\n     |.tttt.uuu"},
            names=dict.fromkeys("stu", "train"),
            stats=marked("stu"),
        )
    },
    "steps of one number": {
        "h0": draw(
            {HOST: "main |sss.ttt.uuu\n     |.o...o...o"},
            names={**dict.fromkeys("stu", "train"), "o": "x:MatMul"},
            stats={letter: {"_r": 1, "step_num": 4} for letter in "stu"},
        )
    },
    "hosts hours apart": {
        "h0": cpu_steps("iiioooo", start_ns=NOW_NS),
        "h1": cpu_steps("iiooooo", start_ns=NOW_NS + 5 * HOUR_NS),
        "h2": cpu_steps("ooo", start_ns=NOW_NS - 7 * HOUR_NS),
    },
    "hosts of different steps": {
        "h0": gpu_steps("k" * 30, start_ns=NOW_NS),
        "h1": draw({HOST: "main |x.x.x"}, start_ns=NOW_NS),
        "h2": cpu_steps("ooo", start_ns=NOW_NS, late=40),
    },
    "a host without a clock": {
        "h0": gpu_steps("kkk..mmm", start_ns=NOW_NS),
        "h1": gpu_steps("kkkkkkkk"),
    },
    "a host that is empty": {"h0": gpu_steps("kkk..mmm"), "h1": draw({HOST: "main |"})},
}


@pytest.mark.parametrize("hosts", ODD.values(), ids=ODD)
def test_sentences_over_odd_runs(hosts: Mapping[str, bytes], tmp_path: Path):
    check_sentences(one_run(tmp_path, **hosts), "run")


@pytest.mark.parametrize("run", RUNS)
def test_sentences_over_drawn_runs(run: str, tmp_path: Path):
    check_sentences(one_run(tmp_path, **RUNS[run]()), "run")


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("run", ["launching", "input", "copying", "tpu", "hosts", "sleeping"])
def test_sentences_over_impossible_times(run: str, how: str, tmp_path: Path):
    hosts = {host: changed(content, how) for host, content in RUNS[run]().items()}
    check_sentences(one_run(tmp_path, **hosts), "run")


@pytest.mark.parametrize("marker", ["train", "dense/MatMul:MatMul", "no such event"])
def test_sentences_over_chosen_steps(marker: str, tmp_path: Path):
    check_sentences(one_run(tmp_path, **RUNS["hosts"]()), "run", marker=marker)


@every_trace
def test_sentences_over_recorded_traces(trace: str, request: pytest.FixtureRequest):
    check_sentences(*opened(trace, request))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("trace", TRACES)
def test_sentences_over_damaged_traces(
    trace: str, seed: int, request: pytest.FixtureRequest, tmp_path: Path
):
    engine, run = opened(trace, request)
    content = Path(engine.run(run).files[0].url.removeprefix("file://")).read_bytes()
    random = Random(seed)
    if seed % 2:
        content = content[: random.randrange(len(content))]
    check_sentences(one_run(tmp_path, h0=mutate(random, content, content[:200])), "run")


@pytest.mark.parametrize(
    "bad",
    ["takes nan % of it", "NaN ms", "-0 µs", "−0.0 %", "100.1 %", "1,000 % of it", "inf GB/s"],
)
def test_what_no_sentence_may_say(bad: str):
    with pytest.raises(AssertionError):
        check_sentence(bad)


@pytest.mark.parametrize(
    "good", ["100.0 % of it", "0 µs", "-0.5", "a.nan_to_num", "inferred", "t-0"]
)
def test_what_sentences_may_say(good: str):
    check_sentence(good)
