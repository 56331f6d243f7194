"""What to free first: rules over one allocator's peak and over its steps."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from tbprof.advice.finding import SEVERITIES, Severity, graded, percent, size
from tbprof.advice.memory_limits import FRAGMENTED, FULL, IN_USE, owner
from tbprof.analysis.memory.memory_breakdown import Age
from tbprof.base.records import dataclass

# Percentages of the bytes in use at the peak, ours: a group below the first is not what to begin
# with, one above the second is most of what there is.
GROUP = (10.0, 50.0)
# Percentage that an allocator gives out beyond what was asked for: rounding takes less.
ROUNDED = 10.0
# A leak shows in this share of so many steps at least, the first left out: it makes what the
# program keeps. It is urgent where the memory is full after so few more.
GROWING_STEPS = 3
GROWING_SHARE = 0.6
SOON = 100

# What is in use, by what can be done about it.
ACTIVATIONS, TEMPORARIES, WEIGHTS = "activations", "temporaries", "weights"
EARLIER, BEFORE, STACK, UNNAMED = "earlier_steps", "before_the_recording", "stack", "unnamed"
_KIND_OF_REGION = {
    "output": ACTIVATIONS,
    "temp": TEMPORARIES,
    "persist": WEIGHTS,
    "dynamic": WEIGHTS,
    "persist/dynamic": WEIGHTS,
}
_CALLED: Mapping[str, str] = {
    ACTIVATIONS: "Activations and gradients",
    TEMPORARIES: "Temporaries of ops",
    WEIGHTS: "Weights, optimizer state and constants",
    EARLIER: "Tensors of earlier steps",
    BEFORE: "What was allocated before the recording",
    STACK: "The stack of compiled programs",
    UNNAMED: "Allocations of no named kind",
}


@dataclass(frozen=True, slots=True)
class MemoryFinding:
    """A claim about one allocator, why it holds, and what to do.

    `bytes` are what it is about and `share` those as a part (0 to 1) of what is in use at the
    peak, or of the capacity where it is about room; None where it cannot be told.
    """

    id: str
    severity: Severity
    title: str
    detail: str
    action: str
    bytes: int | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the breakdown at the peak that are dealt with alike; `largest` is one for a text."""

    kind: str
    bytes: int
    allocations: int
    largest: str


@dataclass(frozen=True, slots=True)
class PeakFacts:
    """What is known of an allocator: -1 bytes and NaN where it is not.

    `groups` are the groups at the peak, `requested_bytes` and `allocated_bytes` the sums over
    allocations there. `excess_bytes` are what allocations that seem alive exceed what is in use by,
    `addressless` counts allocations that cannot be matched with releases.
    `end_bytes` [steps] is what was in use at the end of each step, `leaks` texts of the ops whose
    live bytes grow, the fastest first.
    """

    name: str
    is_device: bool
    is_tensorflow: bool
    is_summed: bool
    peak_bytes: int
    capacity_bytes: int
    free_bytes: int
    fragmentation: float
    groups: Sequence[Group]
    requested_bytes: int
    allocated_bytes: int
    excess_bytes: int
    addressless: int
    end_bytes: Sequence[int]
    leaks: Sequence[str]

    @property
    def used_percent(self) -> float:
        """The percentage of the capacity that is in use at the peak, NaN where it is unknown."""
        if self.peak_bytes < 0 or self.capacity_bytes <= 0:
            return float("nan")
        return 100 * self.peak_bytes / self.capacity_bytes


def kind_of(region: str, age: Age) -> str:
    """The group that allocations of a region type and an age belong to."""
    if age in (Age.STACK, Age.BEFORE):
        return STACK if age == Age.STACK else BEFORE
    kind = _KIND_OF_REGION.get(region, UNNAMED)
    return EARLIER if age == Age.EARLIER and kind != WEIGHTS else kind


def find_memory_findings(facts: PeakFacts) -> list[MemoryFinding]:
    """What is to be said of an allocator: how full it is, then the rest, the most severe first."""
    found = [finding for rule in _RULES for finding in rule(facts)]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return [*_near_capacity(facts), *found]


def _near_capacity(facts: PeakFacts) -> Iterator[MemoryFinding]:
    """How full the memory is at the peak, or how much room there is."""
    used = facts.used_percent
    if np.isnan(used):
        return
    grade = graded(used, *FULL)
    left = facts.capacity_bytes - facts.peak_bytes
    detail = (
        f"{size(facts.peak_bytes)} of {size(facts.capacity_bytes)} are in use at the peak; "
        f"{size(left)} are left."
    )
    share = used / 100
    if grade is None:
        if not facts.is_device:
            return
        yield MemoryFinding(
            "room",
            "good",
            f"{percent(100 - used)} of the memory of {owner(facts.name)} is free at its peak",
            detail,
            "There is room: a larger batch may use the device better.",
            left,
            1 - share,
        )
        return
    yield MemoryFinding(
        "near_capacity",
        grade[0],
        f"The memory of {owner(facts.name)} is {percent(used)} full at its peak",
        f"{detail} A little more and the program fails for want of memory.",
        "Free the largest group below first."
        + (
            " If it fails, RunOptions(report_tensor_allocations_upon_oom=True) lists what was "
            "alive."
            if facts.is_tensorflow and facts.is_device
            else ""
        ),
        facts.peak_bytes,
        share,
    )


