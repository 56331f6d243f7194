"""Files of the cache, which nobody may open for writing."""

from pathlib import Path


def overwrite(path: Path, content: bytes) -> None:
    """Puts another file in the place of one that is kept."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)
