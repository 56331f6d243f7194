"""Payloads of all events of traces: made while they are sent, directly from the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import tbprof
from tbprof.base.digests import blake2b
from tbprof.base.errors import Notice, TbprofError
from tbprof.engine.hosts.space_pool import OpenSpace
from tbprof.engine.requests import DataRequest, Stream, check_table, csv_filename
from tbprof.events.space import Space
from tbprof.storage.files import fingerprint
from tbprof.storage.runs import Run, TraceFile
from tbprof.timeline.export.chrome import Host, TimeRange, chrome_trace, has_events
from tbprof.timeline.export.event_csv import event_csv
from tbprof.timeline.export.size_limit import limit
from tbprof.timeline.model.store import Timeline
from tbprof.tools.model.tool import EventStream, Tool

# Changes whenever the text of an event does: clients cache the response for a version of a file.
_FORMAT = 1
_PS_PER_MS = 10**9
# The bounds of times in a trace, and therefore in a document.
_LIMIT_PS = 2**57
_LATEST_PS = 2**60
# Payloads are 1 to 9 times as large as traces (measured), and traces compress to a tenth.
_FEWEST_BYTES = 10**9
_USUAL_RATIO = 100

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
    """The events of `files`, which map to the time of day at which times are 0; None without any.

    `notices` are what is already known to be lost; `derive` returns the tracks that are not in a
    file. Raises BadRequest, and what opening the files raises.
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
    most = _most_bytes(files, payload)
    etag = _etag(files, payload, request.format)
    if not _has_events(hosts):
        return None
    if is_csv:
        name = csv_filename(tool, run, request.hosts)
        return Stream(
            lambda _: event_csv(hosts, span, limit(most)), "text/csv; charset=utf-8", etag, name
        )
    return Stream(
        lambda is_strict: chrome_trace(
            hosts, span, [*notices, *apart], is_strict=is_strict, limited=limit(most)
        ),
        "application/json; charset=utf-8",
        etag,
    )


@contextmanager
def _space(open_file: Open, file: TraceFile) -> Iterator[Space]:
    with open_file(file) as (space, _, _):
        yield space


def _has_events(hosts: Sequence[Host]) -> bool:
    """Whether any host has events; hosts that cannot be read are skipped."""
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
    """(what to add to each host's times, in ps, to align them; notices on hosts not aligned).

    A single trace keeps its times, and so do traces without a time of day.
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


def _span(payload: EventStream) -> TimeRange | None:
    if payload.start_ms is None and payload.end_ms is None:
        return None
    return TimeRange(_ps(payload.start_ms, -_LATEST_PS), _ps(payload.end_ms, _LATEST_PS))


def _ps(time_ms: float | None, otherwise: int) -> int:
    if time_ms is None:
        return otherwise
    return round(max(-_LATEST_PS, min(_LATEST_PS, time_ms * _PS_PER_MS)))


def _most_bytes(files: Iterable[TraceFile], payload: EventStream) -> int:
    """How large the payload may become."""
    if payload.max_gb is not None:
        return round(payload.max_gb * 1e9)
    return _FEWEST_BYTES + _USUAL_RATIO * sum(file.bytes for file in files)


def _etag(files: Mapping[TraceFile, int], payload: EventStream, kind: str) -> str:
    facts = [tbprof.__version__, str(_FORMAT), str(payload), kind, *map(fingerprint, files)]
    names = [file.host for file in files]
    text = "\0".join([*facts, *names]).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=12).hexdigest()
