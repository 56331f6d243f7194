"""Findings about what programs compute again, just below, at and above their thresholds."""

import dataclasses

import pytest
from builders.evidence import claim, evidence, finding_of, memory, ops, severities

from tbprof.advice.evidence import Evidence
from tbprof.analysis.vocabulary.phases import Phase

from .test_findings_tpu import WHOLE, tpu, tpu_ops

AGAIN = "jit(f)/transpose(jvp())/checkpoint/rematted_computation/dot_general"


def of(again: int, name: str = AGAIN, *, is_device: bool = True) -> Evidence:
    """Steps of 1 ms, of which a GPU computes for 500 µs."""
    rows = ((is_device, name, "dot_general", again, False),
            (True, "jit(f)/dot_general", "dot_general", 1000 - again, False))  # fmt: skip
    return evidence({Phase.OTHER: 500}, ops=ops(*rows))


def test_what_a_program_computes_again():
    # Devices work for half of a step, so 5 % of their work are 2.5 % of it.
    assert severities("recomputation", *map(of, (49, 50, 60, 199, 200, 900))) == [
        None, "low", "moderate", "moderate", "high", "high",
    ]  # fmt: skip
    finding = claim(of(200), "recomputation")
    assert finding.value == pytest.approx(20.0)
    assert finding.gain_ms == pytest.approx(0.1)
    assert finding.detail.startswith("The program requests it (jax.checkpoint): jit(f)/transpose")
    assert "free" not in finding.detail
    assert "rematted_computation" in finding.evidence.query


def test_other_ops_and_hosts_do_not_count():
    assert finding_of(of(500, "jit(f)/checkpoint/dot_general"), "recomputation") is None
    assert finding_of(of(500, is_device=False), "recomputation") is None
    assert finding_of(evidence(), "recomputation") is None


def test_free_memory_is_told():
    given = dataclasses.replace(of(200), memory=memory(("GPU_0_bfc", True, 2**30, 2**32, 0.0)))
    detail = claim(given, "recomputation").detail
    assert "The fullest device has 3 GiB free at its peak." in detail


@pytest.mark.parametrize(
    ("own", "severity"), [(49, None), (50, "low"), (60, "moderate"), (200, "high")]
)
def test_what_the_compiler_computes_again(own: int, severity: str | None):
    rows = tpu_ops((WHOLE, "add", own), (WHOLE, "add", 1000 - own))
    rows.name[0] = "add.7.remat2"
    finding = finding_of(tpu(rows, {Phase.OTHER: 500}), "recomputation")
    assert (finding.severity if finding else None) == severity
    if finding is not None:
        assert finding.detail.startswith("The compiler chose it (rematerialization): m/op.0.")
        assert finding.action.startswith("The compiler recomputes results if")
