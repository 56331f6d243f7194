"""Programs with one planted cause each, and without it: what the overview says of them.

The machine may be busy, which makes threads wait that the program did not make wait. So figures
are compared with those of the program's own clock, and where the machine took the processor away,
time that nothing explains may be graded high for as long as that was.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.promises.evidence_links import check_claim, claims
from recorded.causes import CAUSES, ONCE, STEPS, Cause, claims_beside, claims_of, write_table
from recorded.conftest import Shown

pytestmark = pytest.mark.slow

Runs = Callable[..., Shown]
TABLE = Path(__file__).resolve().parents[2] / "docs" / "planted_causes.md"
each_cause = pytest.mark.parametrize("cause", [pytest.param(one, id=one.id) for one in CAUSES])


@each_cause
@pytest.mark.parametrize("kind", ["planted", "without"])
def test_steps_are_as_long_as_the_program_saw_them(planted_runs: Runs, cause: Cause, kind: str):
    shown = planted_runs(cause.framework, cause.case, kind)
    assert len(shown.labels) == STEPS
    shown.check_sums()
    found, whole = shown.step_column("stepTimeMs")[:-1], shown.measured("whole")[:-1]
    assert found.sum() == pytest.approx(whole.sum(), rel=0.1, abs=10)


@each_cause
def test_what_is_planted_is_large(planted_runs: Runs, cause: Cause):
    planted = planted_runs(cause.framework, cause.case, "planted").measured("planted")
    has_cause = planted > 0
    if cause.period == ONCE:
        assert np.flatnonzero(has_cause).tolist() == [0]
    else:
        assert has_cause.sum() >= STEPS // cause.period - 1
    assert np.median(planted[has_cause]) > 10


@each_cause
def test_the_first_finding_names_what_was_planted(planted_runs: Runs, cause: Cause):
    shown = planted_runs(cause.framework, cause.case, "planted")
    claims = claims_beside(cause, shown)
    assert cause.is_named_in(claims[0]), [(one["id"], one["detail"]) for one in claims_of(shown)]
    least, most = cause.allowed_ms(shown)
    assert least <= cause.reported_ms(shown, claims[0]) <= most


@each_cause
def test_without_the_cause_nobody_names_it(planted_runs: Runs, cause: Cause):
    planted = planted_runs(cause.framework, cause.case, "planted")
    shown = planted_runs(cause.framework, cause.case, "without")
    most = max(cause.planted_ms(planted) / 4, shown.delayed_ms)
    named = [one for one in claims_of(shown) if cause.is_named_in(one)]
    assert all(cause.reported_ms(shown, one) < most for one in named if one["severity"] == "high")


@each_cause
@pytest.mark.parametrize("kind", ["planted", "without"])
def test_nothing_else_is_graded_high(planted_runs: Runs, cause: Cause, kind: str):
    shown = planted_runs(cause.framework, cause.case, kind)
    high = [one for one in claims_of(shown) if one["severity"] == "high"]
    others = [one for one in high if kind == "without" or not cause.is_named_in(one)]
    told = [(other["id"], other["title"], other["gain_ms"]) for other in others]
    assert all((other["gain_ms"] or 0) <= shown.delayed_ms for other in others), told


@each_cause
@pytest.mark.parametrize("kind", ["planted", "without"])
def test_links_show_what_is_counted(planted_runs: Runs, cause: Cause, kind: str):
    engine, run = planted_runs(cause.framework, cause.case, kind).opened
    for claim in claims(engine, run):
        check_claim(engine, run, claim)


def test_the_table_of_the_documents_is_what_was_found(planted_runs: Runs):
    rows = []
    for cause in CAUSES:
        shown = planted_runs(cause.framework, cause.case, "planted")
        claims = claims_beside(cause, shown)
        ranks = [at for at, one in enumerate(claims, start=1) if cause.is_named_in(one)]
        [rank] = ranks
        reported = cause.reported_ms(shown, claims[rank - 1])
        rows.append((cause, claims[0]["id"], cause.planted_ms(shown), reported, rank))
    write_table(TABLE, rows)
    assert TABLE.read_text(encoding="utf-8").count("| 1 |") == len(CAUSES)
