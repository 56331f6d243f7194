"""What can vary in a job on TPUs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TpuJob:
    """A training job on `hosts` with `cores` TensorCores each: steps of 100 ms unless changed.

    A step of a core, in this order, times in µs:

        barrier   waits until the slice's last core begins, which `late` ones do later
        infeed    `infeed_us`
        compute   `layers` x (a convolution in 16 bit, an elementwise fusion in 32 bit), in all
                  `compute_us` and `elementwise_us`; `slow` cores take longer, in a `loop` where
                  asked for; copies within the device (`copy_us`, to VMEM: `vmem_copy_us`) and
                  offloaded arrays (`host_copy_us` is what the core waits for them)
        idle      `idle_us` inside of the program
        exchange  an all-reduce of the slice, `all_reduce_us` from the last core's arrival; of all
                  slices over DCN by the megascale runtime, `dcn_us` from the last one's
        callback  a function of the host, `callback_us`
        outfeed   `outfeed_us`
        gap       `gap_us` between programs

    Hosts: `slices` divide them evenly. `slow` is (host, core, factor of compute), `slow_steps`
    (step counted from 0, factor), `late` (host, core, by how much a core begins later), `jitter`
    the share by which compute varies from step to step and core to core.

    Structure: `megacore` pairs cores of a chip, in whose convolutions one waits `megacore_us`;
    `sparse_cores` of each chip work for `sparse_us`; `micro_steps` accumulate gradients, each a
    program of its own before that of the exchange.

    Markers: `steps_line` is "numbers" (counted by each host's recorder from `line_first` on),
    "unnumbered" or "none". The program numbers its steps from `first_number` on where it
    `has_markers`, and `is_linked` says that launches name the programs that they began. `has_hlo`:
    the compiled programs are in the trace. `framework` is "jax" or "tensorflow".

    Clocks: `skew_us` and `drift_ppm` by host against the job's; `core_drift_ppm` is how far cores'
    own clocks drift at most, each by a part of it, with `has_core_clocks`. `file_error_us` is how
    late the file puts the begin of every other program at most, by less than half a step.

    What is missing: `lost` (host, core, step counted from 0) has no event of that core and
    `lost_ops` (host, core, step, name of the instruction) none of that op; all that begins before
    or ends after `recorded_us` (from the job's begin) is missing, and what `late_recording`
    (host, core, µs) says of single cores.
    """

    hosts: int = 1
    cores: int = 4
    steps: int = 20
    slices: int = 1
    layers: int = 2
    infeed_us: int = 25_000
    compute_us: int = 40_000
    elementwise_us: int = 10_000
    copy_us: int = 0
    vmem_copy_us: int = 0
    host_copy_us: int = 0
    all_reduce_us: int = 15_000
    dcn_us: int = 0
    callback_us: int = 0
    idle_us: int = 7_000
    outfeed_us: int = 3_000
    gap_us: int = 0
    has_barrier: bool = False
    has_loop: bool = False
    slow: tuple[tuple[int, int, float], ...] = ()
    slow_steps: tuple[tuple[int, float], ...] = ()
    late: tuple[tuple[int, int, int], ...] = ()
    jitter: float = 0.0
    megacore: bool = False
    megacore_us: int = 0
    sparse_cores: int = 0
    sparse_us: int = 20_000
    micro_steps: int = 1
    framework: str = "jax"
    has_markers: bool = True
    is_linked: bool = True
    is_blocking: bool = False
    marker: str = "train"
    first_number: int = 100
    steps_line: str = "numbers"
    line_first: tuple[int, ...] = ()
    has_hlo: bool = True
    skew_us: tuple[int, ...] = ()
    drift_ppm: tuple[float, ...] = ()
    has_core_clocks: bool = True
    core_drift_ppm: float = 0.0
    file_error_us: int = 0
    lost: tuple[tuple[int, int, int], ...] = ()
    lost_ops: tuple[tuple[int, int, int, str], ...] = ()
    recorded_us: tuple[int, int] | None = None
    late_recording: tuple[tuple[int, int, int], ...] = ()
    seed: int = 0