def _groups(facts: PeakFacts) -> Iterator[MemoryFinding]:
    """The groups of what is in use at the peak that are worth a thought, the largest first."""
    if facts.peak_bytes <= 0:
        return
    pressure = graded(facts.used_percent, *FULL)
    groups = sorted(facts.groups, key=lambda group: -group.bytes)
    for rank, group in enumerate(groups):
        share = group.bytes / facts.peak_bytes
        if 100 * share < GROUP[0]:
            break
        severity: Severity = "low"
        if pressure is not None:
            severity = pressure[0] if rank == 0 or 100 * share >= GROUP[1] else "moderate"
        yield MemoryFinding(
            group.kind,
            severity,
            f"{_CALLED[group.kind]}: {percent(100 * share)} of the peak",
            _detail(group),
            _ACTIONS[group.kind](facts.is_tensorflow),
            group.bytes,
            share,
        )


def _detail(group: Group) -> str:
    """What the group is made of."""
    if group.kind == BEFORE:
        return (
            f"{size(group.bytes)} were in use already when the recording began, so the trace "
            "cannot say by what: mostly weights and optimizer state."
        )
    if group.kind == STACK:
        return (
            f"{size(group.bytes)} are reserved for the temporaries of compiled programs, "
            "activations among them."
        )
    count = "1 allocation" if group.allocations == 1 else f"{group.allocations:,} allocations"
    return f"{size(group.bytes)} in {count}. The largest: {group.largest}."


def _fragmentation(facts: PeakFacts) -> Iterator[MemoryFinding]:
    """Free memory in pieces that a large tensor does not fit into."""
    if np.isnan(facts.fragmentation) or not facts.used_percent >= IN_USE:
        return
    scattered = 100 * facts.fragmentation
    grade = graded(scattered, *FRAGMENTED)
    if grade is None or facts.free_bytes < 0:
        return
    lost = round(facts.free_bytes * facts.fragmentation)
    yield MemoryFinding(
        "fragmentation",
        "moderate" if grade[0] == "high" else "low",
        f"The free memory of {owner(facts.name)} is {percent(scattered)} fragmented at the peak",
        f"Of {size(facts.free_bytes)} that are free the largest piece has "
        f"{size(facts.free_bytes - lost)}: a larger tensor does not fit although there is room.",
        "Use few different sizes (constant batch and sequence lengths), and allocate large tensors "
        "first." + _allocators(facts),
        lost,
        lost / facts.capacity_bytes,
    )


def _allocators(facts: PeakFacts) -> str:
    """Other allocators than the one that scatters its memory."""
    if not facts.is_tensorflow:
        return (
            " In JAX, XLA_PYTHON_CLIENT_ALLOCATOR=platform gives memory back at once (slower), and "
            "XLA_PYTHON_CLIENT_MEM_FRACTION sets how much is taken from the start."
        )
    is_bfc = facts.is_device and facts.name.lower().endswith("bfc")
    # The trace's memory events do not say whose GPU it is.
    return _ASYNC if is_bfc else ""


_ASYNC = " On an NVIDIA GPU set TF_GPU_ALLOCATOR=cuda_malloc_async, which fragments less."


