"""The corpus of planted causes: what each program plants, and what the overview says of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from helpers.tables import records
from numpy.typing import NDArray
from recorded.conftest import Shown

STEPS = 14
EACH = 4
ONCE = 0

_UNCOVERED = ("all_others", "gap_between_steps")

_TITLE = """# Planted causes

Small TensorFlow and JAX programs, each with one planted cause of lost time that the program itself
measures, and the same program without it (`tests/recorded/scripts/record_planted_*.py`).
`tests/recorded/test_planted_causes.py` records both and checks that

- the first finding of the overview names the cause,
- its figure is within 15 % of what was planted,
- the program without the cause does not have the finding, and
- no other finding of either program is graded high.

On a busy machine, programs also wait for a processor. The figure may be off by that time, which may
have a separate finding.

The test run writes this table, and leaves it unchanged if only figures differ. They are from one
recording, in ms of a typical step, or of the first step if the cause is only in that step.

"""
_HEAD = (
    "| cause | program | first finding | planted | reported | rank |",
    "| --- | --- | --- | --- | --- | --- |",
)


@dataclass(frozen=True)
class Cause:
    """What a case of `record_planted_<framework>.py` plants: in each `period`-th step, or `ONCE`.

    The first finding is `finding`, and its texts hold each of `words`.
    """

    name: str
    framework: str
    case: str
    finding: str
    words: tuple[str, ...]
    period: int = 1

    @property
    def id(self) -> str:
        """For the names of tests."""
        return f"{self.framework}-{self.case}"

    def planted_ms(self, shown: Shown, name: str = "planted") -> float:
        """What the program's clock measured, as `reported_ms` counts it."""
        planted, value = shown.measured("planted"), shown.measured(name)
        if self.period == ONCE:
            return float(value[0])
        if self.period > 1:
            return float(value[planted > 0].mean()) / self.period
        return float(value[typical_steps(shown)].mean())

    def allowed_ms(self, shown: Shown) -> tuple[float, float]:
        """What a finding may report: 15 % less or more.

        Time in which the machine gave the program no processor may be counted or not. If a thread
        that runs ops has none, no op covers the time of the loop, which waits for it.
        """
        planted, delayed, held_up = (
            self.planted_ms(shown, name) for name in ("planted", "delayed", "held_up")
        )
        if self.finding in _UNCOVERED:
            held_up = max(held_up, shown.delayed_ms)
        return 0.85 * (planted - delayed), 1.15 * planted + held_up

    def reported_ms(self, shown: Shown, finding: dict[str, Any]) -> float:
        """What a finding promises; of what happened once, which promises nothing, what it took.

        The finding is about all slow steps: on a busy machine, others may be slow, too.
        """
        value = finding["value"] / 100
        if self.period == ONCE:
            took_ms, is_typical = shown.step_column("stepTimeMs"), typical_steps(shown)
            is_other = recorded_steps(shown) & ~is_typical & (shown.measured("planted") == 0)
            others_ms = (took_ms[is_other] - took_ms[is_typical].mean()).sum()
            return float(value * took_ms[recorded_steps(shown)].sum() - others_ms)
        return float(finding["gain_ms"])

    def is_named_in(self, finding: dict[str, Any]) -> bool:
        """Whether a finding is about this cause."""
        texts = " ".join(finding[part] for part in ("title", "detail", "action"))
        return finding["id"] == self.finding and all(word in texts for word in self.words)


def _of_tensorflow() -> Iterable[Cause]:
    for name, case, finding, *texts in (
        ("a slow map", "slow_map", "input_bound", "Map"),
        ("a slow generator", "slow_generator", "input_bound", "Generator"),
        ("threads that another stage fills", "filled_pool", "input_bound", "ParallelMap"),
        ("no prefetch", "no_prefetch", "input_bound", "Map", ".prefetch("),
        ("files read again in each step", "uncached_reading", "input_bound", "TFRecord"),
        ("ops one by one", "eager_ops", "eager_ops", "Mul", "AddV2"),
        ("retracing for Python arguments", "retracing", "retracing", "schedule"),
        ("NumPy in each step, no frames", "numpy_metrics", "all_others", "not covered by any"),
        ("Python in a function", "python_function", "host_callbacks", "PyFunc", "py_function"),
        ("a callback of Keras, no frames", "keras_callback", "gap_between_steps", "callbacks"),
    ):
        yield Cause(name, "tensorflow", case, finding, tuple(texts))
    words = ("4th", "output")
    yield Cause("a checkpoint", "tensorflow", "checkpoint", "periodic_steps", words, EACH)
    yield Cause("a first step", "tensorflow", "first_step", "slow_steps", ("train 20",), ONCE)


