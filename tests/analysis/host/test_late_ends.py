"""Instructions whose work goes on after their events. One column is 1 µs."""

from typing import Any

import numpy as np
from helpers.drawn.computed_parts import compute_part
from helpers.drawn.drawn_steps import HOST, steps_of, table
from traces import draw, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.late_ends import LateEnds, find_late_ends
from tbprof.analysis.ops.ops import find_ops
from tbprof.base.names import POOL_START, POOL_STOP, RUNS_PROGRAM
from tbprof.events.space import Plane

US = 1_000_000
NAMES = {
    "s": "train", "d": "dot.1", "t": "tanh", "w": "while.3", "a": "add.2", "x": RUNS_PROGRAM,
    "y": RUNS_PROGRAM, "r": POOL_START, "q": POOL_STOP,
    "e": "end: dot.1", "f": "end: tanh", "g": "end: while.3",
}  # fmt: skip


def began(name: str, context: int) -> dict[str, Any]:
    return {"hlo_op": name, "hlo_module": "jit_f", "program_id": 8, "run_id": 1, "_pt": 0,
            "_p": context}  # fmt: skip


STATS: dict[str, dict[str, Any]] = {
    "s": {"_r": 1, "step_num": 7},
    "d": began("dot.1", 70), "t": began("tanh", 71), "w": began("while.3", 72),
    "a": began("add.2", 73),
    "e": {"_ct": 0, "_c": 70}, "f": {"_ct": 0, "_c": 71}, "g": {"_ct": 0, "_c": 72},
}  # fmt: skip

# The pool finishes the dot after 7 µs, runs the addition, and records the end of the dot then.
TRACE = draw(
    {HOST: """
        python |ssssssssssssss
        main   |.xxxxxxxx.....
               |.ddd.ttt......
               |......f.......
        pool   |......r.yyy.eq
               |........aaa...
    """},
    names=NAMES,
    stats=STATS,
)  # fmt: skip


def host_of(content: bytes) -> Plane:
    return space_of(content).planes[0]


def named(host: Plane, late: LateEnds) -> dict[str, tuple[int, int, int]]:
    """(end of the event, time until the work was done, own time of that) by name, in µs."""
    texts = host.types.full_names
    columns = late.type, late.start_ps // US, late.late_ps // US, late.own_ps // US
    return {
        texts[type_]: (start, more, own)
        for type_, start, more, own in zip(*(column.tolist() for column in columns), strict=True)
    }


def test_work_lasts_until_its_end_or_until_the_thread_runs_the_next_instructions():
    host = host_of(TRACE)
    assert named(host, find_late_ends(host)) == {"dot.1": (4, 4, 4)}


def test_the_next_instruction_may_run_in_the_task_that_finished_the_work():
    host = host_of(
        draw(
            {
                HOST: """
                main |.ddd...........
                pool |.rttq....rw.f.q
                more |......r.www.g.e
            """
            },
            names=NAMES,
            stats=STATS,
        )
    )
    assert named(host, find_late_ends(host)) == {"dot.1": (4, 4, 4), "tanh": (4, 6, 6)}


def test_a_task_does_not_show_the_end_of_what_began_in_it():
    host = host_of(draw({HOST: "main |rddd.ttt.e.q"}, names=NAMES, stats=STATS))
    assert not find_late_ends(host).source.size


def test_ops_and_instructions_last_as_long_as_their_work():
    space = space_of(TRACE)
    ops = find_ops(space, Programs(space))
    rows = zip(ops.name, ops.total_ps.tolist(), ops.self_ps.tolist(), strict=True)
    assert {name: (total // US, own // US) for name, total, own in rows} == {
        "dot.1": (7, 7), "tanh": (3, 3), "add.2": (3, 3),
    }  # fmt: skip
    programs = compute_part("program_ops", space_of(TRACE))
    times = zip(programs.name, programs.total_ps.tolist(), programs.self_ps.tolist(), strict=True)
    assert {name: (total // US, own // US) for name, total, own in times} == {
        "dot.1": (7, 7), "tanh": (3, 3), "add.2": (3, 3),
    }  # fmt: skip
    assert (programs.window_ps, programs.idle_ps) == (10 * US, 0)


def test_the_work_of_an_op_is_host_compute_of_the_step():
    """Between the addition and the end of the step nothing is recorded."""
    trace = draw(
        {HOST: """
            python |ssssssssssss
            main   |.ddd........
            pool   |.........e..
        """},
        names=NAMES,
        stats=STATS,
    )  # fmt: skip
    assert table(steps_of(trace)) == [("CPU", "train 7", {"host_compute": 8, "other": 4})]


def test_a_loop_waits_for_its_instructions():
    trace = draw(
        {HOST: """
            main |ww......
            pool |..aaaa.g
        """},
        names=NAMES,
        stats=STATS,
    )  # fmt: skip
    host = host_of(trace)
    assert named(host, find_late_ends(host)) == {"while.3": (2, 5, 0)}
    programs = compute_part("program_ops", space_of(trace))
    assert dict(zip(programs.name, (programs.total_ps // US).tolist(), strict=True)) == {
        "while.3": 7, "add.2": 4,
    }  # fmt: skip
    assert dict(zip(programs.name, (programs.self_ps // US).tolist(), strict=True)) == {
        "while.3": 2, "add.2": 4,
    }  # fmt: skip


def test_an_end_belongs_to_one_event_of_its_name():
    """Contexts that are used twice, or for another name, or that have no end, say nothing."""
    drawing = """
        main |ddd.ddd.ttt.
        pool |...........e
    """
    host = host_of(draw({HOST: drawing}, names=NAMES, stats=STATS))
    assert not find_late_ends(host).source.size
    other = draw({HOST: "main |ttt...e"}, names=NAMES, stats={**STATS, "e": {"_ct": 0, "_c": 71}})
    assert not find_late_ends(host_of(other)).source.size


def test_late_ends_are_found_among_some_of_the_events():
    host = host_of(TRACE)
    late = find_late_ends(host)
    events = host.events([1, 2])
    rows, some = late.among(events)
    assert events.source[rows].tolist() == some.source.tolist() == late.source.tolist()
    others = events.select(np.delete(np.arange(len(events)), rows))
    assert not late.among(others)[1].source.size
