"""Errors that recorders report in their own traces, and how to fix them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tbprof.base.errors import Notice

# (a part of the text in lower case, the fix). Sources: cupti_error_manager.cc and cupti_tracer.cc
# of OpenXLA, the error codes of CUPTI's reference, observed traces.
_LESS = "record fewer steps, with a lower host level, or without the Python tracer"
_ADMIN = "NVreg_RestrictProfilingToAdminUsers=0, or start the container with --cap-add=SYS_ADMIN"
_FIXES: tuple[tuple[str, str], ...] = (
    (
        "insufficient_privileges",
        (
            "the driver restricts the counters to administrators: load the nvidia module with "
            f"{_ADMIN}"
        ),
    ),
    (
        "multiple_subscribers",
        "another profiler holds the GPU (Nsight, nvprof, a second capture): end that one first",
    ),
    (
        "could not load dynamic library 'libcupti",
        "install the CUPTI of your CUDA version and put its folder on LD_LIBRARY_PATH",
    ),
    ("virtualized_device", "CUPTI does not record virtual GPUs: use a passed-through one"),
    ("cupti", "CUPTI of the installed CUDA and the driver must match"),
    ("drop", f"the recorder's buffers were full: {_LESS}"),
    ("buffer", _LESS),
)


def fix_for(text: str) -> str:
    """The fix for an error that a recorder reports, "" if none is known."""
    low = text.lower()
    return next((fix for part, fix in _FIXES if part in low), "")


def error_notices(
    errors: Iterable[str], warnings: Iterable[str], host: str = ""
) -> Iterator[Notice]:
    """The errors and warnings of a trace, as results carry them."""
    for code, texts in (("recorder_error", errors), ("recorder_warning", warnings)):
        for text in texts:
            yield Notice(code, text, host, fix_for(text))
