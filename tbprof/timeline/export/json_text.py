"""Texts and numbers as JSON, written by compiled kernels into byte buffers.

A writer takes the buffer and the current offset, and returns the offset after what it has
written. The caller ensures that there is room. Source: RFC 8259.
"""

from __future__ import annotations

from collections.abc import Iterable
from json.encoder import encode_basestring

import numpy as np

from tbprof.kernels.export.json_bytes import Texts

# The most bytes that one byte of a text becomes: a control character as \u0000.
# The most bytes of a number, in quotes if a double could not represent it.

# Readers parse numbers as doubles, exact up to 2^53. Source: RFC 8259, section 6.


def joined(parts: Iterable[bytes]) -> Texts:
    """The parts as `Texts`."""
    texts = list(parts)
    first = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(part) for part in texts], out=first[1:])
    return Texts(np.frombuffer(b"".join(texts), np.uint8), first)


def json_string(text: str) -> bytes:
    """The text as a JSON string; lone surrogates become question marks."""
    return encode_basestring(text).encode("utf-8", "replace")
