"""Programs whose recorder lost kernels: steps of 10 µs, a kernel of 4 on each device in each."""

from collections.abc import Collection, Mapping

from traces.space_writer import SpaceWriter

HOST = "/host:CPU"
US = 1_000_000
STEPS = range(10)


def lossy(
    kernels: Mapping[int, Collection[int]],
    *,
    launches: Mapping[int, Collection[int]] | None = None,
    dispatches: Collection[int] = STEPS,
    pieces: Mapping[tuple[int, int], int] | None = None,
    delay_us: int = 2,
    says_device: bool = False,
    silent: Collection[int] = (),
) -> bytes:
    """A trace in which device d has the kernels of the steps `kernels[d]`, and no others.

    Steps `launches[d]` have calls for device d (by default all steps, for all devices), with the
    device in a stat where `says_device`; steps `dispatches` an event of the runtime. A step's work
    on a device is four kernels of 1 µs, or `pieces[device, step]` of them, which begin `delay_us`
    after the step. `silent` devices have empty planes.

        python    |mmmmmmmmmm      m: train 0, d: the runtime's event, l: launches
                  |.ddddddd
                  |.llll
        Stream #1 |..kkkk
    """
    space = SpaceWriter()
    host = space.plane(HOST)
    python = host.line("python")
    correlation: dict[tuple[int, int, int], int] = {}
    for step in STEPS:
        at = step * 10 * US
        host.event(python, "train", at, 10 * US, {"_r": 1, "step_num": step})
        if step in dispatches:
            host.event(python, "PjRtExecutable::Execute", at + US, 7 * US)
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
        plane = space.plane(f"/device:GPU:{device}")
        if device in silent:
            continue
        stream = plane.line("Stream #1")
        for step in sorted(kernels[device]):
            for piece in range((pieces or {}).get((device, step), 4)):
                id_ = correlation.get((device, step, piece), 0)
                stats = {"kernel_details": "regs:1", "correlation_id": id_}
                start = (step * 10 + delay_us + piece) * US
                plane.event(stream, "sgemm_f32", start, US, stats)
    return space.bytes()
