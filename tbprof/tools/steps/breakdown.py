"""Tables that the pages of steps share: parts of an average step, and possible step markers."""

from __future__ import annotations

from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans, sample_deviation
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.tools.model.datatable import Table, boolean, number, text

DEVICE_COMPUTE = "device_compute"

# Hosts that compute themselves may also exchange data, and then have these rows.
_DEVICES_ALONE = ("kernel_launch", "collectives", "device_to_device", "host_transfer")
# Few programs have them.
_RARE = ("host_callback",)

# (id, label, phases, parent), in the order of the guide.
Row = tuple[str, str, tuple[Phase, ...], str]
_ROWS: tuple[Row, ...] = (
    ("other", "All others", (Phase.OTHER,), ""),
    ("compilation", "Compilation", (Phase.COMPILATION,), ""),
    ("output", "Output", (Phase.OUTPUT,), ""),
    ("input", "Input", (Phase.INPUT,), ""),
    ("kernel_launch", "Kernel launch", (Phase.KERNEL_LAUNCH,), ""),
    ("host_compute", "Host compute", (Phase.HOST_COMPUTE,), ""),
    ("collectives", "Device collectives", (Phase.COLLECTIVES,), ""),
    ("device_to_device", "Device to device", (Phase.DEVICE_TO_DEVICE,), ""),
    ("host_transfer", "Host transfer", (Phase.HOST_TRANSFER,), ""),
    ("host_callback", "Host callbacks", (Phase.HOST_CALLBACK,), ""),
    (DEVICE_COMPUTE, "Device compute", COMPUTE, ""),
    ("compute_64", "64 bit", (Phase.COMPUTE_64,), DEVICE_COMPUTE),
    ("compute_32", "32 bit", (Phase.COMPUTE_32,), DEVICE_COMPUTE),
    ("compute_tf32", "TF32", (Phase.COMPUTE_TF32,), DEVICE_COMPUTE),
    ("compute_16", "16 bit", (Phase.COMPUTE_16,), DEVICE_COMPUTE),
    ("compute_8", "8 bit", (Phase.COMPUTE_8,), DEVICE_COMPUTE),
    ("compute_unknown", "Unknown precision", (Phase.COMPUTE_UNKNOWN,), DEVICE_COMPUTE),
)


def breakdown_table(means: StepMeans) -> Table:
    """The parts of the average step: rows without a parent add up to it; empty without steps.

    Parts of devices have no row if no device ran, and rare parts have none if they took no
    time. `deviation` is the sample deviation over the counted steps, null for fewer than two,
    `share` the percentage of the time of all of them.
    """
    rows = tuple(row for row in _ROWS if _is_row(row, means)) if means.steps else ()
    counted = means.phase_ps[means.is_counted]
    parts = [counted[:, list(phases)].sum(axis=1) / 1e9 for _, _, phases, _ in rows]
    return Table(
        (
            text("id", "Id", [name for name, _, _, _ in rows]),
            text("label", "Category", [label for _, label, _, _ in rows]),
            number("ms", "Average time (ms)", [part.mean() for part in parts]),
            number("deviation", "Deviation (ms)", [sample_deviation(part) for part in parts]),
            number("share", "Share of step time (%)",
                   [means.share(*phases) for _, _, phases, _ in rows]),
            text("parent", "Part of", [parent for _, _, _, parent in rows]),
        )
    )  # fmt: skip


def _is_row(row: Row, means: StepMeans) -> bool:
    name, _, phases, parent = row
    if name in _RARE or (name in _DEVICES_ALONE and not means.has_device):
        return bool(means.phase_ps[:, list(phases)].any())
    return means.has_device or DEVICE_COMPUTE not in (name, parent)


def markers_table(job: JobSteps) -> Table:
    """The events that could mark steps, best first; hosts add up by name."""
    count: dict[str, int] = {}
    median: dict[str, tuple[int, int, str]] = {}
    for part in job.parts:
        for index, name in enumerate(part.candidate_name):
            occurrences = int(part.candidate_count[index])
            count[name] = count.get(name, 0) + occurrences
            # Of the host with most of them.
            known = median.get(name)
            if known is None or occurrences > known[0]:
                median[name] = (
                    occurrences,
                    int(part.candidate_median_ps[index]),
                    part.candidate_line[index],
                )
    names = list(count)
    return Table(
        (
            text("name", "Event", names),
            number("count", "Occurrences", [count[name] for name in names]),
            number("median_ms", "Median duration (ms)", [median[name][1] / 1e9 for name in names]),
            text("line", "Thread or line", [median[name][2] for name in names]),
            boolean("is_current", "Marks steps now", [name == job.marker for name in names]),
        )
    )  # fmt: skip