def _growth(facts: PeakFacts) -> Iterator[MemoryFinding]:
    """What stays in use from step to step.

    The first step makes what the program keeps, and the last may still be at work.
    """
    ends = np.array(facts.end_bytes, np.int64)[1:-1]
    growth = np.diff(ends)
    if growth.size < GROWING_STEPS or (ends < 0).any():
        return
    grows = int(ends[-1] - ends[0]) // growth.size
    if grows <= 0 or np.mean(growth > 0) < GROWING_SHARE:
        return
    until = ""
    severity: Severity = "moderate"
    if facts.capacity_bytes > 0:
        steps = max((facts.capacity_bytes - int(ends[-1])) // grows, 0)
        severity = "high" if steps < SOON else severity
        until = f" At this rate it is full after {steps:,} more steps."
    leaks = f" What grows: {'; '.join(facts.leaks)}." if facts.leaks else ""
    yield MemoryFinding(
        "growth",
        severity,
        f"{owner(facts.name)} keeps {size(grows)} more after every step",
        f"In use at the end of the second step: {size(int(ends[0]))}, of the last but one of "
        f"{ends.size + 2}: {size(int(ends[-1]))}.{until}{leaks}",
        "Look for references that Python keeps: tensors appended to a list (losses: append "
        "float(loss)), tf.functions and jitted functions that are made anew in every step, caches, "
        "summaries that are never written.",
        grows,
        grows / facts.capacity_bytes if facts.capacity_bytes > 0 else None,
    )


def _rounding(facts: PeakFacts) -> Iterator[MemoryFinding]:
    """What an allocator gives out beyond what it is asked for."""
    if facts.requested_bytes <= 0 or facts.peak_bytes <= 0:
        return
    extra = facts.allocated_bytes - facts.requested_bytes
    if 100 * extra < ROUNDED * facts.peak_bytes:
        return
    yield MemoryFinding(
        "rounding",
        "low",
        f"{size(extra)} more are given out than were asked for at the peak",
        f"{size(facts.requested_bytes)} were asked for, {size(facts.allocated_bytes)} were given "
        "out: the allocator rounds sizes up, and may hand out a larger piece whole.",
        "Join many small tensors into few large ones, and keep sizes constant from step to step.",
        extra,
        extra / facts.peak_bytes,
    )


def _missing(facts: PeakFacts) -> Iterator[MemoryFinding]:
    """Allocations that seem alive, as their releases were not recorded."""
    if facts.excess_bytes <= 0:
        return
    yield MemoryFinding(
        "missing_releases",
        "low",
        f"{size(facts.excess_bytes)} more seem alive at the peak than are in use",
        "Releases of some allocations are missing in the trace, so that rows of the breakdown may "
        "be gone already; what is in use is the allocator's own figure, and is right.",
        "Look at an instant closer to the start of the recording.",
        facts.excess_bytes,
        facts.excess_bytes / facts.peak_bytes if facts.peak_bytes > 0 else None,
    )


def _addressless(facts: PeakFacts) -> Iterator[MemoryFinding]:
    """Allocations of which nobody can tell when they end."""
    if facts.addressless:
        yield MemoryFinding(
            "no_addresses",
            "low",
            f"{facts.addressless:,} allocations have no address",
            "So it is not known when they are released: what they hold is counted with what was "
            "allocated before the recording began.",
            "Record with a newer version of the framework.",
            None,
            None,
        )


def _unknown(facts: PeakFacts) -> Iterator[MemoryFinding]:
    """Bytes in use that are a sum of events, for want of the allocator's own figure."""
    if not facts.is_summed:
        return
    yield MemoryFinding(
        "summed",
        "low",
        f"{owner(facts.name)} did not record how much it has in use",
        "What is shown is the sum of what it gave out and got back since the recording began; "
        "what it held before that is missing.",
        "Record from the program's start to see all of it.",
        None,
        None,
    )


def _either(tensorflow: str, jax: str) -> Callable[[bool], str]:
    return lambda is_tensorflow: tensorflow if is_tensorflow else jax


_START = (
    "To see by what, record from the program's start: start the profiler before the model is built."
)
_ACTIONS: Mapping[str, Callable[[bool], str]] = {
    ACTIVATIONS: _either(
        "A smaller batch always helps. Mixed precision "
        "(tf.keras.mixed_precision.set_global_policy('mixed_float16')) halves them; "
        "tf.recompute_grad around large blocks recomputes them in place of keeping them.",
        "A smaller batch always helps. bfloat16 halves them; jax.checkpoint around large blocks "
        "recomputes them in place of keeping them.",
    ),
    TEMPORARIES: _either(
        "Compile with XLA (tf.function(jit_compile=True)), which fuses ops and needs fewer of "
        "them; split large ops, or limit cuDNN's workspace: TF_CUDNN_WORKSPACE_LIMIT_IN_MB.",
        "Put more of the step into one jax.jit, which fuses ops, and split the largest ops.",
    ),
    WEIGHTS: _either(
        "Use an optimizer with less state (SGD or Adafactor in place of Adam), spread weights over "
        "devices (DTensor, ParameterServerStrategy), or make the largest tables smaller.",
        "Use an optimizer with less state (Adafactor in place of Adam), shard weights and "
        "optimizer state over devices (NamedSharding), and donate the old ones to the step: "
        "jax.jit(step, donate_argnums=...).",
    ),
    EARLIER: _either(
        "They are still referenced: let go of what Python keeps of earlier steps (outputs, losses, "
        "tapes; del them before the next step, or convert them with .numpy()).",
        "They are still referenced: let go of what Python keeps of earlier steps (outputs, losses, "
        "old parameters), and donate buffers: jax.jit(step, donate_argnums=...).",
    ),
    BEFORE: _either(
        f"{_START} Fewer weights, or an optimizer with less state, make it smaller.",
        f"{_START} jax.profiler.device_memory_profile() says who holds what; sharding weights and "
        "donating buffers makes it smaller.",
    ),
    STACK: _either(
        "A smaller batch and bfloat16 make it smaller, and so does recomputing activations "
        "(tf.recompute_grad).",
        "A smaller batch and bfloat16 make it smaller, and so does recomputing activations "
        "(jax.checkpoint) and offloading them to the host; donated buffers are used again "
        "(jax.jit(step, donate_argnums=...)).",
    ),
    UNNAMED: _either(
        "The recorder did not say what kind they are: a smaller batch shows whether they are "
        "activations.",
        "JAX does not name its allocations. jax.profiler.device_memory_profile() says who holds "
        "what; arguments that a step replaces can be donated: jax.jit(step, donate_argnums=...).",
    ),
}
_RULES: tuple[Callable[[PeakFacts], Iterator[MemoryFinding]], ...] = (
    _groups,
    _growth,
    _fragmentation,
    _rounding,
    _missing,
    _addressless,
    _unknown,
)
