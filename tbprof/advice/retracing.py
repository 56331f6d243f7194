"""Functions that are retraced, or run eagerly, and their share of steps."""

from __future__ import annotations

from tbprof.advice.bottlenecks import MODERATE
from tbprof.advice.evidence import Evidence
from tbprof.advice.outlier_causes import excess_ps
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass

# Percentages of the time in tf.functions. Source: tools-steps.md, section 9.
EXPENSIVE = (20.0, 50.0)
# Smallest share of the outliers' excess time that compilation must have.
_PART = 0.2


@dataclass(frozen=True, slots=True)
class CostlyCalls:
    """Calls that traced, or ran eagerly, of all functions with one name.

    `share` is a percentage of the time in functions; `functions` is the known number of functions
    with the name; `modes` is a subset of "traced", "eager".
    """

    share: float
    ps: int
    calls: int
    tracings: int
    functions: int
    modes: frozenset[str]


def costly_functions(evidence: Evidence) -> dict[str, CostlyCalls]:
    """Costly calls by function name: those that take `EXPENSIVE[0]` or more, costliest first."""
    costly: dict[str, CostlyCalls] = {}
    total_ps = sum(int(facts.function_ps.sum()) for facts in evidence.hosts)
    for facts in evidence.hosts if total_ps > 0 else ():
        for index, (name, mode) in enumerate(
            zip(facts.function_name, facts.function_mode, strict=True)
        ):
            if mode != "eager" and not mode.startswith("traced"):
                continue
            previous = costly.get(name, CostlyCalls(0.0, 0, 0, 0, 1, frozenset()))
            ps = previous.ps + int(facts.function_ps[index])
            costly[name] = CostlyCalls(
                100 * ps / total_ps,
                ps,
                previous.calls + int(facts.function_calls[index]),
                max(previous.tracings, int(facts.tracings[index])),
                max(previous.functions, int(facts.functions[index])),
                previous.modes | {"eager" if mode == "eager" else "traced"},
            )
    ranked = sorted(costly.items(), key=lambda item: -item[1].share)
    return {
        name: entry
        for name, entry in ranked
        if entry.share >= EXPENSIVE[0] and not _is_first_call(entry)
    }


def _is_first_call(costly: CostlyCalls) -> bool:
    """Whether only one call traced: the first call of a function always does."""
    return costly.calls == 1 and costly.tracings <= 1 and costly.modes == {"traced"}


def retraced_ms(evidence: Evidence) -> float:
    """The time of costly calls in an average step, at most that of phases that it may be in."""
    steps = len(evidence.job.label)
    if not steps or not evidence.step_ms > 0:
        return 0.0
    spent = sum(entry.ps for entry in costly_functions(evidence).values()) / 1e9
    per_step = spent / steps / max(len(evidence.hosts), 1)
    return min(per_step, evidence.means.mean_ms(Phase.COMPILATION, Phase.OTHER, *evidence.work))


def is_in_outliers(evidence: Evidence) -> bool:
    """Whether compilation makes steps outliers, and typical steps hardly compile.

    The findings about outliers report it in that case.
    """
    outliers = evidence.outliers
    if evidence.share(Phase.COMPILATION) >= MODERATE or not outliers.step.size:
        return False
    excess = excess_ps(evidence.means, outliers, outliers.step)
    return bool(excess[Phase.COMPILATION] >= _PART * excess.sum() > 0)
