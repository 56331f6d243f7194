"""The overview's run environment: hosts, devices, versions, what was recorded and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone

from tbprof.advice.evidence import Evidence
from tbprof.advice.sentences import milliseconds
from tbprof.analysis.run.environment import Environment
from tbprof.analysis.vocabulary.training import is_training
from tbprof.base.records import NamedTuple
from tbprof.base.texts import few
from tbprof.tools.model.datatable import Table, text

# How many different values of a fact are listed.
_MOST_ROWS = 8


class _Fact(NamedTuple):
    id: str
    label: str
    value: str
    note: str = ""
    host: str = ""


def run_table(evidence: Evidence, hosts: Sequence[str]) -> Table:
    """The run table for scripts: a row per host, and common properties."""
    names = [
        environment.host_name or host
        for environment, host in zip(evidence.environments, hosts, strict=True)
    ]
    count = len(set(names))
    tasks = len(hosts)
    return Table(
        (
            text("host_id", "host_id", names),
            text("command_line", "command_line", [""] * tasks),
            text(
                "start_time",
                "start_time",
                [_started(environment) for environment in evidence.environments],
            ),
            text("bns_address", "bns_address", [""] * tasks),
        ),
        {
            "host_count": str(count),
            "task_count": f"{tasks} (num tasks per host = {tasks // max(count, 1)})",
            "device_type": evidence.devices.type,
            "device_core_count": str(evidence.devices.tpus or evidence.devices.gpus),
            "is_training": "true" if is_training(evidence.ops.name) else "false",
        },
    )


def environment_table(evidence: Evidence, hosts: Sequence[str]) -> Table:
    """Facts about the run, one per row; `host` is "" for facts that hold for all hosts."""
    rows = [
        *_run(evidence, hosts),
        *_devices(evidence),
        *_by_host(evidence.environments, hosts, _details),
        *_by_host(evidence.environments, hosts, _versions),
        *_recording(evidence, hosts),
        *_by_host(evidence.environments, hosts, _options),
    ]
    return Table(
        (
            text("id", "Id", [row.id for row in rows]),
            text("label", "What", [row.label for row in rows]),
            text("value", "Value", [row.value for row in rows]),
            text("note", "Note", [row.note for row in rows]),
            text("host", "Host", [row.host for row in rows]),
        )
    )


def _run(evidence: Evidence, hosts: Sequence[str]) -> Iterator[_Fact]:
    yield _Fact("hosts", "Hosts", str(len(hosts)), few(hosts, 3))
    kind, ops = ("Training", "an op") if is_training(evidence.ops.name) else ("Inference", "no op")
    yield _Fact("task", "Kind of run", kind, f"{ops} computes a gradient")


def _devices(evidence: Evidence) -> Iterator[_Fact]:
    devices = evidence.devices
    yield _Fact("device_type", "Device type", devices.type)
    recorded: dict[str, int] = {}
    active: dict[str, int] = {}
    for environment in evidence.environments:
        for index, kind in enumerate(environment.kind):
            recorded[kind] = recorded.get(kind, 0) + int(environment.recorded[index])
            active[kind] = active.get(kind, 0) + int(environment.active[index])
    for kind, count in recorded.items():
        label = "TPU cores" if kind == "TPU" else f"{kind}s"
        yield _Fact(
            f"{kind.lower()}s",
            label,
            str(count),
            "" if active[kind] == count else f"events recorded for {active[kind]}",
        )
    if devices.peak_gflops > 0:
        yield _Fact(
            "peak_flops",
            "Peak compute per device",
            f"{devices.peak_gflops / 1e3:,.4g} TFLOP/s",
            _with_source("16 bit, dense", devices.flop_source),
        )
    if devices.peak_hbm_gbytes > 0:
        yield _Fact(
            "peak_bandwidth",
            "Peak memory bandwidth per device",
            f"{devices.peak_hbm_gbytes:,.4g} GB/s",
            devices.hbm_source,
        )


def _with_source(text: str, source: str) -> str:
    return f"{text}; {source}" if source else text


def _recording(evidence: Evidence, hosts: Sequence[str]) -> Iterator[_Fact]:
    yield from _by_host(evidence.environments, hosts, _window)
    yield from _by_host(evidence.environments, hosts, _dropped)


def _details(environment: Environment) -> Iterator[_Fact]:
    for name, value in zip(environment.detail_name, environment.detail_value, strict=True):
        yield _Fact(_id(name), name, value)


def _versions(environment: Environment) -> Iterator[_Fact]:
    for name, value in zip(environment.version_name, environment.version_value, strict=True):
        yield _Fact(f"version_{_id(name)}", f"{name} version", value)


def _options(environment: Environment) -> Iterator[_Fact]:
    for name, value in zip(environment.option_name, environment.option_value, strict=True):
        yield _Fact(f"option_{_id(name)}", name, value)


def _window(environment: Environment) -> Iterator[_Fact]:
    started = _started(environment)
    note = "" if environment.is_window_stated else "from the first event to the last"
    yield _Fact("window", "Recorded", milliseconds(environment.window_ps / 1e9), note)
    if started:
        yield _Fact("started", "Recording started", started, "UTC")


def _dropped(environment: Environment) -> Iterator[_Fact]:
    reports = [
        text for text in (*environment.errors, *environment.warnings) if "drop" in text.lower()
    ]
    note = "; ".join(reports)
    if environment.dropped_events >= 0:
        yield _Fact("dropped", "Dropped events", f"{environment.dropped_events:,}", note)
    else:
        yield _Fact("dropped", "Dropped events", "some" if reports else "none reported", note)


def _started(environment: Environment) -> str:
    """The start of the recording in UTC, "" if it is unknown or not a plausible time."""
    if not 0 < environment.start_epoch_ns < 4_000_000_000 * 10**9:
        return ""
    moment = datetime.fromtimestamp(environment.start_epoch_ns // 10**9, timezone.utc)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _by_host(
    environments: Sequence[Environment],
    hosts: Sequence[str],
    rows_of: Callable[[Environment], Iterator[_Fact]],
) -> Iterator[_Fact]:
    """The rows of each host by id; one row if it is the same on all hosts.

    Of many hosts, those with the same value share a row.
    """
    by_id: dict[str, list[_Fact]] = {}
    for environment, host in zip(environments, hosts, strict=True):
        for row in rows_of(environment):
            by_id.setdefault(row.id, []).append(row._replace(host=host))
    for rows in by_id.values():
        if len(rows) == len(hosts) and len({(row.value, row.note) for row in rows}) == 1:
            yield rows[0]._replace(host="")
        elif len(rows) <= _MOST_ROWS:
            yield from rows
        else:
            yield from _by_value(rows)


def _by_value(rows: Sequence[_Fact]) -> Iterator[_Fact]:
    """A row for each of the most common values, and one for all others."""
    of_value: dict[tuple[str, str], list[_Fact]] = {}
    for row in rows:
        of_value.setdefault((row.value, row.note), []).append(row)
    groups = sorted(of_value.values(), key=len, reverse=True)
    most = _MOST_ROWS if len(groups) <= _MOST_ROWS else _MOST_ROWS - 1
    for group in groups[:most]:
        yield group[0]._replace(host=_names(group))
    others = [row for group in groups[most:] for row in group]
    if others:
        value = f"{len(groups) - most:,} other values"
        yield others[0]._replace(value=value, note="", host=_names(others))


def _names(rows: Sequence[_Fact]) -> str:
    more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    return rows[0].host + more


def _id(label: str) -> str:
    return "_".join("".join(c.lower() if c.isalnum() else " " for c in label).split())
