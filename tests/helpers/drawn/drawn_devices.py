"""What devices of drawn traces did when."""

from traces import draw, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.device_phases import DeviceIntervals, find_device_intervals
from tbprof.analysis.vocabulary.phases import Phase

GPU, TPU, SPARSE = "/device:GPU:0", "/device:TPU:0", "/device:TPU:0 SparseCore 1"
US = 1_000_000
KERNEL = {"kernel_details": "regs:32 shm:0 grid:1,1,1 block:32,1,1"}


def devices_of(content: bytes) -> list[DeviceIntervals]:
    space = space_of(content)
    return find_device_intervals(space, Programs(space))


def rows(device: DeviceIntervals) -> list[tuple[int, int, str, str]]:
    """(start µs, duration µs, phase, what it was) of the intervals."""
    return [
        (start // US, duration // US, Phase(phase).name, device.event_name[kind])
        for start, duration, phase, kind in zip(
            device.start_ps.tolist(),
            device.duration_ps.tolist(),
            device.phase.tolist(),
            device.event_kind.tolist(),
            strict=True,
        )
    ]


def phases(content: bytes) -> list[str]:
    (device,) = devices_of(content)
    return [phase for _, _, phase, _ in rows(device)]


def phase_of(name: str, **stats: str | int) -> str:
    """The phase of a GPU event of that name."""
    (phase,) = phases(draw({GPU: "Stream #1 |a"}, names={"a": name}, stats={"a": stats}))
    return phase


def _lines(device: DeviceIntervals, name: str) -> list[int]:
    texts = device.plane.strings.take(device.events.lines.name.tolist())
    return [row for row, text in enumerate(texts) if text == name]
