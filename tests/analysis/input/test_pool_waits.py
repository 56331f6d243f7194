"""Waiting for a pool of threads: what is a wait, and who fills the pool."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from traces import COLUMN_PS
from traces.input_pipelines import ROOT, element, ids, nodes, tf_data

from tbprof.analysis.input.pool_waits import Pieces, pool_waits

FILTER = f"{ROOT}::Filter"
MAP = f"{FILTER}::ParallelMapV2"
NAMES = {
    "r": ROOT, "f": FILTER, "m": MAP, "c": "ParallelMapConsume", "P": "ParallelMapProduce",
    "i": f"{MAP}::Range", "a": "InstantiatedCapturedFunction::RunAsync",
    "g": "InstantiatedCapturedFunction::RunWithBorrowedArgs",
    "E": "ExecutorState::Process", "F": "ExecutorState::Process",
    "H": "ThreadpoolListener::Record", "T": "ThreadpoolListener::StartRegion",
}  # fmt: skip
STATS = {
    "r": ids(1), "f": ids(2, 1), "m": ids(3, 2), "i": ids(4, 3), "c": element(1), "P": element(7),
    "a": {"id": 70}, "E": {"id": 70}, "g": {"id": 71}, "F": {"id": 71},
    "H": {"_pt": 15, "_p": 5}, "T": {"_ct": 15, "_c": 5},
}  # fmt: skip
# The function of the map runs for 12 of the 16 µs, that of the filter waits for its thread.
FILLED = """
    python   |..rrrrrrrrrrrrrrrr
             |...ffffffffffffff
             |...m.ggggggggggg
             |...c.H
    producer |PPP
             |i.a
    pool     |..EEEEEEEEEEEETFF
"""


def blamed(drawing: str, stats: Mapping[str, Any] = STATS) -> dict[str, tuple[int, ...]]:
    """(self, waiting for the pool, held up) in µs of each node of the only call."""
    pipelines = tf_data(drawing, NAMES, stats)
    return {
        pipelines.type_name[row]: tuple(int(column[node]) // COLUMN_PS for column in
                                    (pipelines.self_ps, pipelines.queue_ps, pipelines.held_ps))
        for node, row in enumerate(pipelines.iterator.tolist())
    }  # fmt: skip


def test_who_fills_the_pool_holds_up_what_waits_for_it():
    # Handed over at 5, taken up at 14.
    assert blamed(FILLED) == {"Root": (2, 0, 2), "Filter": (13, 9, 4), "ParallelMapV2": (1, 0, 10)}
    found = nodes(tf_data(FILLED, NAMES, STATS))
    assert found["ParallelMapV2"] == (1, 1, 1, "!")
    assert found["Filter"] == (14, 13, 1, "*")


def test_a_pool_that_is_filled_by_nobody_known_leaves_the_wait_where_it_is():
    nobody = FILLED.replace("..EEEEEEEEEEEE", "..............")
    assert blamed(nobody)["Filter"] == (13, 9, 13)
    assert nodes(tf_data(nobody, NAMES, STATS))["Filter"][3] == "!"


def test_what_never_began_is_no_wait():
    never = {**STATS, "T": {"_ct": 15, "_c": 6}}
    assert blamed(FILLED, never)["Filter"] == (13, 0, 13)


def test_without_events_of_pools_own_time_is_what_counts():
    plain = FILLED.replace("H", ".").replace("T", ".")
    assert blamed(plain)["Filter"] == (13, 0, 13)


def test_a_parallel_stage_waits_behind_another_one_too():
    # The calls of Map2 wait for its own threads, whose function waits behind that of Map1.
    upper, lower = f"{ROOT}::ParallelMapV2", f"{ROOT}::ParallelMapV2::MapAndBatchV2"
    pipelines = tf_data(
        """
        python |rrrrrrrrrrrrrrrr
               |.uuuuuuuuuuuuuu.
        turn   |PPPP
               |llab
               |...H
        other  |QQQ
               |ixx
        pool   |..YYYYYYYYYYTBB.
        """,
        {
            **NAMES, "u": upper, "l": lower, "P": "ParallelMapProduce", "Q": "MapAndBatchProduce",
            "b": NAMES["a"], "x": NAMES["a"], "i": f"{lower}::Range", "Y": NAMES["E"],
            "B": NAMES["E"], "a": "else",
        },
        {
            **STATS, "u": ids(2, 1), "l": ids(3, 2), "i": ids(4, 3), "Q": element(9),
            "b": {"id": 80}, "B": {"id": 80}, "x": {"id": 81}, "Y": {"id": 81}, "a": {},
        },
    )  # fmt: skip
    of = {pipelines.type_name[row]: node for node, row in enumerate(pipelines.iterator.tolist())}
    us = [int(pipelines.queue_ps[of["ParallelMapV2"]]) // COLUMN_PS]
    assert us == [9]  # handed over at 3, taken up at 12


@pytest.mark.parametrize("seed", range(40))
def test_random_waits_agree_with_counting_moments(seed: int):
    chance = random.Random(seed)

    def pieces(count: int, stages: int, longest: int) -> Pieces:
        start = np.array([chance.randint(0, 60) for _ in range(count)], np.int64)
        length = np.array([chance.randint(0, longest) for _ in range(count)], np.int64)
        stage = np.array([chance.randrange(stages) for _ in range(count)], np.int64)
        return Pieces(stage, start, start + length)

    queued, ran, calls = pieces(6, 3, 12), pieces(8, 4, 20), pieces(5, 3, 40)
    wait, _ = pool_waits(queued, ran, calls)

    def at(those: Pieces, stage: int, moment: int) -> int:
        own = (those.stage == stage) & (those.start_ps <= moment) & (moment < those.end_ps)
        return int(own.sum())

    for call in range(5):
        stage = int(calls.stage[call])

        def waits(moment: int, stage: int = stage) -> bool:
            return bool(at(queued, stage, moment) and not at(ran, stage, moment))

        window = range(int(calls.start_ps[call]), int(calls.end_ps[call]))
        assert wait[call] == sum(map(waits, window))
    whole = Pieces(np.arange(3), np.zeros(3, np.int64), np.full(3, 200))
    for stage, found in enumerate(pool_waits(queued, ran, whole)[1].tolist()):
        waited = [
            one for one in range(200) if at(queued, stage, one) and not at(ran, stage, one)
        ]  # fmt: skip
        busy = {one for one in range(4) if any(at(ran, one, moment) for moment in waited)}
        assert found in busy if busy else found == -1
