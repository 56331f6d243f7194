"""Requests to payloads: which parts of which hosts, computed once, combined and encoded."""

import tbprof.kernels  # noqa: F401 - first: in one sentence, why nothing can be computed here