def _of_jax() -> Iterable[Cause]:
    for name, case, finding, *texts in (
        ("a batch function that sleeps", "slow_batches", "python_overhead", "load_batch", "sleep"),
        ("the same, no frames", "slow_batches_unrecorded", "all_others", "not covered by any"),
        ("NumPy between steps", "numpy_between_steps", "python_overhead", "summarize"),
        ("arrays allocated in each step", "allocation_churn", "python_overhead", "make_buffer"),
        ("results read in each step", "blocking_read", "blocking_read", "np.asarray(jax.Array)"),
        ("a slow thread that loads", "slow_loader", "python_overhead", "queue.get"),
        ("a sleep that is annotated", "annotated_wait", "python_overhead", "time.sleep"),
        ("a callback of a program", "host_callback", "host_callbacks", "pure_callback"),
        ("large copies to the device", "host_copies", "input_bound", "sending data to devices"),
        ("ops one by one", "eager_ops", "eager_ops", "multiply", "add"),
        ("functions created in each step", "compiling", "compilation", "14 of 14", "jax.jit"),
    ):
        yield Cause(name, "jax", case, finding, tuple(texts))
    for name, case, *words in (
        ("shapes that change", "changing_shapes", "compilation"),
        ("collecting garbage", "garbage", "garbage was collected"),
        ("a checkpoint", "checkpoint", "save_checkpoint"),
        ("an evaluation", "evaluation", "host compute", "only these steps call long_step"),
    ):
        yield Cause(name, "jax", case, "periodic_steps", ("4th", *words), EACH)
    yield Cause("a first step", "jax", "first_step", "slow_steps", ("train 20",), ONCE)
    yield Cause("a late device of four", "ranks", "late_rank", "straggler", ("CPU device 2",))


CAUSES = (*_of_tensorflow(), *_of_jax())


def recorded_steps(shown: Shown) -> NDArray[np.bool_]:
    """[steps] whether a step was recorded whole."""
    return ~np.array(shown.steps.column("isTruncated").cells(), bool)


def typical_steps(shown: Shown) -> NDArray[np.bool_]:
    """[steps] whether averages are of a step."""
    return recorded_steps(shown) & ~np.array(shown.steps.column("isOutlier").cells(), bool)


def claims_of(shown: Shown) -> list[dict[str, Any]]:
    """The findings of the overview in its order."""
    return records(shown.overview[7])


def claims_beside(cause: Cause, shown: Shown) -> list[dict[str, Any]]:
    """The same without what other programs may have caused: they delay whatever a step does.

    Those are findings on less time than threads waited for a processor.
    """
    return [
        one
        for one in claims_of(shown)
        if cause.is_named_in(one) or one["gain_ms"] is None or one["gain_ms"] > shown.delayed_ms
    ]


def write_table(path: Path, rows: Iterable[tuple[Cause, str, float, float, int]]) -> None:
    """Writes the document of (cause, finding, planted ms, reported ms, rank) unless only figures
    changed.
    """
    lines = [
        f"| {cause.name}{_when(cause)} | {cause.framework}/{cause.case} | `{finding}` "
        f"| {planted:.0f} ms | {reported:.0f} ms | {rank} |"
        for cause, finding, planted, reported, rank in rows
    ]
    text = _TITLE + "\n".join((*_HEAD, *lines)) + "\n"
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    if _without_figures(text) != _without_figures(known):
        path.write_text(text, encoding="utf-8")


def _when(cause: Cause) -> str:
    return f" in each {cause.period}th step" if cause.period > 1 else ""


def _without_figures(text: str) -> list[str]:
    words = text.split()
    return [word for at, word in enumerate(words) if words[at + 1 : at + 2] != ["ms"]]
