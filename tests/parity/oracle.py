"""What xprof shows for a trace: its tables as rows by column id."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.converters import XPROF, convert

from tbprof._pb import message

Row = dict[str, Any]


def ask_xprof(
    python: str,
    folder: Path,
    traces: Mapping[str, bytes],
    tools: Sequence[str] = ("framework_op_stats", "kernel_stats"),
    params: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON of `tools` for the hosts `traces`, copied to `folder`: xprof writes there.

    `params` are those of a request; of the trace viewer under `trace_viewer_options`.
    """
    paths = []
    for host, content in traces.items():
        path = folder / f"{host}.xplane.pb"
        path.write_bytes(content)
        paths.append(str(path))
    return convert(python, XPROF, folder / "answer.json", tools, paths, params)


def by(rows_: Sequence[Row], *keys: str) -> dict[tuple[Any, ...], Row]:
    """The rows by the values of some columns, which tell them apart."""
    found = {tuple(row[key] for key in keys): row for row in rows_}
    assert len(found) == len(rows_), f"{keys} do not tell the rows apart"
    return found


def renamed(content: bytes, stat: str, to: str, vendor: str) -> bytes:
    """The trace with one stat renamed and its GPUs' vendor stated: what a newer recorder writes."""
    space = message("tensorflow.profiler.XSpace").FromString(content)
    for plane in space.planes:
        if not plane.name.startswith("/device:GPU:"):
            continue
        for number, entry in list(plane.stat_metadata.items()):
            if entry.name == stat:
                plane.stat_metadata[number].name = to
        number = max(plane.stat_metadata, default=0) + 1
        plane.stat_metadata[number].id = number
        plane.stat_metadata[number].name = "device_vendor"
        plane.stats.add(metadata_id=number, str_value=vendor)
    return bytes(space.SerializeToString())
