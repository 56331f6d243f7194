"""Requests to payloads: which parts of which hosts, computed once, combined and encoded."""

from __future__ import annotations

from importlib import import_module

# Imported first, since it explains in one sentence if the kernels are not compiled.
import_module("tbprof.kernels")
