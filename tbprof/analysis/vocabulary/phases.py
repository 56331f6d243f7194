"""The phases that a step's time is split into; they are disjoint and add up to the step."""

from __future__ import annotations

from enum import IntEnum

PHASES = 16


class Phase(IntEnum):
    """A column of every table of phases.

    If several phases cover one instant, device phases precede host phases, and within each of the
    two the lower number counts, except that computation on the host hides its collectives. `OTHER`
    is time that nothing covers. `HOST_TRANSFER` is copies that compiled programs make between
    device and host memory, such as those of offloaded arrays, and exchanges with the host for an
    unknown purpose. In `HOST_CALLBACK`, a program waits for code that the host runs for it.
    Arguments and results of programs are `INPUT` and `OUTPUT`.
    """

    COMPUTE_64 = 0
    COMPUTE_32 = 1
    COMPUTE_TF32 = 2
    COMPUTE_16 = 3
    COMPUTE_8 = 4
    COMPUTE_UNKNOWN = 5
    COLLECTIVES = 6
    DEVICE_TO_DEVICE = 7
    HOST_TRANSFER = 8
    HOST_CALLBACK = 9
    INPUT = 10
    OUTPUT = 11
    COMPILATION = 12
    KERNEL_LAUNCH = 13
    HOST_COMPUTE = 14
    OTHER = 15


# Device compute by precision.
COMPUTE = (
    Phase.COMPUTE_64,
    Phase.COMPUTE_32,
    Phase.COMPUTE_TF32,
    Phase.COMPUTE_16,
    Phase.COMPUTE_8,
    Phase.COMPUTE_UNKNOWN,
)
# Phases in which a device works; in all other phases it waits for its host or for data.
WORK = (*COMPUTE, Phase.COLLECTIVES, Phase.DEVICE_TO_DEVICE, Phase.HOST_TRANSFER)
