"""Findings about instructions of programs: thresholds, and traces with one planted cause each."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.evidence import TPU, claim, evidence, finding_of, severities
from helpers.drawn.small_runs import one_run
from helpers.promises.evidence_links import check_claim, claims
from traces.planted_programs import PLANTED, planted_gpu

from tbprof.advice.evidence import Evidence
from tbprof.advice.finding import Finding
from tbprof.analysis.bounds.causes import CAUSE_NAMES, Cause
from tbprof.analysis.bounds.program_losses import ProgramLosses
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.engine.engine import DataRequest

CAUSES = {
    "wide_products": Cause.WIDE_PRODUCT, "small_products": Cause.SMALL_PRODUCT,
    "memory_bound": Cause.MEMORY, "moved_data": Cause.MOVE,
    "command_buffers": Cause.COMMAND_BUFFER, "partial_tiles": Cause.PARTIAL_TILES,
}  # fmt: skip
# Of each step of 40 µs, `p` takes 12 of the 30 in instructions; what of these could be saved:
# 160³ products take 4 µs at the 16-bit peak, and TF32 is half as fast; 8 × 512 × 1024 of them
# 4.096 µs; half of the bytes, all are in 32 bit; the transpose; 96 of 256 rows in tiles.
SAVED_US = {
    "wide_products": 6, "small_products": 12 - 4.096, "memory_bound": 6, "moved_data": 12,
    "command_buffers": None, "partial_tiles": 12 * 96 / 256,
}  # fmt: skip


@pytest.mark.parametrize("id_", PLANTED)
def test_a_planted_cause_is_found_and_shown(id_: str, tmp_path: Path):
    engine = one_run(tmp_path, h0=planted_gpu(id_))
    by_id = {one.id: one for one in claims(engine, "run")}
    assert set(by_id) & set(PLANTED) == {id_}
    one = by_id[id_]
    assert "40.0 %" in one.title
    assert "p (40.0 %" in one.detail
    saved_us = SAVED_US[id_]
    assert one.gain_ms == (None if saved_us is None else pytest.approx(saved_us / 1e3, rel=1e-3))
    check_claim(engine, "run", one)
    # The link shows what is counted: the time of all rows with the cause.
    assert (one.tool, one.view) == ("hlo_stats", {"f.cause": f"={CAUSE_NAMES[CAUSES[id_]]}"})
    (table,) = engine.tables(DataRequest("run", "hlo_stats"))
    rows = zip(
        *(table.column(name).cells() for name in ("cause", "hlo_op_name", "total_self_time")),
        strict=True,
    )
    assert [row for row in rows if row[0]] == [(CAUSE_NAMES[CAUSES[id_]], "p", 36)]


@pytest.mark.parametrize("id_", PLANTED)
def test_the_program_without_the_cause_has_no_such_finding(id_: str, tmp_path: Path):
    engine = one_run(tmp_path, h0=planted_gpu(id_, is_planted=False))
    assert not {one.id for one in claims(engine, "run")} & set(PLANTED)


def lost(cause: Cause, permille: int, saved: int = 0, argument: int = 0, **more: Any) -> Evidence:
    """Steps of 1 ms, of which a device works for 500 µs; so much of that is for a cause."""
    one = np.array([permille], np.int64)
    losses = ProgramLosses(
        1000, np.array([cause]), one, np.array([saved]), np.array([argument]), ["f.1"],
        np.array([cause]), one, ["a fact"],
    )  # fmt: skip
    return evidence({Phase.OTHER: 500}, losses=losses, **more)


@pytest.mark.parametrize(
    ("id_", "permille", "expected"),
    [
        ("wide_products", (99, 100, 399, 400), [None, "moderate", "moderate", "high"]),
        ("small_products", (99, 100, 399, 400), [None, "moderate", "moderate", "high"]),
        ("partial_tiles", (99, 100, 399, 400), [None, "moderate", "moderate", "high"]),
        ("memory_bound", (299, 300, 1000), [None, "low", "low"]),
        ("moved_data", (29, 30, 149, 150), [None, "moderate", "moderate", "high"]),
        ("command_buffers", (99, 100, 299, 300), [None, "low", "low", "moderate"]),
    ],
)
def test_findings_count_from_their_thresholds(id_, permille, expected):
    given = [lost(CAUSES[id_], count) for count in permille]
    assert severities(id_, *given) == expected
    assert finding_of(evidence(), id_) is None


def told(cause: Cause, *args: int, **more: Any) -> Finding:
    id_ = next(name for name, one in CAUSES.items() if one == cause)
    return claim(lost(cause, *args, **more), id_)


def test_gains_are_the_part_of_a_step_in_which_devices_work():
    one = told(Cause.WIDE_PRODUCT, 400, 100)
    assert (one.value, one.threshold) == (40, 40)
    assert one.gain_ms == pytest.approx(0.05)
    assert "f.1 (40.0 %, a fact)" in one.detail
    assert "they would take 75.0 % of that" in one.detail
    assert told(Cause.COMMAND_BUFFER, 400).gain_ms is None


def test_a_step_that_would_not_become_notably_shorter_is_no_grave_matter():
    """Half of a step is device work: 59 permille of that are 2.95 % of the step."""
    assert told(Cause.WIDE_PRODUCT, 400, 59).severity == "low"
    assert told(Cause.WIDE_PRODUCT, 400, 60).severity == "high"


def test_what_could_be_saved_of_waiting_for_memory_decides_its_grade():
    assert told(Cause.MEMORY, 400, 99).severity == "low"
    assert told(Cause.MEMORY, 400, 100).severity == "moderate"
    unknown = told(Cause.MEMORY, 400)
    assert unknown.gain_ms is None
    assert unknown.detail.endswith("how much of that time could be saved.")


def test_arguments_that_are_moved_could_come_in_that_order():
    assert "the host could pass" not in told(Cause.MOVE, 400, 400).detail
    assert " 10.0 % rearranges program arguments" in told(Cause.MOVE, 400, 400, 100).detail


def test_what_would_read_zero_is_not_named():
    losses = ProgramLosses(
        10_000, np.array([Cause.MOVE]), np.array([4003]), np.array([4003]), np.array([4]),
        ["f.1", "f.2"], np.array([Cause.MOVE] * 2), np.array([4000, 3]), ["", ""],
    )  # fmt: skip
    one = claim(evidence({Phase.OTHER: 500}, losses=losses), "moved_data")
    assert "f.1 (40.0 %)" in one.detail
    assert "f.2" not in one.detail
    assert "the host could pass" not in one.detail


def test_the_remedy_depends_on_the_device():
    gpu, tpu = told(Cause.WIDE_PRODUCT, 400, 10), told(Cause.WIDE_PRODUCT, 400, 10, devices=TPU)
    assert gpu.action.startswith("Use tf.keras.mixed_precision")
    assert tpu.action.startswith("Use a lower precision")
    assert gpu.title.startswith("Products of 32-bit numbers")
    losses = dataclasses.replace(lost(Cause.WIDE_PRODUCT, 400, 10).losses, fact=["f64"])
    double = claim(evidence({Phase.OTHER: 500}, losses=losses), "wide_products")
    assert double.title.startswith("Products of 64-bit numbers")
    assert double.action.startswith("Use float32 arrays")
    assert told(Cause.COMMAND_BUFFER, 400).code == "XLA_FLAGS=--xla_gpu_enable_command_buffer="
