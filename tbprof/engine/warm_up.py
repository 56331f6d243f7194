"""Runs every analysis once on a trace of a few events, so that its kernels are compiled."""

import logging
import tempfile
import threading
from pathlib import Path

from tbprof._pb import message
from tbprof.analysis.hlo import Programs
from tbprof.base.jit import is_prepared, mark_prepared
from tbprof.engine.parts import PARTS
from tbprof.xplane.reader import read_space

_log = logging.getLogger(__name__)
_once = threading.Lock()


def prepare_kernels() -> None:
    """Compiles all kernels into the cache, or loads them from it; logs what goes wrong."""
    with _once:
        try:
            with tempfile.TemporaryDirectory(prefix="tbprof-") as folder:
                path = Path(folder) / "small.xplane.pb"
                path.write_bytes(_small_trace())
                space = read_space(path)
                programs = Programs(space)
                for kind in PARTS.values():
                    kind.compute(space, programs)
                del space, programs
        except OSError as error:
            _log.warning("the kernels could not be prepared ahead of the first page (%s)", error)
            return
        if not is_prepared():
            mark_prepared()


def _small_trace() -> bytes:
    """A plane of each kind with three events on a line, unsorted and nested, all stats used."""
    space = message("tensorflow.profiler.XSpace")()
    for plane_name, line_name, has_eager in (
        ("/host:CPU", "thread", True),
        ("/host:CPU [1]", "thread", False),
        ("/host:metadata", "none", False),
        ("/device:GPU:0", "Stream #1(Compute)", True),
        ("/device:TPU:0", "XLA Ops", False),
    ):
        plane = space.planes.add(name=plane_name)
        stats = {
            "tf_op": 1, "kernel_details": 2, "is_eager" if has_eager else "is_func": 3,
            "device_offset_ps": 4, "device_duration_ps": 5, "hlo_op": 6, "regs:1": 7,
            "flops": 8, "Hlo Proto": 9,
        }  # fmt: skip
        for name, number in stats.items():
            plane.stat_metadata[number].id = number
            plane.stat_metadata[number].name = name
        for number, name in ((1, "a/MatMul:MatMul"), (2, "EagerExecute")):
            plane.event_metadata[number].id = number
            plane.event_metadata[number].name = name
        plane.event_metadata[1].stats.add(metadata_id=8, int64_value=1)
        plane.event_metadata[1].stats.add(metadata_id=9, bytes_value=b"")
        plane.stats.add(metadata_id=1, str_value="text")
        plane.stats.add(metadata_id=8, uint64_value=1)
        line = plane.lines.add(id=1, name=line_name)
        for kind, offset in ((1, 5_000), (1, 1_000), (2, 1_000)):
            event = line.events.add(metadata_id=kind, offset_ps=offset, duration_ps=2_000)
            event.stats.add(metadata_id=1, str_value="a/MatMul:MatMul")
            event.stats.add(metadata_id=2, ref_value=7)
            event.stats.add(metadata_id=3, int64_value=0)
            event.stats.add(metadata_id=4, uint64_value=offset)
            event.stats.add(metadata_id=5, double_value=2_000.0)
            event.stats.add(metadata_id=6, str_value="fusion")
    return bytes(space.SerializeToString())
