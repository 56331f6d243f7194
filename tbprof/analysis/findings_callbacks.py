"""The finding about callbacks that were left in a compiled program."""

from collections.abc import Iterator

from tbprof.analysis.bottlenecks import HIGH, MODERATE
from tbprof.analysis.finding import (
    FUNCTION_GUIDE,
    TRACE,
    Evidence,
    Finding,
    Rule,
    graded,
    milliseconds,
    percent,
    shortened,
)
from tbprof.analysis.idle_claims import callback_share, callbacks_ps
from tbprof.analysis.phases import Phase
from tbprof.analysis.python_frames import spoken

# Percentages of step time, those of other overheads.
CALLING = (MODERATE, HIGH)


def host_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """Programs that call Python in each step: debug.print, pure_callback, io_callback."""
    share = callback_share(evidence)
    grade = graded(share, *CALLING)
    if grade is None:
        return
    gain_ms, gain_ratio = evidence.gain_of_work(share, Phase.HOST_COMPUTE, Phase.OTHER)
    names = sorted({name for one in evidence.callbacks for name in one.name})
    functions = [one.function[0] for one in evidence.callbacks if one.function]
    doers = ", ".join(shortened(spoken(name)) for name in dict.fromkeys(functions))
    trace = TRACE.marking("_callback", evidence.worst_row(callbacks_ps(evidence)))
    yield Finding(
        "host_callbacks",
        grade[0],
        f"The compiled program calls Python for {percent(share)} of step time",
        f"Of an average step of {milliseconds(evidence.step_ms)} it spends "
        f"{milliseconds(share / 100 * evidence.step_ms)} in "
        f"{', '.join(shortened(name, 60) for name in names[:3])}, and goes on when Python returns"
        f"{f' from {doers}' if doers else ''}.",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        "Take debug.print and callbacks out of the compiled function once they have served, return "
        "what they need as results, or call them every few steps.",
        trace,
        trace,
        FUNCTION_GUIDE,
    )


CALLBACK_RULES: tuple[Rule, ...] = (host_callbacks,)
