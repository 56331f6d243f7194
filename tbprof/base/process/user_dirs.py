"""Where tbprof stores its own files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tbprof.base.errors import BadRequest

ENVIRONMENT = "TBPROF_CACHE_DIR"
CACHE_SIZE = "TBPROF_CACHE_GB"
_USUAL_GB = "2"


def cache_directory() -> Path:
    """The folder of tbprof's files for this user; `TBPROF_CACHE_DIR` overrides it."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform != "linux":
        import platformdirs

        return Path(platformdirs.user_cache_dir("tbprof"))
    # As `platformdirs` does, whose import takes 4 ms. Source: XDG Base Directory Specification.
    place = os.environ.get("XDG_CACHE_HOME", "").strip()
    return Path(place if place.startswith("/") else "~/.cache").expanduser() / "tbprof"


def cache_bytes() -> int:
    """The limit of the cache's size: 2 GB, or `TBPROF_CACHE_GB`. Raises BadRequest."""
    chosen = os.environ.get(CACHE_SIZE) or _USUAL_GB
    try:
        return int(float(chosen) * 1e9)
    except (ValueError, OverflowError):
        raise BadRequest(
            f"{CACHE_SIZE} is {chosen!r}, which is not a number of gigabytes",
            "set it to a number, such as 20",
        ) from None
