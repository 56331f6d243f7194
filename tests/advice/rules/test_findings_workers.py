"""Workers that make others wait."""

import dataclasses

import pytest
from builders.evidence import LADDER, found, late, severities


def test_stragglers():
    assert severities("straggler", *map(late, (4, 5, 19, 20, 21))) == LADDER
    finding = found(late(20), "straggler")
    assert finding is not None
    assert finding.title == "GPU:0 makes the others wait for 20.0 % of step time"
    assert "20 µs longer per step (95 %: 20 µs to 20 µs over 4 steps) than GPU:1" in finding.detail
    assert "GPU:1 waits 20 µs longer in collectives" in finding.detail
    assert finding.gain_ms == pytest.approx(0.02)
    assert finding.evidence.query == "worker=0"
    untied = dataclasses.replace(late(20), couplings=[])
    assert found(untied, "straggler") is None


def test_waits_for_a_late_worker_are_not_called_communication_too():
    """Both spend 50 µs of 100 in collectives, the late one 30 less: that is communication."""
    given = late(30)
    finding = found(given, "collectives")
    assert finding is not None
    assert finding.title == (
        "35.0 % of step time goes to collective communication, 20.0 % without waiting for GPU:0"
    )
    assert finding.gain_ms == pytest.approx(0.02)
    # What is left is too little.
    assert found(late(48), "collectives") is None
    # Without a late worker all of it is communication.
    alike = found(late(0), "collectives")
    assert alike is not None
    assert alike.gain_ms == pytest.approx(0.05)
