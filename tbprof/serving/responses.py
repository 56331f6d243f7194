"""Turns replies and errors into HTTP responses: gzip, ETag, security headers, error contract."""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

from werkzeug.datastructures import Headers
from werkzeug.wrappers import Request, Response

from tbprof.base.errors import TbprofError
from tbprof.base.records import dataclass

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

logger = logging.getLogger(__name__)

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"
TILES = "application/octet-stream"

# Our pages only need their own server, and no inline script or style.
CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'none'"
)
# TensorBoard itself is framed by notebooks and editors of other origins, and `frame-ancestors`
# checks every enclosing frame; so only our own server sets it.
CSP_STANDALONE = f"{CSP}; frame-ancestors 'self'"

_GZIP_FROM = 1024  # bytes; below, the headers outweigh the gain
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # with gzip's header
_COMPRESSIBLE = ("text/", "application/json", "application/javascript", "image/svg+xml", TILES)
_ISSUE_HINT = "this is a bug in tbprof: please report it, with the server's log from this time"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that does not yet depend on a request's headers.

    `gzipped` returns the compressed bytes, once. `chunks` returns the content in pieces, instead
    of `content`, if that is too large for memory.
    """

    content: bytes
    content_type: str = JSON
    status: int = 200
    etag: str = ""
    cache_control: str = "no-cache"
    filename: str | None = None
    gzipped: Callable[[], bytes] | None = None
    allow: str = ""
    chunks: Callable[[], Generator[bytes, None, None]] | None = None


def json_reply(value: object, status: int = 200) -> Reply:
    """`value` as JSON. Names may contain anything; lone surrogates become question marks."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Reply(text.encode("utf-8", "replace"), status=status, cache_control="no-store")


def error_reply(error: TbprofError, allow: str = "") -> Reply:
    """The error contract. `allow` lists the methods, for 405."""
    body = {"code": error.code, "message": error.message, "hint": error.hint}
    field = getattr(error, "field", "")
    if field:
        body["field"] = field
    reply = json_reply({"error": body}, error.status)
    return Reply(reply.content, status=error.status, cache_control="no-store", allow=allow)


def guarded(answer: Callable[[], Reply]) -> Reply:
    """The answer, or the error contract for whatever went wrong."""
    try:
        return answer()
    except TbprofError as err:
        if err.status >= 500:
            logger.warning("%s", err.message)
        return error_reply(err)
    except Exception:  # the one boundary: a defect must neither stop the server nor leak details
        logger.exception("tbprof could not answer a request")
        defect = TbprofError("tbprof failed in an unexpected way", _ISSUE_HINT)
        defect.code = "internal"
        return error_reply(defect)


def response(request: Request, reply: Reply, csp: str) -> Response:
    """The reply for this request: not modified, compressed, or plain."""
    out = _Response(status=reply.status, content_type=reply.content_type)
    headers = out.headers
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Content-Security-Policy"] = csp
    headers["Referrer-Policy"] = "same-origin"
    headers["Cache-Control"] = reply.cache_control
    if reply.allow:
        headers["Allow"] = reply.allow
    if reply.filename is not None:
        headers["Content-Disposition"] = _attachment(reply.filename)
    if reply.etag:
        # Weak: the compressed and the plain bytes share one tag.
        out.set_etag(reply.etag, weak=True)
        if request.if_none_match.contains_weak(reply.etag):
            out.status_code = 304
            headers["Vary"] = "Accept-Encoding"
            return out
    is_compressible = reply.content_type.startswith(_COMPRESSIBLE)
    if is_compressible:
        headers["Vary"] = "Accept-Encoding"
    if reply.chunks is not None:
        out.automatically_set_content_length = False  # it is only known at the end
        is_small = is_compressible and _accepts_gzip(request)
        if is_small:
            headers["Content-Encoding"] = "gzip"
        if request.method != "HEAD":
            out.response = _compressed(reply.chunks()) if is_small else reply.chunks()
    elif is_compressible and len(reply.content) >= _GZIP_FROM and _accepts_gzip(request):
        compress = reply.gzipped or (lambda: gzip.compress(reply.content, 5, mtime=0))
        out.set_data(compress())
        headers["Content-Encoding"] = "gzip"
    else:
        out.set_data(reply.content)
    return out


def _compressed(chunks: Generator[bytes, None, None]) -> Iterator[bytes]:
    """The chunks as one gzip stream, as fast as possible: the client is usually near."""
    packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP_WINDOW)
    with closing(chunks) as pieces:
        for chunk in pieces:
            packed = packer.compress(chunk)
            if packed:
                yield packed
    yield packer.flush()


class _Response(Response):
    """Also states its type with 304: TensorBoard's validator requires that of every response."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        headers = super().get_wsgi_headers(environ)
        headers["Content-Type"] = self.headers["Content-Type"]
        return headers


def _accepts_gzip(request: Request) -> bool:
    # Not `in`: "gzip;q=0" refuses gzip, and "*" is ambiguous.
    return any(
        name.lower() in ("gzip", "x-gzip") and quality > 0
        for name, quality in request.accept_encodings
    )


def _attachment(filename: str) -> str:
    """Source: RFC 6266; the plain form for old clients, the extended one for every name."""
    safe = filename.replace("/", "_").replace("\\", "_")
    ascii_name = "".join(c if c.isascii() and (c.isalnum() or c in "._- ") else "_" for c in safe)
    extended = quote(safe, safe="", errors="replace")
    return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{extended}"
