"""The finding about results that are read before the next step has been dispatched."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import OVERHEAD
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import PROFILER_GUIDE
from tbprof.advice.idle_claims import dominant_function
from tbprof.advice.pages import TRACE
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.python_frames import (
    checks_results,
    describe_frame,
    waits_for_result,
)
from tbprof.base import names
from tbprof.base.names import READS_ARRAY
from tbprof.base.values import sum_of

_NAMED = 2
_WAITS = (Activity.WAIT, Activity.COMPLETION, Activity.UNSTARTED)


def hidden_share(evidence: Evidence) -> float:
    """The percentage of step time in which devices could work if the host read results later.

    In each step, the host waits in reads, and then the devices wait while the host prepares more
    work. If results are read later, the shorter of the two times is saved. NaN without steps.
    """
    both = evidence.share_of_rows(np.minimum(*_reads_and_idle(evidence)))
    waited_ms = _waited_ms(evidence, *_WAITS)
    other_share = evidence.share(Phase.OTHER)
    return min(both, other_share - 100 * waited_ms / evidence.step_ms) if waited_ms else both


def _waited_ms(evidence: Evidence, *kinds: Activity) -> float:
    """The uncovered time in activities of these kinds, or between the ops of a program's run."""
    return sum_of(
        ms
        for share in evidence.idle
        for part, ms in share.parts
        if share.kind in kinds or part == names.RUNS_PROGRAM
    )


def _reads_and_idle(evidence: Evidence) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[rows of the job's steps] the time of reads, and the time in which nothing works."""
    reads = evidence.in_steps([(read.start_ps, read.end_ps) for read in evidence.reads])
    return reads, evidence.job.phase_ps[:, Phase.OTHER]


def blocking_read(evidence: Evidence) -> Iterator[Finding]:
    """Results that are read in each step before devices have more work."""
    share = hidden_share(evidence)
    gain = evidence.gain_of(share, Phase.OTHER)
    grade = graded(gain.own, *OVERHEAD, value=share)
    if grade is None:
        return
    reads, idle = _reads_and_idle(evidence)
    waited_ms = evidence.share_of_rows(reads) / 100 * evidence.step_ms
    idle_ms = evidence.means.mean_ms(Phase.OTHER) - _waited_ms(evidence, *_WAITS)
    trace = TRACE.marking(f"whole:{READS_ARRAY}", evidence.worst_row(np.minimum(reads, idle)))
    doer = dominant_function(evidence)
    why = (
        "while the program does other things"
        if doer is None or waits_for_result(doer.event) or doer.ms < idle_ms / 2
        else f"most of it in {shortened(describe_frame(doer.event))}"
    )
    none = "no op computes" if evidence.platform == "CPU" else "no device works"
    yield Finding(
        id="blocking_read",
        **grade,
        title=f"Blocking reads of results cost up to {percent(share)} of step time",
        detail=(
            f"In an average step of {milliseconds(evidence.step_ms)}, the program spends "
            f"{milliseconds(waited_ms)} in {READS_ARRAY} (float, item, numpy.asarray), and apart "
            f"from waits {none} for {milliseconds(idle_ms)}, {why}. These two times can overlap if "
            "what the program does then needs no results; the trace does not show whether it does."
            f"{readers_in_words(evidence)}"
        ),
        gain=gain,
        action=advice_on_checks(evidence)
        or (
            "Read results that the next step does not need after starting it (for example, the "
            "loss of the previous step), or only every few steps, and keep them on the device in "
            "between."
        ),
        evidence=trace,
        guide=PROFILER_GUIDE,
    )


def readers_in_words(evidence: Evidence) -> str:
    """A sentence on the functions that read results, "" if the frames do not show them."""
    readers = [shortened(describe_frame(frame)) for frame in _readers(evidence)]
    more = f" and {len(readers) - _NAMED} more" if len(readers) > _NAMED else ""
    return f" Results are read in {', '.join(readers[:_NAMED])}{more}." if readers else ""


def advice_on_checks(evidence: Evidence) -> str:
    """What to do if JAX itself reads results to check them, "" unless it mostly does."""
    readers = _readers(evidence)
    checking_ps = sum_of(spent for frame, spent in readers.items() if checks_results(frame))
    if not readers or 2 * checking_ps < sum_of(readers.values()):
        return ""
    return (
        "JAX checks all results of each call, since jax_debug_nans or jax_debug_infs is set: turn "
        "it off once the error is found."
    )


def _readers(evidence: Evidence) -> dict[str, int]:
    """How long functions read results, in ps on all hosts, longest first."""
    readers: dict[str, int] = {}
    for reads in evidence.reads:
        for frame, spent in zip(reads.reader, reads.reader_ps.tolist(), strict=True):
            readers[frame] = readers.get(frame, 0) + spent
    return dict(sorted(readers.items(), key=lambda item: -item[1]))


READ_RULES: tuple[Rule, ...] = (blocking_read,)
