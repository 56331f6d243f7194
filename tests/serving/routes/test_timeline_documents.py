"""What docs/http_api.md says of timelines: its examples run, and it names all that they answer."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.asking import client_of
from helpers.tile_reader import read_tiles
from helpers.timeline_client import expanded
from werkzeug.test import Client

from tbprof.serving.routes.timeline_routes import TIMELINE_ROUTES
from tbprof.timeline.model.category_names import CATEGORIES

API = (Path(__file__).parents[3] / "docs" / "http_api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^(timeline\w*\?run=RUN\S*)$", API, re.MULTILINE)
WORDS = set(re.findall(r"\w+", API))
BASE = "/data/plugin/profile/"


@pytest.fixture(scope="module")
def client(sample_logdir: Path) -> Client:
    return client_of(sample_logdir)


def test_every_route_has_an_example():
    assert {example.partition("?")[0] for example in EXAMPLES} == set(TIMELINE_ROUTES)


@pytest.mark.parametrize("run", ["tensorflow_cpu_training", "jax_cpu_training"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_run_and_hold_nothing_that_is_not_named(client: Client, example: str, run: str):
    index = client.get(f"{BASE}timeline?run={run}").get_json()
    path = example.replace("RUN", run).replace("HOST", "host0").replace("VERSION", index["version"])
    response = client.get(BASE + path)
    assert response.status_code == 200, response.data
    body = (
        read_tiles(response.data).head
        if path.startswith("timeline_tiles")
        else json.loads(response.data)
    )
    assert not set(keys(body)) - WORDS


def test_answers_on_accelerators_are_named_too(accelerator_trace: Path):
    client = client_of(accelerator_trace)
    run = client.get(f"{BASE}runs").get_json()[0]
    for part in ("events", "derived"):
        index = client.get(f"{BASE}timeline?run={run}&part={part}").get_json()
        assert not set(keys(index)) - WORDS
        which = f"run={run}&part={part}&version={index['version']}"
        for track in expanded(index)["tracks"]:
            assert track["kind"] in WORDS
            row = f"from=0&to=1&level={index['max_level']}&rows={track['row']}"
            tiles = read_tiles(client.get(f"{BASE}timeline_tiles?{which}&{row}").data)
            event = tiles.entries[0].id
            for route in ("event", "flows"):
                answer = client.get(f"{BASE}timeline_{route}?{which}&id={event}").get_json()
                assert not set(keys(answer)) - WORDS


def test_categories_and_their_meanings_are_named():
    assert not {name for name, _ in CATEGORIES} - WORDS


def keys(value: object) -> Iterator[str]:
    """The keys of objects at any depth, but for numbers and for parameters of other pages."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not key.isdigit():
                yield key
            if key != "params":
                yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)
