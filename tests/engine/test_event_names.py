"""Names of events over all hosts of a run, as the command palette asks for them."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.drawn.small_runs import BROKEN, one_run
from traces import draw

from tbprof.engine.engine import Engine
from tbprof.engine.timelines import event_names as module
from tbprof.engine.timelines.event_names import event_names

HOSTS = 6
NAMES = {"a": "all gather", "g": "Gather", "o": "other", "r": "gather rows"}


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Six hosts with one "all gather" each, and one that cannot be read.

    The last one has two of "gather rows" and one "Gather", too.
    """
    few, many = (draw({"/host:CPU": row}, names=NAMES) for row in ("t |a.o", "t |a.o.r.r.g"))
    hosts = {f"h{host}": few for host in range(HOSTS - 1)}
    return one_run(tmp_path, **hosts, **{f"h{HOSTS - 1}": many, "h9": BROKEN})


def names_of(engine: Engine, query: str, most: int = 20, hosts: tuple[str, ...] = ()) -> Any:
    return json.loads(event_names(engine, "run", hosts, query, most))


def test_names_of_all_hosts_are_found_the_best_ones_first(engine: Engine):
    assert names_of(engine, "GATHER ") == {
        "names": [
            {"name": "Gather", "events": 1, "hosts": 1},
            {"name": "gather rows", "events": 2, "hosts": 1},
            {"name": "all gather", "events": 6, "hosts": 6},
        ],
        "count": 3,
        "unread": 0,
    }


def test_names_have_all_words_and_their_number_is_bounded(engine: Engine):
    names = names_of(engine, "gather all")
    assert [name["name"] for name in names["names"]] == ["all gather"]
    few = names_of(engine, "gather", 1)
    assert ([name["name"] for name in few["names"]], few["count"]) == (["Gather"], 3)
    assert names_of(engine, "nowhere")["names"] == []


def test_only_chosen_hosts_are_searched(engine: Engine):
    names = names_of(engine, "gather", hosts=("h0", "h1"))
    assert names["names"] == [{"name": "all gather", "events": 2, "hosts": 2}]


def test_large_hosts_are_read_request_by_request(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 1)
    unread = [names_of(engine, "gather")["unread"] for _ in range(HOSTS)]
    # The first file is read, however large; one that cannot be read is never open.
    assert unread == [6, 5, 4, 3, 2, 1]
    assert names_of(engine, "gather")["count"] == 3


def test_64_small_hosts_are_searched_by_one_request(tmp_path: Path):
    content = draw({"/host:CPU": "t |a.o"}, names=NAMES)
    engine = one_run(tmp_path, **{f"h{host}": content for host in range(64)})
    assert names_of(engine, "gather")["names"] == [
        {"name": "all gather", "events": 64, "hosts": 64}
    ]
    assert names_of(engine, "gather")["unread"] == 0
