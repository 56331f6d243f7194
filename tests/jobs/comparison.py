"""What all pages show of a drawn job, held against its truth.

Clocks that drift show times that differ from the job's by as much, and a step that begins with a
wait that is not an op begins later; `slack` says how much of that there is.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from helpers.payloads import Row

from jobs.drawn_job import CoreStep, DrawnOp, Truth, Work
from jobs.gpu.gpu_job import GpuJob
from jobs.gpu.gpu_trace import draw_gpu_job
from jobs.pages import Pages
from jobs.tpu.tpu_job import TpuJob
from jobs.tpu.tpu_trace import draw_tpu_job

_MS = 1e9
_US = 1e6
# The columns of the step table, ids of the pod viewer, and the work that they are.
_COLUMNS: dict[str, tuple[Work, ...]] = {
    "deviceCompute16Ms": (Work.COMPUTE_16,),
    "deviceCompute32Ms": (Work.COMPUTE_32,),
    "deviceComputeUnknownMs": (Work.COMPUTE_OTHER,),
    "deviceCollectivesTimeMs": (Work.COLLECTIVE, Work.DCN, Work.BARRIER, Work.MEGACORE),
    "deviceToDeviceTimeMs": (Work.COPY,),
    "hostTransferTimeMs": (Work.HOST_COPY,),
    "hostCallbackTimeMs": (Work.CALLBACK,),
    "infeedTimeMs": (Work.INPUT,),
    "outfeedTimeMs": (Work.OUTPUT,),
}
# What the host does while the device is idle is shown, too; launches of TPUs are not part of truth.
_IDLE_COLUMNS = ("otherTimeMs", "hostComputeTimeMs", "kernelLaunchTimeMs", "compileTimeMs")
_OP_THREADS = ("XLA Ops", "Sparse Core Ops", "Stream #")
_POD = {
    "1": (Work.COMPUTE_16, Work.COMPUTE_32, Work.COMPUTE_OTHER),
    "2": (Work.COPY,),
    "3": (Work.COLLECTIVE, Work.DCN, Work.BARRIER, Work.MEGACORE),
    "6": (Work.INPUT,),
    "7": (Work.OUTPUT,),
    "10": (Work.HOST_COPY,),
}


@dataclass(frozen=True, slots=True)
class Slack:
    """How far figures may be off: a share of each time, and ps of each phase of a step."""

    share: float = 1e-9
    ps: float = 20_000.0

    def is_near(self, shown: float, true: float) -> bool:
        """Whether a time is shown as it was, in ps."""
        return abs(shown - true) <= self.ps + self.share * abs(true)


def wrong(job: TpuJob | GpuJob) -> list[str]:
    """What the pages of a job show that is not so."""
    if isinstance(job, GpuJob):
        drawn, is_named = draw_gpu_job(job), job.has_markers
        clocks = max(map(abs, job.drift_ppm), default=0)
    else:
        drawn, is_named = draw_tpu_job(job), job.has_markers and job.is_linked
        clocks = max(map(abs, job.drift_ppm), default=0) + job.core_drift_ppm
        clocks += 100 if job.file_error_us else 0  # what errors may look like
    slack = Slack(2e-6 * clocks + 1e-9, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        pages = Pages.of(drawn, Path(folder))
        return compare(pages, drawn.truth, job.marker if is_named else "", slack)


def compare(pages: Pages, truth: Truth, marker: str, slack: Slack) -> list[str]:
    """What the pages show that is not so, as sentences; none where all of it is.

    `marker` is what the steps are called before their numbers, "" for numbers alone.
    """
    names = {row.number: f"{marker} {row.number}".strip() for row in truth.rows}
    named = {number: names[number] for number in truth.marked_numbers}
    lost = {names[number] for number in set(names) - set(truth.numbers)}
    return [
        *_steps(pages, truth, named, lost, slack),
        *_averages(pages, truth, slack),
        *_pods(pages, truth, named, slack),
        *_ops(pages, truth, slack),
        *_timeline(pages, truth, slack),
        *_conclusions(pages, truth),
    ]


def _off(what: str, shown: float, true: float, slack: Slack) -> Iterable[str]:
    if not slack.is_near(shown, true):
        yield f"{what} is {shown / _MS:.6f} ms, truth {true / _MS:.6f}"


def _steps(
    pages: Pages, truth: Truth, named: dict[int, str], lost: set[str], slack: Slack
) -> Iterable[str]:
    """Each step that was recorded whole is there, as it was; others are marked, or not there.

    Those that no core recorded, `lost`, may be there, as what they are.
    """
    shown = pages.steps
    whole = {named[number] for number in truth.whole_numbers if number in named}
    unnamed = len(set(truth.numbers) - set(named))
    if missing := whole - set(shown):
        yield f"steps {sorted(missing)} are not there, but {list(shown)}"
    for label, row in shown.items():
        if label in lost:
            if not row["isUnrecorded"]:
                yield f"step {label!r} was recorded by no core"
        elif label not in named.values():
            unnamed -= 1
            if unnamed < 0:
                yield f"step {label!r} was none"
        elif label not in whole and not (row["isTruncated"] or row["isUnrecorded"]):
            yield f"step {label!r} was cut and is not marked"
        elif label in whole and (row["isTruncated"] or row["isUnrecorded"]):
            yield f"step {label!r} was recorded whole and is marked as cut"
    by_number: dict[int, list[CoreStep]] = {}
    for one in truth.counted():
        by_number.setdefault(one.number, []).append(one)
    for number, mine in by_number.items():
        if number in named and named[number] in shown:
            yield from _of_row(named[number], shown[named[number]], mine, slack)


def _of_row(label: str, row: Row, mine: list[CoreStep], slack: Slack) -> Iterable[str]:
    """A step is the mean over its cores."""

    def mean(*kinds: Work) -> float:
        return sum(one.ps(*kinds) if kinds else one.duration_ps for one in mine) / len(mine)

    yield from _off(f"step {label}", row["stepTimeMs"] * _MS, mean(), slack)
    for column, kinds in _COLUMNS.items():
        yield from _off(f"{column} of {label}", row.get(column, 0) * _MS, mean(*kinds), slack)
    idle = sum(row[column] for column in _IDLE_COLUMNS)
    if mine[0].kind == "GPU":
        shown = row["kernelLaunchTimeMs"]
        yield from _off(f"launches of {label}", shown * _MS, mean(Work.LAUNCH), slack)
    yield from _off(f"idle time of {label}", idle * _MS, mean(Work.IDLE, Work.LAUNCH), slack)
    if row["workers"] != len(mine):
        yield f"step {label} is of {row['workers']} cores, truth {len(mine)}"


def _averages(pages: Pages, truth: Truth, slack: Slack) -> Iterable[str]:
    """Averages are over steps that were recorded whole."""
    shown = pages.properties
    if int(shown["steps_averaged"]) != len(truth.whole_numbers):
        yield f"averages are of {shown['steps_averaged']} steps, not {len(truth.whole_numbers)}"
    rounding = Slack(slack.share, slack.ps + 0.05001 * _MS)
    mean = truth.mean_ps()
    yield from _off("the average", float(shown["steptime_ms_average"]) * _MS, mean, rounding)
    for name, kinds in (
        ("device_compute_time_ms_avg", _POD["1"]),
        ("infeed_time_ms_avg", (Work.INPUT,)),
        ("device_collectives_time_ms_avg", _COLUMNS["deviceCollectivesTimeMs"]),
    ):
        if name in shown:
            value = float(shown[name]) * _MS
            yield from _off(f"average {name}", value, truth.mean_ps(*kinds), rounding)
    first, second = pages.properties, pages.input_page[1]["p"]
    for name in ("steptime_ms_average", "infeed_percent_average", "input_conclusion"):
        if first.get(name) != second.get(name):
            yield f"{name} is {first.get(name)!r} and on the input page {second.get(name)!r}"


def _pods(pages: Pages, truth: Truth, named: dict[int, str], slack: Slack) -> Iterable[str]:
    """Each core has its own record of each step."""
    for row in truth.rows:
        if not (row.is_recorded and row.is_whole and row.number in named):
            continue
        worker = row.device.removeprefix("/device:")
        records = pages.pod.get(named[row.number], {})
        record = records.get((f"host{row.host}", worker))
        if record is None:
            yield f"{worker} of host{row.host} has no record of {named[row.number]}"
            continue
        what = f"of {worker} in {named[row.number]}"
        shown = record["totalDurationUs"] * _US
        yield from _off(f"the step {what}", shown, row.duration_ps, slack)
        for id_, kinds in _POD.items():
            shown = record["stepBreakdownUs"].get(id_, 0) * _US
            yield from _off(f"part {id_} {what}", shown, row.ps(*kinds), slack)


def _ops(pages: Pages, truth: Truth, slack: Slack) -> Iterable[str]:
    """Ops are those that were recorded, with their own time."""
    count: Counter[str] = Counter()
    own: Counter[str] = Counter()
    for op in _all_ops(truth, with_sparse=False):
        count[op.name] += 1
        own[op.name] += op.self_ps
    shown = {name: row for name, row in pages.device_ops.items() if name != "IDLE"}
    if set(shown) != set(count):
        yield f"ops are {sorted(shown)}, truth {sorted(count)}"
    for name in set(shown) & set(count):
        if shown[name]["occurrences"] != count[name]:
            yield f"{name} ran {count[name]} times, not {shown[name]['occurrences']}"
        most = Slack(slack.share, 20_000.0 + count[name] * 2.0)
        yield from _off(name, shown[name]["total_self_time"] * _US, own[name], most)


def _all_ops(truth: Truth, *, with_sparse: bool = True) -> Iterable[DrawnOp]:
    """The recorded ops; tables of ops are of TensorCores and GPUs."""
    for (_, device), ops in truth.ops.items():
        if with_sparse or "SparseCore" not in device:
            yield from ops


def _timeline(pages: Pages, truth: Truth, slack: Slack) -> Iterable[str]:
    """The trace viewer has each op, where it was beside the others of its core."""
    tracks: dict[str, list[Row]] = {}
    for event in pages.events:
        if event["thread"].startswith(_OP_THREADS):
            tracks.setdefault(event["process"], []).append(event)
    events = [track for _, track in sorted(tracks.items())]
    lengths = sorted(len(track) for track in events)
    if lengths != (true := sorted(len(ops) for ops in truth.ops.values() if ops)):
        yield f"tracks hold {lengths} ops, truth {true}"
        return
    total = sum(event["dur"] for track in events for event in track) * _US
    true_total = sum(op.end_ps - op.start_ps for op in _all_ops(truth))
    count = sum(lengths)
    yield from _off("all ops", total, true_total, Slack(slack.share, 1e6 + 1000.0 * count))
    spans = sorted(
        max(event["ts"] + event["dur"] for event in track) - min(event["ts"] for event in track)
        for track in events
    )
    true_spans = sorted(
        max(op.end_ps for op in ops) - min(op.start_ps for op in ops)
        for ops in truth.ops.values()
        if ops
    )
    for span, true_span in zip(spans, true_spans, strict=True):
        yield from _off("a core's track", span * _US, true_span, Slack(slack.share, 1e6))


def _conclusions(pages: Pages, truth: Truth) -> Iterable[str]:
    """What the overview concludes is what was planted, and no more."""
    findings = pages.findings
    step = truth.mean_ps()
    waits = truth.mean_ps(Work.INPUT) / step
    if ("input_bound" in findings) != (waits > 0.05) and abs(waits - 0.05) > 0.001:
        yield f"input takes {100 * waits:.2f} %, and the findings are {list(findings)}"
    late = findings.get("straggler")
    if late is not None and not truth.late:
        yield f"nobody is late, and one finding is {late['title']!r}"
    if late is not None and truth.late:
        host, device = truth.late[0]
        if device.removeprefix("/device:") not in late["title"] + late["detail"]:
            yield f"{device} of host{host} is late, and not {late['title']!r}"
