"""What limits an average step, as a class and a sentence; thresholds are inclusive, in percent."""

from __future__ import annotations

from collections.abc import Sequence

from tbprof.advice.sentences import percent as percent_text
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.input.input_ops import InputOps
from tbprof.analysis.job.idle_shares import ACTIVITY_CLAUSES, IdleShare, longest_share
from tbprof.analysis.job.step_means import StepMeans
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.analysis.vocabulary.python_frames import describe_frame, waits_for_result
from tbprof.base.records import dataclass
from tbprof.base.values import sum_of

# Shares of the step time. Source: thresholds of the TensorFlow profiler's statements.
HIGHLY_INPUT_BOUND = 20.0
MODERATELY_INPUT_BOUND = 5.0
POTENTIALLY_INPUT_BOUND = 3.0  # of time that nothing recorded explains
HIGHLY_OUTPUT_BOUND = 20.0
MODERATELY_OUTPUT_BOUND = 5.0
HIGH = 15.0
MODERATE = 3.0
# (moderate, high) percentages of step time from which findings are reported: for overheads, and for
# waits (for input, copies and late workers).
OVERHEAD = (MODERATE, HIGH)
WAITING = (MODERATELY_INPUT_BOUND, HIGHLY_INPUT_BOUND)
_SHOWN = 0.05  # a smaller percentage would read 0.0 %
# Threads of tf.data that work at the same time, on average over the steps.
CONTENDING = 2.0
# Percentage of the compute time; a smaller share is reported.
LITTLE_16_BIT = 10.0

# Classes: where the input bottleneck is, and how large other bottlenecks are.
HOST, BOTH, DEVICE, UNKNOWN = "host", "both", "device", "unknown"
HIGH_CLASS, MODERATE_CLASS, NO_CLASS = "high", "moderate", "no"


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """A class, the share of the step time (percent, NaN: unknown) behind it, and a sentence.

    The sentence is empty if there is nothing to say. `is_guess` marks time that may or may not be
    spent on input.
    """

    level: str
    percent: float
    statement: str
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class LongestFunction:
    """The text `batch (train.py:14) takes 62.7 %`, and that percentage of the step."""

    text: str
    percent: float


@dataclass(frozen=True, slots=True)
class Bottlenecks:
    """What may limit a step, each independently; `precision` is a sentence or empty."""

    input: Bottleneck
    output: Bottleneck
    collectives: Bottleneck
    kernel_launch: Bottleneck
    other: Bottleneck
    precision: str


def find_bottlenecks(
    means: StepMeans,
    pipeline: InputOps | None = None,
    *,
    is_tpu: bool = False,
    idle: Sequence[IdleShare] = (),
    is_transfer: bool = False,
) -> Bottlenecks:
    """The bottlenecks of a job's counted steps; `is_transfer`: input is data sent to devices.

    Unexplained time may be input only if waits for input are not recorded, that is, without tf.data
    and infeeds. If `idle` is known, what threads did during that time is named instead.
    """
    if not means.steps or not means.mean_ms() > 0:
        none = Bottleneck(NO_CLASS, float("nan"), "")
        return Bottlenecks(input_bottleneck(float("nan"), 0.0), none, none, none, none, "")
    input_percent = means.share(Phase.INPUT)
    other_percent = means.share(Phase.OTHER)
    shows = input_percent > 0 if pipeline is None or is_tpu else False
    is_recorded = shows or (pipeline is not None and pipeline.has_pipeline)
    other_ms = sum_of(idle_share.ms for idle_share in idle if idle_share.kind == Activity.UNCOVERED)
    other_ms = other_ms if idle else means.mean_ms(Phase.OTHER)
    of_input = input_bottleneck(
        input_percent,
        100 * other_ms / means.mean_ms(),
        is_recorded=is_recorded,
        longest=_longest_function(longest_share(idle), means.mean_ms()),
        is_transfer=is_transfer and not is_tpu,
    )
    bits_16 = means.share(Phase.COMPUTE_16) + means.share(Phase.COMPUTE_8)
    known_share = means.share(*(phase for phase in COMPUTE if phase != Phase.COMPUTE_UNKNOWN))
    return Bottlenecks(
        of_input,
        output_bottleneck(means.share(Phase.OUTPUT)),
        collectives_bottleneck(means.share(Phase.COLLECTIVES)),
        kernel_launch_bottleneck(
            means.share(Phase.KERNEL_LAUNCH),
            contends=contends(means, pipeline),
        ),
        other_bottleneck(
            other_percent,
            is_reported=of_input.is_guess,
            is_tpu=is_tpu,
            activity=_activity_sentence(idle, means.mean_ms()),
        ),
        "" if is_tpu else precision_statement(bits_16, known_share),
    )


