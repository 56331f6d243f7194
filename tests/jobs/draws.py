"""Jobs as hypothesis draws them."""

from typing import Any

from hypothesis import strategies as st

from jobs.gpu.gpu_job import GpuJob
from jobs.tpu.tpu_job import TpuJob


@st.composite
def tpu_jobs(draw: st.DrawFn) -> TpuJob:
    """Jobs on TPUs of which the trace tells all steps."""
    hosts = draw(st.integers(1, 3))
    megacore = draw(st.booleans())
    cores = draw(st.sampled_from([2, 4] if megacore else [1, 2, 4]))
    steps = draw(st.integers(3, 7))
    has_markers = draw(st.booleans())
    has_line = draw(st.booleans())
    is_blocking = has_markers and draw(st.booleans())
    has_slices = hosts % 2 == 0 and draw(st.booleans())

    def us(most: int) -> int:
        return draw(st.one_of(st.just(0), st.integers(most // 10, most)))

    device = draw(st.tuples(st.integers(0, hosts - 1), st.integers(0, cores - 1)))
    skews = st.integers(-3 * 10**6, 3 * 10**6)
    is_slow = hosts * cores > 2 and draw(st.booleans())
    has_barrier = has_line and draw(st.booleans())
    is_late = has_barrier and hosts * cores > 2 and not has_slices and draw(st.booleans())
    return TpuJob(
        hosts=hosts,
        cores=cores,
        steps=steps,
        slices=2 if has_slices else 1,
        layers=draw(st.integers(1, 3)),
        infeed_us=us(60_000),
        compute_us=draw(st.integers(20_000, 80_000)),
        elementwise_us=draw(st.integers(2_000, 20_000)),
        copy_us=us(4_000),
        vmem_copy_us=us(5_000),
        host_copy_us=us(20_000),
        all_reduce_us=draw(st.integers(3_000, 30_000)),
        dcn_us=us(20_000) if has_slices else 0,
        callback_us=us(15_000),
        idle_us=us(20_000),
        outfeed_us=us(8_000),
        gap_us=1_000 if is_blocking else us(1_000),
        has_barrier=has_barrier,
        has_loop=draw(st.booleans()),
        late=((*device, draw(st.integers(5_000, 20_000))),) if is_late else (),
        slow=((*device, draw(st.floats(1.15, 1.6))),) if is_slow and not is_late else (),
        jitter=draw(st.sampled_from([0.0, 0.003])),
        megacore=megacore,
        megacore_us=us(6_000) if megacore else 0,
        sparse_cores=draw(st.sampled_from([0, 0, 2])) if has_line and has_markers else 0,
        micro_steps=draw(st.sampled_from([1, 1, 4])) if has_markers and not is_blocking else 1,
        framework=draw(st.sampled_from(["jax", "tensorflow"])),
        has_markers=has_markers,
        is_linked=has_markers,
        is_blocking=is_blocking,
        first_number=draw(st.integers(0, 10**6)) if has_markers else 0,
        steps_line="numbers" if has_line else "none",
        line_first=tuple(draw(st.integers(0, 9)) for _ in range(hosts)) if has_markers else (),
        has_hlo=draw(st.booleans()),
        skew_us=tuple(draw(skews) for _ in range(hosts)) if has_markers else (),
        drift_ppm=tuple(draw(st.floats(-20, 20)) for _ in range(hosts)),
        has_core_clocks=draw(st.booleans()),
        core_drift_ppm=draw(st.sampled_from([0.0, 50.0])),
        **draw(_missing(has_markers and has_line, device, steps)),
        seed=draw(st.integers(0, 99)),
    )


@st.composite
def _missing(
    draw: st.DrawFn, is_numbered: bool, device: tuple[int, int], steps: int
) -> dict[str, Any]:
    """What of a job is not in its traces: a step of one core, or what was before the recording."""
    kind = draw(st.sampled_from(["nothing", "a step", "the begin"]))
    if kind == "a step" and is_numbered and steps > 4:
        return {"lost": ((*device, draw(st.integers(1, steps - 2))),)}
    if kind == "the begin" and is_numbered and steps > 5:
        return {"recorded_us": (draw(st.integers(1_000, 60_000)), 10**9)}
    return {}


@st.composite
def gpu_jobs(draw: st.DrawFn) -> GpuJob:
    """Jobs on GPUs whose programs mark their steps."""
    hosts = draw(st.integers(1, 3))
    devices = draw(st.sampled_from([1, 2, 4]))
    steps = draw(st.integers(4, 8))
    is_blocking = draw(st.booleans())
    device = draw(st.tuples(st.integers(0, hosts - 1), st.integers(0, devices - 1)))
    is_slow = hosts * devices > 2 and draw(st.booleans())
    lost = (*device, draw(st.integers(1, steps - 2)))
    return GpuJob(
        hosts=hosts,
        devices=devices,
        steps=steps,
        layers=draw(st.integers(1, 4)),
        input_us=draw(st.integers(0, 8_000 if is_blocking else 1_500)),
        h2d_us=draw(st.integers(100, 2_000)),
        gemm_us=draw(st.integers(6_000, 30_000)),
        single_us=draw(st.integers(1_000, 9_000)),
        all_reduce_us=draw(st.integers(1_000, 6_000)),
        d2h_us=draw(st.integers(50, 1_000)),
        idle_us=draw(st.integers(100, 4_000)),
        is_blocking=is_blocking,
        slow=((*device, draw(st.floats(1.15, 1.6))),) if is_slow else (),
        jitter=draw(st.sampled_from([0.0, 0.003])),
        vendor=draw(st.sampled_from(["Nvidia", "AMD"])),
        first_number=draw(st.integers(0, 10**6)),
        skew_us=tuple(draw(st.integers(-3 * 10**6, 3 * 10**6)) for _ in range(hosts)),
        drift_ppm=tuple(draw(st.floats(-20, 20)) for _ in range(hosts)),
        lost=(lost,) if is_blocking and devices > 1 and draw(st.booleans()) else (),
        seed=draw(st.integers(0, 99)),
    )
