"""Where tbprof keeps files of its own."""

import os
from pathlib import Path

ENVIRONMENT = "TBPROF_CACHE_DIR"


def cache_directory() -> Path:
    """The folder of everything tbprof keeps for this user; `TBPROF_CACHE_DIR` overrides it."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen).expanduser()
    # Importing it takes a millisecond that processes with a chosen folder need not spend.
    import platformdirs

    return Path(platformdirs.user_cache_dir("tbprof"))
