"""Serves the built pages: only files that existed at the start, by exact name."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from tbprof.base.digests import blake2b
from tbprof.serving.responses import HTML, PLAIN, Reply

STATIC = Path(__file__).resolve().parent.parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": HTML,
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": PLAIN,
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
# Names below assets/ contain a hash of the content.
_IMMUTABLE = "public, max-age=31536000, immutable"

# The function that TensorBoard calls in the plugin's frame: the pages are a separate document.
_ENTRY = b"export function render() { document.location.href = 'index.html'; }\n"
_NO_PAGES = b"""<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>tbprof</title>
<h1>The pages of tbprof are missing</h1>
<p>This installation has no built pages: it was probably made from a source folder without them.
<p>Install a released wheel (<code>pip install --force-reinstall tbprof</code>), or build the pages
in the source folder (see its README) and start the server again.
<p>The data is served all the same, for example <a href="runs">the list of runs</a>.
</html>
"""


class Assets:
    """The files below `directory`, listed once."""

    def __init__(self, directory: Path = STATIC) -> None:
        self._files = {
            path.relative_to(directory).as_posix(): path
            for path in (sorted(directory.rglob("*")) if directory.is_dir() else ())
            if path.is_file() and path.suffix in _TYPES
        }
        self._reply = cache(self._read)

    def get(self, name: str) -> Reply | None:
        """The file, None if there is none with this name."""
        if name in self._files:
            return self._reply(name)
        if name == "index.js":
            return Reply(_ENTRY, _TYPES[".js"])
        if name == "index.html" and not self._files:
            return Reply(_NO_PAGES, _TYPES[".html"])
        return None

    def _read(self, name: str) -> Reply | None:
        path = self._files[name]
        try:
            content = path.read_bytes()
        except OSError:  # uninstalled since the start
            return None
        return Reply(
            content,
            _TYPES[path.suffix],
            etag=blake2b(content, digest_size=12).hexdigest(),
            cache_control=_IMMUTABLE if name.startswith("assets/") else "no-cache",
            gzipped=cache(lambda: gzip.compress(content, 9, mtime=0)),
        )
