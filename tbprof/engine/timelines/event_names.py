"""Finds names of events over all hosts of a run."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from tbprof.base.errors import TbprofError
from tbprof.base.process.parallel import in_parallel
from tbprof.engine.engine import Engine
from tbprof.engine.requests import choose_files
from tbprof.storage.runs import TraceFile
from tbprof.timeline.model.open_timeline import OpenTimeline, shorten

# Bytes of files whose timelines are built for one request, at least one file; the next continues.
_MOST_BYTES = 256 << 20


def event_names(engine: Engine, run: str, hosts: Sequence[str], query: str, most: int) -> bytes:
    """JSON of the names with all words of `query`, on some hosts, or on all if none is named.

    At most `most` names, with their events and hosts: the name itself first, then those that begin
    with the query, then by their events. `unread` hosts are left out: their timelines are not
    built yet. Hosts that cannot be read are left out, too.
    """
    files = choose_files(engine.run(run), hosts)
    chosen = _within_budget(engine, files)
    words = query.casefold().split()

    def find(file: TraceFile) -> dict[str, int]:
        try:
            return _names_with(engine.timeline(run, file, "events").open_timeline, words)
        except TbprofError:
            return {}

    size = sum(file.bytes for file in chosen)
    by_host = in_parallel(lambda index: find(chosen[index]), range(len(chosen)), size)
    counts: dict[str, tuple[int, int]] = {}
    for names in by_host:
        for name, events in names.items():
            before, hosts_before = counts.get(name, (0, 0))
            counts[name] = before + events, hosts_before + 1
    text = query.strip().casefold()

    def rank(name: str) -> tuple[bool, bool, int, str]:
        folded = name.casefold()
        return folded != text, not folded.startswith(text), -counts[name][0], name

    listed = sorted(counts, key=rank)[:most]
    return orjson.dumps(
        {
            "names": [
                {"name": name, "events": counts[name][0], "hosts": counts[name][1]}
                for name in listed
            ],
            "count": len(counts),
            "unread": len(files) - len(chosen),
        }
    )


def _within_budget(engine: Engine, files: Sequence[TraceFile]) -> list[TraceFile]:
    """The files whose timelines are open or can be built within the budget."""
    left = _MOST_BYTES
    chosen: list[TraceFile] = []
    for file in files:
        is_open = engine.timelines.is_open(file, "events")
        if not is_open:
            if file.bytes > left and left < _MOST_BYTES:
                continue
            left -= file.bytes
        chosen.append(file)
    return chosen


def _names_with(open_timeline: OpenTimeline, words: Sequence[str]) -> dict[str, int]:
    """The number of events of each name that has all the words."""
    names = open_timeline.names.text
    counts = open_timeline.name_counts.tolist()
    folded = open_timeline.cache.get_or_compute("folded names", lambda: [*map(str.casefold, names)])
    return {
        shorten(names[number]): counts[number]
        for number, name in enumerate(folded)
        if counts[number] and all(word in name for word in words)
    }
