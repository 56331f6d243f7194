"""The clocks of a drawn job: its own, which is true, those of its hosts, and those of its cores."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from jobs.tpu.tpu_job import TpuJob

SECOND_PS = 10**12
# The time of day by the job's own clock at which its first step begins.
EPOCH_NS = 1_700_000_000_000_000_000
# Captures begin before the first step.
LEAD_PS = SECOND_PS


@dataclass(frozen=True, slots=True)
class HostClock:
    """A host's clock: how far it is ahead, and by how much it runs faster."""

    skew_ps: int
    drift: float

    def file_ps(self, time_ps: int) -> int:
        """The time in the host's file, which counts from the begin of its capture."""
        return round((time_ps + LEAD_PS) * (1 + self.drift))

    @property
    def begin_ns(self) -> int:
        """The time of day, by this clock, at which its capture begins."""
        return EPOCH_NS + (self.skew_ps - LEAD_PS) // 1000


@dataclass(frozen=True, slots=True)
class CoreClock:
    """A core's own clock: where it starts, and by how much it runs faster than the job's."""

    origin_ps: int
    drift: float

    def ps(self, time_ps: int) -> int:
        """The time by this clock."""
        return round((time_ps + LEAD_PS) * (1 + self.drift)) + self.origin_ps


def host_clock(skew_us: Sequence[int], drift_ppm: Sequence[float], host: int) -> HostClock:
    """The clock of a host; those of which nothing is said are right."""
    skew = skew_us[host] if host < len(skew_us) else 0
    drift = drift_ppm[host] if host < len(drift_ppm) else 0.0
    return HostClock(skew * 1_000_000, drift * 1e-6)


def core_clock(job: TpuJob, host: int, core: int) -> CoreClock:
    """The clock of a core: it starts up to two seconds off, and drifts by a part of the most."""
    random = Random(f"{job.seed} {host} {core}")
    origin = random.randrange(2 * SECOND_PS)
    return CoreClock(origin, random.uniform(-1, 1) * job.core_drift_ppm * 1e-6)
