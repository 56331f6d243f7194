"""Programs whose recorder lost kernels: steps of 10 µs, a kernel of 4 on each device in each."""

from collections.abc import Collection, Mapping
from typing import Any

from tbprof._pb import message

HOST = "/host:CPU"
US = 1_000_000
STEPS = range(10)


def lossy(
    kernels: Mapping[int, Collection[int]],
    *,
    launches: Mapping[int, Collection[int]] | None = None,
    dispatches: Collection[int] = STEPS,
    names: Mapping[int, str] | None = None,
    pieces: Mapping[tuple[int, int], int] | None = None,
    delay_us: int = 2,
    says_device: bool = False,
    silent: Collection[int] = (),
) -> bytes:
    """A trace in which device d has the kernels of the steps `kernels[d]`, and no others.

    Steps `launches[d]` have calls for device d (by default all steps, for all devices), with the
    device in a stat where `says_device`; steps `dispatches` an event of the runtime. A step's work
    on a device is four kernels of 1 µs, or `pieces[device, step]` of them, which begin `delay_us`
    after the step. Kernels of device d are called `names[d]`. `silent` devices have empty planes.

        python    |mmmmmmmmmm      m: train 0, d: the runtime's event, l: launches
                  |.ddddddd
                  |.llll
        Stream #1 |..kkkk
    """
    space = message("tensorflow.profiler.XSpace")()
    host = Plane(space, HOST)
    python = host.line("python")
    correlation: dict[tuple[int, int, int], int] = {}
    for step in STEPS:
        at = step * 10 * US
        host.event(python, "train", at, 10 * US, {"_r": 1, "step_num": step})
        if step in dispatches:
            host.event(python, "PjRtExecutable::Execute", at + US, 7 * US, {})
    for device in sorted({*kernels, *(launches or {})}):
        for step in STEPS if launches is None else launches.get(device, ()):
            for piece in range(4):
                id_ = correlation[device, step, piece] = len(correlation) + 1
                stats: dict[str, int | str] = {"correlation_id": id_}
                if says_device:
                    stats["device_id"] = 70 + device
                start = step * 10 * US + US + piece * US + device * 1000
                host.event(python, "cuLaunchKernel", start, 900, stats)
    for device in sorted({*kernels, *silent}):
        plane = Plane(space, f"/device:GPU:{device}")
        if device in silent:
            continue
        stream = plane.line("Stream #1")
        for step in sorted(kernels[device]):
            for piece in range((pieces or {}).get((device, step), 4)):
                id_ = correlation.get((device, step, piece), 0)
                stats = {"kernel_details": "regs:1", "correlation_id": id_}
                start = (step * 10 + delay_us + piece) * US
                plane.event(stream, (names or {}).get(device, "sgemm_f32"), start, US, stats)
    return bytes(space.SerializeToString())


class Plane:
    """A plane that is being filled: numbers for what is named."""

    def __init__(self, space: Any, name: str) -> None:
        self._plane = space.planes.add(name=name)
        self._types: dict[str, int] = {}
        self._stats: dict[str, int] = {}

    def line(self, name: str) -> Any:
        """A new line."""
        return self._plane.lines.add(id=len(self._plane.lines) + 1, name=name)

    def event(
        self, line: Any, name: str, start_ps: int, duration_ps: int, stats: Mapping[str, int | str]
    ) -> None:
        """Adds an event to a line."""
        type_ = self._number(self._types, self._plane.event_metadata, name)
        event = line.events.add(metadata_id=type_, offset_ps=start_ps, duration_ps=duration_ps)
        for key, value in stats.items():
            stat = event.stats.add(
                metadata_id=self._number(self._stats, self._plane.stat_metadata, key)
            )
            if isinstance(value, str):
                stat.str_value = value
            else:
                stat.int64_value = value

    def _number(self, known: dict[str, int], table: Any, name: str) -> int:
        if name not in known:
            known[name] = number = len(known) + 1
            table[number].id, table[number].name = number, name
        return known[name]
