"""Facts about a file under each backend's own names, and addresses without secrets."""

from __future__ import annotations

from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tbprof.storage.filesystems import FileStat

# Backends name the same facts differently: memory, local, gcsfs, s3fs, adlfs, http.
_TIMES = ("mtime", "LastModified", "last_modified", "Last-Modified", "updated", "created")
_VERSIONS = ("generation", "ETag", "etag", "md5Hash", "crc32c", "Content-MD5")


def stat_of(info: dict[str, Any]) -> FileStat:
    """Size, age and version of an entry."""
    modified = next((info[key] for key in _TIMES if info.get(key) is not None), 0)
    version = next((str(info[key]) for key in _VERSIONS if info.get(key)), "")
    return FileStat(int(info.get("size") or 0), _nanoseconds(modified), version)


def shown(url: str) -> str:
    """The address without what may be secret: passwords, and signatures in its query."""
    if not url.startswith(("http://", "https://")):
        return url
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _nanoseconds(moment: object) -> int:
    if isinstance(moment, str):
        try:
            moment = _parsed(moment)
        except ValueError:
            return 0
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return int(moment.timestamp() * 1e6) * 1000
    return int(moment * 1e9) if isinstance(moment, (int, float)) else 0


def _parsed(moment: str) -> datetime:
    if moment[:1].isdigit():
        return datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return parsedate_to_datetime(moment)  # of HTTP
