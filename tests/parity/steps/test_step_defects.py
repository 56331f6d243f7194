"""Small traces whose steps xprof shows wrongly, and what is right: evidence of docs/differences.md.

What xprof answers is asserted, too. One column is 1 µs, so times in ms are thousandths.
"""

from collections.abc import Callable

import pytest
from helpers.payloads import Row, rows
from parity.oracle import Compare
from traces import draw
from traces.misread_runs import instant, marked

pytestmark = [pytest.mark.parity, pytest.mark.slow]

INPUT = "input_pipeline_analyzer"
HOST, GPU = "/host:CPU", "/device:GPU:0"

Both = Callable[..., tuple[list[Row], list[Row]]]


@pytest.fixture
def both(compare: Compare) -> Both:
    """(xprof's step table, ours) of hosts h0, h1, ... as rows by column."""

    def ask(*traces: bytes) -> tuple[list[Row], list[Row]]:
        found = compare(*traces, tools=(INPUT,))
        return rows(found.theirs[INPUT][1]), rows(found.ours(INPUT)[1])

    return ask


def us(table: list[Row], *names: str) -> list[tuple[float, ...]]:
    """The columns `names` + "TimeMs" of every row, in µs."""
    return [tuple(round(row[f"{name}TimeMs"] * 1e3, 6) for name in names) for row in table]


def named(letters: str) -> dict[str, str]:
    return dict.fromkeys(letters, "train")


def test_the_first_and_the_last_of_more_than_five_steps_are_dropped(both: Both) -> None:
    drawing = "".join(letter * 4 for letter in "stuvwx")
    trace = draw(
        {HOST: f"python |{drawing}\n|{'.aa.' * 6}"},
        names=named("stuvwx") | {"a": "x:MatMul"},
        stats=marked("stuvwx"),
    )
    theirs, ours = both(trace)
    assert [row["stepnum"] for row in theirs] == [f"train {step}" for step in range(1, 5)]
    assert [row["stepnum"] for row in ours] == [f"train {step}" for step in range(6)]


def test_instants_paint_the_gap_after_them(both: Both) -> None:
    theirs, ours = both(instant())
    assert us(theirs, "hostCompute", "other") == [(6.0, 4.0)]
    assert us(ours, "hostCompute", "other") == [(2.0, 8.0)]


def test_an_op_of_a_loop_switches_steps_off(both: Both) -> None:
    trace = draw(
        {HOST: "python |ssssssssss\n|.aaa.ww"},
        names=named("s") | {"a": "x:MatMul", "w": "WhileOp-StartBody"},
        stats=marked("s"),
    )
    theirs, ours = both(trace)
    assert theirs == []
    assert [row["stepnum"] for row in ours] == ["train 0"]


def test_python_frames_are_taken_for_work(both: Both) -> None:
    trace = draw(
        {HOST: "python |ssssssssss\n|pppppppppp\n|.aaa.qqqqq"},
        names=named("s") | {"a": "x:MatMul", "p": "$train.py:7 step", "q": "$time sleep"},
        stats=marked("s"),
    )
    theirs, ours = both(trace)
    assert us(theirs, "hostCompute", "other") == [(10.0, 0.0)]
    assert us(ours, "hostCompute", "other") == [(3.0, 7.0)]


def test_input_that_is_fetched_before_the_marker_is_not_seen(both: Both) -> None:
    trace = draw(
        {HOST: "python |ssss......tttt\n|.aa.IIIIII.bb"},
        names=named("st") | {"a": "x:MatMul", "b": "x:MatMul", "I": "IteratorGetNext"},
        stats=marked("st"),
    )
    theirs, ours = both(trace)
    assert us(theirs, "step", "infeed") == [(4.0, 0.0), (4.0, 0.0)]
    assert us(ours, "step", "infeed") == [(10.0, 6.0), (4.0, 0.0)]


def gpu(drawing: str, host: str, kernels: str, **names: str) -> bytes:
    """A host that launches kernels, and a GPU that runs them; letters `kernels` are kernels."""
    launches = {letter.upper(): letter for letter in kernels}
    return draw(
        {HOST: host, GPU: drawing},
        names=named("st") | dict.fromkeys(launches, "cuLaunchKernel") | names,
        stats=marked("st")
        | {letter: {"correlation_id": ord(kernel)} for letter, kernel in launches.items()}
        | {kernel: {"correlation_id": ord(kernel)} for kernel in kernels},
    )


STARVING = """
    python |ssssssssssttttttttttt
           |IIIIIA....JJJJJB
"""


def test_a_gpu_that_starves_for_input_is_fast_and_not_input_bound(both: Both) -> None:
    trace = gpu(
        "Stream #1 |......aaa.......bbb",
        STARVING,
        "ab",
        a="kernel_a", b="kernel_b", I="IteratorGetNext", J="IteratorGetNext",
    )  # fmt: skip
    theirs, ours = both(trace)
    assert us(theirs, "step", "deviceCompute", "infeed") == [(3.0, 3.0, 0.0)] * 2
    assert us(ours, "step", "deviceCompute", "infeed") == [(10.0, 3.0, 5.0), (11.0, 3.0, 5.0)]


def test_copies_in_todays_spelling_are_taken_for_compute(both: Both) -> None:
    trace = gpu(
        "Stream #1 |...aaa.ccc",
        "python |ssssssssss\n       |AC",
        "ac",
        a="kernel_a", c="MemcpyH2D",
    )  # fmt: skip
    theirs, ours = both(trace)
    assert us(theirs, "deviceCompute", "infeed") == [(6.0, 0.0)]
    assert us(ours, "deviceCompute", "infeed") == [(3.0, 3.0)]


def test_only_the_first_host_is_looked_at(both: Both) -> None:
    def host(drawing: str) -> bytes:
        return draw(
            {HOST: f"python |ssssssssssssssss\n|{drawing}"},
            names=named("s") | {"a": "x:MatMul", "I": "IteratorGetNext"},
            stats=marked("s"),
        )

    theirs, ours = both(host("aaaaaaaaaa......"), host("aaIIIIIIIIII...."))
    assert us(theirs, "step", "infeed") == [(16.0, 0.0)]
    assert us(ours, "step", "infeed") == [(16.0, 5.0)]  # the mean of the workers
    assert [row["waitingPercentMax"] for row in ours] == [62.5]


def test_one_host_without_steps_takes_them_from_all(both: Both) -> None:
    steps = draw(
        {HOST: "python |ssssssssss\n|.aaa"}, names=named("s") | {"a": "x:MatMul"}, stats=marked("s")
    )
    none = draw({HOST: "python |aaa"}, names={"a": "x:MatMul"})
    theirs, ours = both(steps, none)
    assert theirs == []
    assert [row["stepnum"] for row in ours] == ["train 0"]
