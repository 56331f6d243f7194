"""Traces of ops and kernels of which xprof's tables are wrong."""

from collections.abc import Mapping

from traces.drawing import draw

HOST, GPU = "/host:CPU", "/device:GPU:0"
V100 = {"device_vendor": "Nvidia", "compute_cap_major": 7, "compute_cap_minor": 0}
DETAILS = "regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:32,1,1 occ_pct:50"


def host(drawing: str, **names: str) -> bytes:
    """A trace of ops on the host: letters are types."""
    return draw({HOST: drawing}, names={letter: f"{letter}:Op" for letter in "ab"} | names)


def gpu(
    drawing: str,
    names: Mapping[str, str],
    stats: Mapping[str, Mapping[str, object]],
    **plane: object,
) -> bytes:
    """A trace of kernels."""
    kernels = {letter: {"kernel_details": DETAILS, **own} for letter, own in stats.items()}
    return draw({GPU: drawing}, names=names, stats=kernels, plane_stats={GPU: {**V100, **plane}})
