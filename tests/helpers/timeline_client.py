"""Asks a server for timelines as the page does."""

import json
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from traces import draw
from werkzeug.test import Client

from helpers.asking import get
from helpers.tile_reader import Tiles, read_tiles

# Eight events of two streams and two threads.
DRAWN = draw(
    {
        "/device:GPU:0": """
            Stream #1(Compute)   |mmmm.rr.nnnn....
            Stream #2(MemcpyH2D) |..hh............
        """,
        "/host:CPU": """
            python |ssssssssssssssss
                   |.llll..iii......
                   |..k.............
            pool   |................
        """,
    },
    names={"m": "matmul", "n": "matmul", "s": "train", "l": "launch"},
    stats={"m": {"bytes": 4096, "note": "<b>&"}, "s": {"step_num": 7}},
)


def index_of(client: Client, run: str = "drawn", **more: Any) -> Any:
    """What there is to see of a run."""
    response = get(client, "timeline", run=run, **more)
    assert response.status_code == 200, response.data
    return expanded(json.loads(response.data))


def expanded(index: dict[str, Any]) -> dict[str, Any]:
    """The answer with its tracks one by one, and in `sections` the ids of theirs."""
    columns = index["tracks"]
    unit_ps = columns["unit_ps"]
    sections = [
        {**section, "tracks": list(range(section["first_track"], section["last_track"]))}
        for section in index["sections"]
    ]
    section_of = {track: one["id"] for one in sections for track in one["tracks"]}
    before = [0, *accumulate(columns["rows"])]
    tracks = [
        {
            "id": at,
            "section": section_of[at],
            "name": name,
            "kind": columns["kinds"][columns["kind"][at]],
            "row": before[at],
            "rows": columns["rows"][at],
            "events": columns["events"][at],
            "busy_ps": columns["busy"][at] * unit_ps,
            "begin_ps": columns["begin"][at] * unit_ps,
            "end_ps": columns["end"][at] * unit_ps,
            "derived": at in columns["derived"],
        }
        for at, name in enumerate(columns["name"])
    ]
    return {**index, "sections": sections, "tracks": tracks}


class Timeline:
    """One part of one timeline, to be asked with its version."""

    def __init__(self, client: Client, run: str = "drawn", **more: Any) -> None:
        self.client = client
        self.index = index_of(client, run, **more)
        self.which = {"run": run, **{key: self.index[key] for key in ("host", "part", "version")}}

    def get(self, route: str, headers: Mapping[str, str] | None = None, **parameters: Any) -> Any:
        """The answer of a route below `timeline_`."""
        return get(self.client, f"timeline_{route}", headers, **{**self.which, **parameters})

    def json(self, route: str, **parameters: Any) -> Any:
        """The same, which must be JSON and no error."""
        response = self.get(route, **parameters)
        assert response.status_code == 200, response.data
        return response.json

    def tiles(self, level: int = 0, first: int = 0, last: int = 1, **more: Any) -> Tiles:
        """Tiles `first` to `last` (not included)."""
        response = self.get("tiles", **{"level": level, "from": first, "to": last, **more})
        assert response.status_code == 200, response.data
        return read_tiles(response.data)

    def whole(self, **more: Any) -> Tiles:
        """All of the timeline in one tile a row."""
        return self.tiles(self.index["max_level"], **more)
