"""Logdirs that tests make, and what is found in them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tbprof.storage.logdir import Logdir


def make(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\n\0")
    return root


def runs(location: str | Sequence[str], **options: Any) -> dict[str, list[str]]:
    found = Logdir(location, **options).runs()
    return {name: [file.host for file in run.files] for name, run in found.items()}


def ignored(logdir: Logdir) -> dict[str, str]:
    logdir.runs()
    return {Path(entry.path).name: entry.reason for entry in logdir.report().ignored}
