"""A small timeline with something in every column."""

import numpy as np

from tbprof.base.errors import Notice
from tbprof.timeline.model.store import Counter, Levels, Section, Timeline, Track, TypeTable


def make_timeline() -> Timeline:
    return Timeline(
        sections=[Section("/host:CPU", "Host Threads", "host")],
        tracks=[Track(0, "a\ud800<b>", "thread", 3, -7, 0, 2, 3, is_derived=False, busy_ps=9)],
        types=TypeTable(
            ["m", "日本", ""], ["m", "\udcff", "x" * 300], np.array([0, 3, 1], np.uint8)
        ),
        row_first=np.array([0, 2, 3]),
        start_ps=np.array([-5, 2**57, 3]),
        duration_ps=np.array([1, 0, 2]),
        type=np.array([0, 2, -1], np.int32),
        source=np.array([10, 20, -1]),
        levels=Levels(
            np.array([0, 1, 1]), np.array([4], np.uint8), np.array([0, 1]), np.array([-5]),
            np.array([8]), np.array([1]), np.array([0], np.uint32), np.array([0], np.int32),
            np.array([2], np.uint32),
        ),
        counters=[Counter(0, "bytes", "B", 0, 1)],
        counter_time_ps=np.array([1]),
        counter_value=np.array([np.inf]),
        counter_low=np.array([np.nan]),
        counter_high=np.empty(0),
        busy_first=np.array([0, 1]),
        busy_start_ps=np.array([-5]),
        busy_end_ps=np.array([9]),
        busy_before_ps=np.array([0]),
        begin_ps=-5,
        end_ps=2**57,
        origin_ns=1_700_000_000_000_000_000,
        in_file=4,
        counted=0,
        unplaced=1,
        initial_window=(0, 5, "train 7"),
        notices=(Notice("line_cut", "text", "host", "hint"),),
    )  # fmt: skip