def _longest_function(first: IdleShare | None, step_ms: float) -> LongestFunction | None:
    """The share of the longest function, None if it is too small to mention."""
    share = 100 * first.ms / step_ms if first is not None else 0.0
    # A function that contains the whole loop does not prepare input itself; a call in it may.
    is_loop = first is not None and first.holds_more and not first.parts[0][0]
    if first is None or is_loop or share < POTENTIALLY_INPUT_BOUND:
        return None
    if (
        2 * sum_of(ms for name, ms in first.parts if waits_for_result(name or first.name))
        > first.ms
    ):
        return None  # reading results prepares no input
    return LongestFunction(f"{first.subject} takes {percent_text(share)}", share)


def _activity_sentence(idle: Sequence[IdleShare], step_ms: float) -> str:
    """A sentence on what most of the uncovered time went to, "" if unknown."""
    if not idle:
        return ""
    most = idle[0]
    clause = f"{describe_frame(most.name)} ran" if most.is_named else ACTIVITY_CLAUSES[most.kind]
    return f" For {percent_text(100 * most.ms / step_ms)}, {clause}."


def input_bottleneck(
    input_percent: float,
    other_percent: float,
    *,
    is_recorded: bool = False,
    longest: LongestFunction | None = None,
    is_transfer: bool = False,
) -> Bottleneck:
    """Whether steps wait for input; unknown if the percentage is NaN (steps without duration).

    `is_recorded` says that the trace records waits for input, so other gaps are not input.
    `other_percent` is the time that no event covers, `longest` the function that takes most of it,
    if known. `is_transfer` says that input is data sent to devices, such as arguments of calls.
    """
    if not input_percent >= 0:
        return Bottleneck(
            UNKNOWN,
            float("nan"),
            "No step time was measured, so the bottleneck is unknown.",
        )
    text = percent_text(input_percent)
    if longest is not None and longest.percent > input_percent >= MODERATELY_INPUT_BOUND:
        return _wait_and_function(longest, input_percent, is_transfer=is_transfer)
    if is_transfer and input_percent >= MODERATELY_INPUT_BOUND:
        sent = f"{text} of step time is spent sending data to devices."
        if input_percent >= HIGHLY_INPUT_BOUND:
            return Bottleneck(HOST, input_percent, f"{sent} Reduce this first.")
        rest = "Optimize both the transfers and the rest of the step."
        return Bottleneck(BOTH, input_percent, f"{sent} {rest}")
    if input_percent >= HIGHLY_INPUT_BOUND:
        return Bottleneck(
            HOST,
            input_percent,
            f"The program is highly input-bound: {text} of step time is spent waiting for input. "
            "Speed up the input first.",
        )
    if input_percent >= MODERATELY_INPUT_BOUND:
        return Bottleneck(
            BOTH,
            input_percent,
            f"The program is moderately input-bound: {text} of step time is spent "
            "waiting for input. Optimize both the input and the rest of the step.",
        )
    if longest is not None and not is_recorded:
        return Bottleneck(
            BOTH,
            input_percent,
            f"{longest.text} of step time while nothing else runs. If it prepares input, the "
            "program is input-bound; the trace does not show whether it does.",
            is_guess=True,
        )
    if other_percent >= POTENTIALLY_INPUT_BOUND and not is_recorded:
        return Bottleneck(
            BOTH,
            input_percent,
            "The program is potentially input-bound: no recorded event covers "
            f"{percent_text(other_percent)} of step time, and the trace contains no input "
            "pipeline events that would show whether it is input. It may be I/O, Python, or both.",
            is_guess=True,
        )
    return Bottleneck(
        DEVICE,
        input_percent,
        f"The program is not input-bound: {_hardly_waits(input_percent)}. Optimize the rest of "
        "the step.",
    )


