"""Where tbprof stores its own files."""

import os
import sys
from pathlib import Path

ENVIRONMENT = "TBPROF_CACHE_DIR"


def cache_directory() -> Path:
    """The folder of everything tbprof keeps for this user; `TBPROF_CACHE_DIR` overrides it."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform != "linux":
        import platformdirs

        return Path(platformdirs.user_cache_dir("tbprof"))
    # As `platformdirs` does, whose import takes 4 ms. Source: XDG Base Directory Specification.
    place = os.environ.get("XDG_CACHE_HOME", "").strip()
    return Path(place if place.startswith("/") else "~/.cache").expanduser() / "tbprof"
