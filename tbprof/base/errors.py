"""Our own error type and the warnings that travel with partial results."""

from __future__ import annotations

from typing import Any

from tbprof.base.records import dataclass

# The advice for a file that was cut off.
CUT_HINT = "copy the file again, or wait until the recorder has finished writing it"


class TbprofError(Exception):
    """What went wrong, in terms the user can act on.

    `code` is stable and machine readable, `status` the HTTP status, `hint` what to do.
    """

    code = "error"
    status = 500

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the error with all of its attributes, whatever its `__init__` takes."""
        return _restored_error, (type(self), self.args, vars(self))


def _restored_error(
    kind: type[TbprofError], arguments: tuple[object, ...], facts: dict[str, object]
) -> TbprofError:
    error = kind.__new__(kind, *arguments)
    vars(error).update(facts)
    return error


class NotCompiled(TbprofError):
    """The compiled modules are missing, damaged, stale, or for another machine."""

    code = "not_compiled"


class BadRequest(TbprofError):
    """A parameter is missing or malformed."""

    code = "bad_request"
    status = 400


class RunNotFound(TbprofError):
    """No run of this name was discovered."""

    code = "run_not_found"
    status = 404


class HostNotFound(TbprofError):
    """The run has no host of this name."""

    code = "host_not_found"
    status = 404


class ToolNotFound(TbprofError):
    """No tool has this name."""

    code = "tool_not_found"
    status = 404


class EventNotFound(TbprofError):
    """The timeline has no such event."""

    code = "event_not_found"
    status = 404


class Stale(TbprofError):
    """The file has changed since the client last read its version."""

    code = "stale"
    status = 409


class NoData(TbprofError):
    """The trace is readable but contains nothing for this tool; the message says why."""

    code = "no_data"
    status = 422


class Unsupported(TbprofError):
    """The file is of a known kind that we cannot read."""

    code = "unsupported"
    status = 422


class Unreachable(TbprofError):
    """The storage does not answer or refuses access."""

    code = "unreachable"
    status = 502


class LoadFailed(TbprofError):
    """A package that tbprof needs could not be imported."""

    code = "load_failed"
    status = 503


class BadTrace(TbprofError):
    """The file is not a readable trace; states the file and the byte offset of the damage."""

    code = "bad_trace"
    status = 422

    def __init__(self, path: str, offset: int, problem: str, hint: str = "") -> None:
        super().__init__(f"{path}: {problem} (at byte {offset})", hint)
        self.path = path
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning that travels with a result: what was lost or is uncertain, where, what to do."""

    code: str
    message: str
    host: str = ""
    hint: str = ""
