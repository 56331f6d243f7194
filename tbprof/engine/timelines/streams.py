"""Payloads that are every event of traces: made while they are sent, from the files themselves."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import tbprof
from tbprof.base.errors import Notice, TbprofError
from tbprof.engine.requests import DataRequest, Stream, check_table, csv_filename
from tbprof.engine.space_pool import OpenSpace
from tbprof.events.space import Space
from tbprof.storage.files import fingerprint
from tbprof.storage.runs import Run, TraceFile
from tbprof.timeline.export.chrome import Host, Span, chrome_trace, has_events
from tbprof.timeline.export.event_csv import event_csv
from tbprof.timeline.model.store import Timeline
from tbprof.tools.tool import EventStream, Tool

# Changes whenever the text of an event does: clients keep what they got for a version of a file.
_FORMAT = 1
_PS_PER_MS = 10**9
# What times of a trace stay within, and with them those of a document.
_LIMIT_PS = 2**57
_LATEST_PS = 2**60

Open = Callable[[TraceFile], AbstractContextManager[OpenSpace]]


def event_stream(
    tool: Tool,
    run: Run,
    request: DataRequest,
    payload: EventStream,
    files: Mapping[TraceFile, int],
    notices: Sequence[Notice],
    open_file: Open,
    derive: Callable[[TraceFile], Timeline],
) -> Stream | None:
    """The events of `files`, each with the time of day that it counts from; None without any.

    `notices` say what is lost already; `derive` gives the tracks that a file lacks. Raises
    BadRequest, and what opening the files does.
    """
    is_csv = request.format == "csv"
    if is_csv:
        check_table(tool, request.table, 1)
    offsets, apart = _offsets(files)
    hosts = [
        Host(
            file.host,
            partial(_space, open_file, file),
            offset_ps,
            partial(derive, file) if payload.has_derived else None,
        )
        for file, offset_ps in zip(files, offsets, strict=True)
    ]
    span = _span(payload)
    etag = _etag(files, payload, request.format)
    if not _has_events(hosts):
        return None
    if is_csv:
        name = csv_filename(tool, run, request.hosts)
        return Stream(lambda _: event_csv(hosts, span), "text/csv; charset=utf-8", etag, name)
    return Stream(
        lambda is_strict: chrome_trace(hosts, span, [*notices, *apart], is_strict=is_strict),
        "application/json; charset=utf-8",
        etag,
    )


@contextmanager
def _space(open_file: Open, file: TraceFile) -> Iterator[Space]:
    with open_file(file) as (space, _, _):
        yield space


def _has_events(hosts: Sequence[Host]) -> bool:
    """Whether any host has; one that cannot be read is no reason to look no further."""
    failure: TbprofError | None = None
    for host in hosts:
        try:
            with host.space() as space:
                if has_events(space):
                    return True
        except TbprofError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return False


def _offsets(files: Mapping[TraceFile, int]) -> tuple[list[int], list[Notice]]:
    """(what to add to each host's times, in ps, so that they meet; whose times do not meet).

    A trace alone keeps its times. So do those that do not say what time of day they count from.
    """
    first_ns = min((epoch_ns for epoch_ns in files.values() if epoch_ns), default=0)
    offsets, apart = [], []
    for file, epoch_ns in files.items():
        offset_ps = (epoch_ns - first_ns) * 1000 if epoch_ns else 0
        if offset_ps > _LIMIT_PS:
            apart.append(
                Notice(
                    "times_apart",
                    "this host was recorded days after others: its times begin where theirs do",
                    file.host,
                )
            )
            offset_ps = 0
        offsets.append(offset_ps)
    return offsets, apart


def _span(payload: EventStream) -> Span | None:
    if payload.start_ms is None and payload.end_ms is None:
        return None
    return Span(_ps(payload.start_ms, -_LATEST_PS), _ps(payload.end_ms, _LATEST_PS))


def _ps(time_ms: float | None, otherwise: int) -> int:
    if time_ms is None:
        return otherwise
    return round(max(-_LATEST_PS, min(_LATEST_PS, time_ms * _PS_PER_MS)))


def _etag(files: Mapping[TraceFile, int], payload: EventStream, kind: str) -> str:
    facts = [tbprof.__version__, str(_FORMAT), str(payload), kind, *map(fingerprint, files)]
    names = [file.host for file in files]
    text = "\0".join([*facts, *names]).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=12).hexdigest()
