"""Requests to payloads: which parts of which hosts, computed once, combined and encoded."""

from importlib import import_module

# First, as it says in one sentence why nothing can be computed here.
import_module("tbprof.kernels")