def _hardly_waits(input_percent: float) -> str:
    if input_percent == 0:
        return "no wait for input was recorded"
    text = "less than 0.1 %" if input_percent < _SHOWN else f"only {percent_text(input_percent)}"
    return f"{text} of step time is spent waiting for input"


def _wait_and_function(
    longest: LongestFunction, input_percent: float, *, is_transfer: bool
) -> Bottleneck:
    """Steps that wait for input, and even longer for a function that may also prepare input."""
    waits = "sending data to devices" if is_transfer else "waiting for input"
    return Bottleneck(
        HOST if input_percent >= HIGHLY_INPUT_BOUND else BOTH,
        input_percent,
        f"{longest.text} of step time while nothing else runs, and {percent_text(input_percent)} "
        f"is spent {waits}. If that function also prepares input, speed it up first; the trace "
        "does not show whether it does.",
        is_guess=True,
    )


def output_bottleneck(percent: float) -> Bottleneck:
    """Whether steps wait for their output."""
    text = f"{percent_text(percent)} of step time is spent on output."
    if percent >= HIGHLY_OUTPUT_BOUND:
        return Bottleneck(
            HIGH_CLASS,
            percent,
            f"The program is highly output-bound: {text} Reduce this first.",
        )
    if percent >= MODERATELY_OUTPUT_BOUND:
        return Bottleneck(
            MODERATE_CLASS,
            percent,
            f"The program is moderately output-bound: {text} Optimize both the output and the "
            "rest of the step.",
        )
    return Bottleneck(NO_CLASS, percent, "")


def collectives_bottleneck(percent: float) -> Bottleneck:
    """Whether devices spend much time exchanging data with each other."""
    return _graded(
        percent,
        f"{percent_text(percent)} of step time is spent in collective communication between "
        "devices.",
    )


def contends(means: StepMeans, pipeline: InputOps | None) -> bool:
    """Whether tf.data threads are so busy that launches may have to wait for a processor."""
    if pipeline is None or not pipeline.has_tf_data:
        return False
    work_ps = float(pipeline.self_ps.sum() + pipeline.background_ps.sum())
    return work_ps >= CONTENDING * float(means.duration_ps.sum()) > 0


def kernel_launch_bottleneck(percent: float, *, contends: bool = False) -> Bottleneck:
    """Whether devices wait for the host to launch kernels."""
    text = f"{percent_text(percent)} of step time is spent on launching kernels."
    if contends:
        text += (
            " tf.data threads may compete with the launching threads for the CPU: try setting "
            "the environment variable TF_GPU_THREAD_MODE=gpu_private."
        )
    return _graded(percent, text)


def other_bottleneck(
    percent: float, *, is_reported: bool = False, is_tpu: bool = False, activity: str = ""
) -> Bottleneck:
    """Whether much of a step is in no phase; "no" if that `is_reported` elsewhere.

    `activity` is a sentence on what threads did during that time.
    """
    if is_reported:
        return Bottleneck(NO_CLASS, percent, "")
    text = f"{percent_text(percent)} of step time is in 'All others'."
    if activity:
        text += activity
    elif is_tpu:
        text += (
            " During that time, the cores wait for something on the host other than input: "
            "try running several steps in one compiled function."
        )
    else:
        text += " It may be Python overhead."
    return _graded(percent, text)


def precision_statement(bits_16_percent: float, compute_percent: float) -> str:
    """The sentence on 16-bit (and 8-bit) compute, "" if its share of known precisions is not low.

    Both arguments are percentages of step time.
    """
    if not compute_percent > 0:
        return ""
    share = 100.0 * bits_16_percent / compute_percent
    if not share < LITTLE_16_BIT:
        return ""
    return (
        f"Only {percent_text(share)} of the device's compute time is in 16-bit (or 8-bit) "
        "operations. "
        "Where the loss of accuracy is acceptable, 16-bit types (mixed precision) may be faster."
    )


def _graded(percent: float, statement: str) -> Bottleneck:
    if percent >= HIGH:
        return Bottleneck(HIGH_CLASS, percent, statement)
    if percent >= MODERATE:
        return Bottleneck(MODERATE_CLASS, percent, statement)
    return Bottleneck(NO_CLASS, percent, "")
