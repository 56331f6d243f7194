"""Which planes become sections, with which label, in which order."""

from __future__ import annotations

from tbprof.analysis.devices.devices import chip_and_core
from tbprof.base import names
from tbprof.base.natural_order import natural_order
from tbprof.events.space import Plane, Space
from tbprof.timeline.model.store import Section

_HOST_PLANES = "/host:"
_DEVICE_PLANES = (names.GPU_PREFIX, names.TPU_PREFIX)
HOST_LABEL = "Host Threads"

_ORDER = {"device": 0, "host": 1, "other": 2}


def section_order(space: Space) -> list[int]:
    """The rows in `space.planes` in the order of their sections: devices, hosts, others."""
    keys = [
        (_ORDER[section_of(plane).kind], _rank(plane), natural_order(plane.name.lower()), row)
        for row, plane in enumerate(space.planes)
    ]
    return [row for *_, row in sorted(keys)]


def _rank(plane: Plane) -> int:
    """0 for planes of a known kind: the host's own before those of processes that it started."""
    if plane.name.startswith(names.TPU_PREFIX):
        return 1
    return 0 if plane.name.startswith((names.GPU_PREFIX, names.HOST_PLANE)) else 2


def section_of(plane: Plane) -> Section:
    """The section of a plane.

    A GPU is labelled by its name, a TPU core also with its chip and its number on it:
    "/device:TPU:1 (chip 0, core 1)". Threads of the recorded program are "Host Threads",
    those of a process that it started "Host Threads [pid]".
    """
    name = plane.name
    if name == names.HOST_PLANE or name.startswith(names.HOST_PLANE + " ["):
        return Section(name, HOST_LABEL + name[len(names.HOST_PLANE) :], "host")
    if name.startswith(_DEVICE_PLANES):
        place = chip_and_core(plane) if name.startswith(names.TPU_PREFIX) else None
        label = name if place is None else f"{name} (chip {place[0]}, core {place[1]})"
        return Section(name, label, "device")
    is_metadata = name.startswith(names.METADATA_PLANE)
    kind = "host" if name.startswith(_HOST_PLANES) and not is_metadata else "other"
    return Section(name, name or "(unnamed)", kind)
