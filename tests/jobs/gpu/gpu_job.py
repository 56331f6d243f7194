"""What can vary in a job on GPUs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuJob:
    """A training job on `hosts` with `devices` GPUs each, all launched by one thread of the host.

    A step, times in µs:

        host      waits for a batch (`input_us`), then launches the work of its GPUs one by one
        GPU       copies the batch (`h2d_us`), multiplies in 16 bit (`gemm_us`) and 32 bit
                  (`single_us`) in `layers`, reduces with all GPUs of the job (`all_reduce_us` from
                  the last one's arrival), copies a result to the host (`d2h_us`)
        host      has nothing to do for `idle_us`, and between steps for `gap_us`

    The host waits for each step, or is half a step ahead (`is_blocking` is False): then nothing of
    it shows, and GPUs work without a pause. `slow` is (host, device, factor of compute),
    `slow_steps` (step counted from 0, factor), `jitter` a share by which compute varies.

    `vendor` is "Nvidia" (as TensorFlow on V100 was recorded: launches on the thread that makes
    them) or "AMD" (as JAX on MI350 was: launches on a line of their own). Kernels of the (host,
    device, step counted from 0) in `lost` are not in the trace.
    """

    hosts: int = 1
    devices: int = 2
    steps: int = 10
    layers: int = 2
    input_us: int = 5_000
    h2d_us: int = 500
    gemm_us: int = 10_000
    single_us: int = 3_000
    all_reduce_us: int = 2_000
    d2h_us: int = 200
    idle_us: int = 1_000
    gap_us: int = 0
    is_blocking: bool = True
    slow: tuple[tuple[int, int, float], ...] = ()
    slow_steps: tuple[tuple[int, float], ...] = ()
    jitter: float = 0.0
    vendor: str = "Nvidia"
    has_markers: bool = True
    marker: str = "train"
    first_number: int = 100
    skew_us: tuple[int, ...] = ()
    drift_ppm: tuple[float, ...] = ()
    lost: tuple[tuple[int, int, int], ...] = ()
    seed: int = 0
