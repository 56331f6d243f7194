"""Workers that make others wait."""

import dataclasses

import numpy as np
import pytest
from builders.couplings import coupling_of
from builders.evidence import LADDER, US, claim, evidence, finding_of, ints, late, ops, severities
from builders.job_steps import job_of

from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.step_calls import NO_CALLS
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.vocabulary.phases import Phase


def test_stragglers():
    assert severities("straggler", *map(late, (4, 5, 19, 20, 21))) == LADDER
    finding = claim(late(20), "straggler")
    assert finding.title == "GPU:0 makes the others wait for 20.0 % of step time"
    longer = "20 µs longer per step (95 % confidence: 20 µs to 20 µs over 4 steps) than GPU:1"
    assert longer in finding.detail
    assert "GPU:1 waits 20 µs longer in collectives" in finding.detail
    assert finding.gain_ms == pytest.approx(0.02)
    assert finding.evidence.query == "worker=0"
    untied = dataclasses.replace(late(20), couplings=[])
    assert finding_of(untied, "straggler") is None


def test_what_the_thread_of_a_late_worker_did_longer_is_named():
    """GPU:0 has no work for 20 µs of each step, for 15 of which `log` sleeps; GPU:1 for none."""
    step = {
        "GPU:0": {Phase.COMPUTE_16: 50, Phase.OTHER: 20, Phase.COLLECTIVES: 30},
        "GPU:1": {Phase.COMPUTE_16: 50, Phase.COLLECTIVES: 50},
    }
    job = job_of([step] * 4)
    rows = job.row[job.worker == 0]
    spent = IdleTime(
        step=np.concatenate([rows, rows]),
        activity=np.repeat(ints(0, 1), 4),
        time_ps=np.repeat(ints(15 * US, 5 * US), 4),
        kind=ints(Activity.PYTHON, Activity.RUNTIME),
        name=["$train.py:3 log", ""],
        part=["$time sleep", ""],
        is_driver=np.array([True, True]),
        open_ps=np.zeros(8, np.int64),
        calls=NO_CALLS,
    )
    given = dataclasses.replace(
        evidence(),
        job=job,
        means=step_means(job),
        couplings=[coupling_of(job.worker_name)],
        idle_time=[spent],
    )
    finding = claim(given, "straggler")
    named = "most of it time that no op covers (log (train.py:3), in time.sleep)"
    assert named in finding.detail
    little = dataclasses.replace(spent, time_ps=spent.time_ps // 2)
    finding = claim(dataclasses.replace(given, idle_time=[little]), "straggler")
    assert "most of it time that no op covers." in finding.detail


def test_waits_for_a_late_worker_are_not_called_communication_too():
    """Both spend 50 µs of 100 in collectives, the late one 30 less: that is communication."""
    given = late(30)
    finding = claim(given, "collectives")
    assert finding.title == (
        "35.0 % of step time goes to collective communication, 20.0 % without waiting for GPU:0"
    )
    assert finding.gain_ms == pytest.approx(0.02)
    # What is left is too little.
    assert finding_of(late(48), "collectives") is None
    # Without a late worker all of it is communication.
    alike = claim(late(0), "collectives")
    assert alike.gain_ms == pytest.approx(0.05)


def test_gradients_are_mentioned_only_where_ops_compute_some():
    def action(name: str) -> str:
        given = dataclasses.replace(late(0), ops=ops((True, name, "dot", 10, False)))
        finding = claim(given, "collectives")
        return finding.action

    assert action("jit(step)/transpose(jvp(dense))/dot").startswith("Reduce gradients in fewer")
    assert action("jit(predict)/dense/dot").startswith("Communicate in fewer, larger transfers")
