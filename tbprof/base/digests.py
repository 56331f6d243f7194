"""BLAKE2b without OpenSSL, which `hashlib` loads: that takes 3 ms and 5 MB of each process."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # not CPython
    from hashlib import blake2b

__all__ = ["blake2b"]
