"""All that pages and the trace viewer ask of a space, for the fuzzer."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Literal

import numpy as np
import orjson
from builders.open_timelines import match_overview, search
from helpers.drawn.computed_parts import compute_part, compute_parts

from tbprof.advice.summaries import Summaries
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.steps.steps import Steps
from tbprof.base.errors import TbprofError
from tbprof.base.records import replace
from tbprof.engine.encode import encode_document, encode_json
from tbprof.engine.parts import PARTS, part_keys
from tbprof.engine.timelines.timeline_index import timeline_index
from tbprof.events.space import Space
from tbprof.storage.packing import pack, unpack
from tbprof.timeline.build.build import build_timeline
from tbprof.timeline.build.busy import busy_shares
from tbprof.timeline.build.derived import find_derived
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.calls.call_tree import call_tree
from tbprof.timeline.export.chrome import Host, TimeRange, chrome_trace
from tbprof.timeline.export.event_csv import event_csv
from tbprof.timeline.model.counter_points import query_counter
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.questions.aggregate import aggregate
from tbprof.timeline.questions.details import MOVES, details, move
from tbprof.timeline.questions.flows import flows
from tbprof.timeline.questions.steps_of_events import step_windows
from tbprof.timeline.tiles.tiles import encode_tiles
from tbprof.timeline.tiles.visible_events import all_events, filter_events
from tbprof.tools import TOOLS
from tbprof.tools.kernels.kernel_detail import ChosenKernel, describe_calls
from tbprof.tools.model.tool import Attachment, Document, EventStream, Tool

_SEARCHES = (("a", False), ("a|Mat.*l|^$", True), ("tf_op:a", False), ("category:compute", False))
# As the routes take them.
_LEVELS = (0, 9, 40, 52)
_LAYOUTS: tuple[Literal["rows", "columns"], ...] = ("rows", "columns")
_NUMPY = orjson.OPT_SERIALIZE_NUMPY


def ask_pages(space: Space) -> None:
    """Computes every part, as it is kept and as it is read back, and every page of them."""
    computed = compute_parts(space)
    for name, part in computed.items():
        unpack(PARTS[name].type, pack(part))
    parts = {name: [part] for name, part in computed.items()}
    for kernel in dict.fromkeys(computed["kernels"].name):
        orjson.dumps(describe_calls(Summaries(("h0",), parts), ChosenKernel(kernel)))
    for tool in TOOLS:
        try:
            _ask_page(tool, _with_chosen(tool, Summaries(("h0",), parts), space), space)
        except TbprofError:  # it has nothing to show, and says why
            continue


def _ask_page(tool: Tool, summaries: Summaries, space: Space) -> None:
    payload = tool.build(summaries)
    for layout in _LAYOUTS:
        if isinstance(payload, Document):
            if payload.is_empty:  # the page says that there is nothing
                continue
            encode_document(payload, space.notices, layout=layout)
        elif not isinstance(payload, EventStream | Attachment):
            encode_json(payload, layout=layout, is_list=tool.is_list)


def _with_chosen(tool: Tool, summaries: Summaries, space: Space) -> Summaries:
    """Summaries with the parts of the host that the tool chooses."""
    choice = tool.choose(summaries) if tool.is_chosen else None
    found: dict[str, list[object]] = {name: [] for name in tool.chosen_parts}
    if choice is not None:
        for key in part_keys(tool.chosen_parts, choice.params):
            part = PARTS[key.name].compute(space, Programs(space), *key.values)
            found[key.name] = [unpack(PARTS[key.name].type, pack(part))]
    return replace(summaries, parts={**summaries.parts, **found})


def ask_viewer(space: Space, random: Random) -> None:
    """Asks the trace viewer's questions about what the file holds and what is derived of it."""
    programs = Programs(space)
    steps: Steps = compute_part("steps", space)
    derived = build_timeline(space, find_derived(space, programs, steps), has_counters=False)
    recorded = build_timeline(space, find_tracks(space))
    windows = [step_windows(OpenTimeline(derived, lambda: space), "derived")]
    for timeline in (recorded, derived):
        opened = OpenTimeline(timeline, lambda: space)
        orjson.dumps(timeline_index(timeline, "h0", "events", "1"))
        _ask_windows(opened, random)
        events = timeline.start_ps.size
        for event in {0, events - 1, random.randrange(events)} if events else ():
            orjson.dumps(details(opened, event, steps=windows), option=_NUMPY)
            orjson.dumps(flows(opened, event), option=_NUMPY)
            for how in MOVES:
                move(opened, event, how)

    @contextmanager
    def read() -> Iterator[Space]:
        yield space

    host = Host("h0", read, 5, lambda: derived)
    for span in (None, TimeRange(-(2**57), 10**6)):
        orjson.loads(b"".join(chrome_trace([host], span)))
        b"".join(event_csv([host], span)).decode()


def _ask_windows(opened: OpenTimeline, random: Random) -> None:
    """Tiles, counters, shares, searches and sums of the whole and of a window."""
    timeline = opened.timeline
    rows = np.arange(timeline.row_first.size - 1)
    is_wanted = np.array([random.random() < 0.5 for _ in timeline.types.name], np.bool_)
    for shown in (
        all_events(timeline),
        filter_events(timeline, is_wanted, random.choice((0, 1, 1000))),
    ):
        for level in (*_LEVELS, random.randrange(53)):
            first = random.choice((0, 0, 1, 7, 2**40))
            encode_tiles(timeline, shown, level, first, first + 3, rows)
    for counter in range(len(timeline.counters)):
        for level in _LEVELS:
            query_counter(timeline, counter, level, 0, 512)
    middle = (timeline.begin_ps + timeline.end_ps) // 2
    for window in ((timeline.begin_ps, max(timeline.end_ps, timeline.begin_ps + 1)),
                   (middle, middle + 1 + random.randrange(10**6))):  # fmt: skip
        for section in range(len(timeline.sections)):
            busy_shares(timeline, section, *window, 7)
        for by in ("name", "category", "track"):
            orjson.dumps(
                aggregate(opened, from_ps=window[0], to_ps=window[1], by=by), option=_NUMPY
            )
        for order in ("top_down", "bottom_up"):
            orjson.dumps(
                call_tree(
                    opened, from_ps=window[0], to_ps=window[1], order=order,
                    is_by_track=random.random() < 0.5,
                )
            )  # fmt: skip
        for text, is_regex in _SEARCHES:
            search(opened, text, is_regex=is_regex, limit=3, from_ps=window[0], to_ps=window[1])
            found = search(opened, text, is_regex=is_regex, limit=2)
            if found["cursor"]:
                search(opened, text, is_regex=is_regex, limit=2, after=found["cursor"])
            match_overview(
                opened, text, is_regex=is_regex, has_case=True, level=random.choice(_LEVELS),
                from_ps=window[0], to_ps=window[1], rows=rows,
            )  # fmt: skip
