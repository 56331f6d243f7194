"""docs/http_api.md names the routes and parameters that the server has, and no others."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.datastructures import MultiDict

from tbprof.base.errors import TbprofError
from tbprof.serving.http_requests import Parameters
from tbprof.serving.routes.capture_routes import POST_ROUTES
from tbprof.serving.routes.routes import ROUTES
from tbprof.serving.service import Service
from tbprof.tools import TOOLS

API = (Path(__file__).parents[3] / "docs" / "http_api.md").read_text(encoding="utf-8")
RUN = "tensorflow_cpu_training"
# What every route is asked with, so that it reads all that it knows.
VALUES = {
    "run": RUN, "tag": "framework_op_stats", "host": "host0", "hosts": "host0", "part": "events",
    "level": "40", "from": "0", "to": "1", "q": "a", "id": "0", "move": "next",
    "kernel": "k",
}  # fmt: skip


class Noted(MultiDict[str, str]):
    """Values that note which of them were asked for."""

    def __init__(self, values: dict[str, str]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def get(self, key, *rest, **more):
        self.names.add(key)
        return super().get(key, *rest, **more)

    def getlist(self, key, *rest, **more):
        self.names.add(key)
        return super().getlist(key, *rest, **more)


def tables(first_column: str) -> Iterator[list[str]]:
    """The cells of each row of the tables whose first column has that name."""
    for block in re.findall(rf"^\| {first_column} \|.*\n\|[- |]+\n((?:\|.*\n)+)", API, re.M):
        for line in block.splitlines():
            yield [cell.strip() for cell in line.strip("| ").split(" | ")]


def names(text: str) -> list[str]:
    """What stands in backticks, without what is said of it in brackets."""
    return re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", text))


def documented_routes() -> dict[str, set[str]]:
    """The parameters of each route; of timelines, those of their sections and those of all."""
    rows = [row for row in tables("route") if "index.html" not in row[0]]
    found = {row[0].partition(" ")[0].strip("`"): set(names(row[1])) for row in rows}
    sections = re.findall(r"^### `(timeline\w*)`[^\n]*\n(.*?)(?=^##)", API, re.M | re.S)
    for name, section in sections:
        own = re.search(r"^Parameters: (.*?)\.\s", re.sub(r"\([^)]*\)", "", section), re.M | re.S)
        version = set() if name == "timeline" else {"version"}
        found[name] = {"run", "host", "part"} | version | set(names(own[1] if own else ""))
    return found


DOCUMENTED = documented_routes()


@pytest.fixture(scope="module")
def service(sample_logdir: Path) -> Service:
    return Service(str(sample_logdir))


@pytest.fixture(scope="module")
def version(service: Service) -> str:
    index = ROUTES["timeline"](service, Parameters(MultiDict(VALUES)))
    return str(json.loads(index.content)["version"])


def test_every_route_is_documented_and_there_are_no_others():
    assert set(DOCUMENTED) == {*ROUTES, *POST_ROUTES}


def test_routes_that_change_something_are_documented_as_posts():
    posts = {row[0].partition(" ")[0].strip("`") for row in tables("route") if "(POST)" in row[0]}
    assert posts == set(POST_ROUTES)


@pytest.mark.parametrize("route", ROUTES)
def test_the_parameters_of_a_route_are_those_that_it_reads(
    route: str, service: Service, version: str
):
    noted = Noted({**VALUES, "version": version})
    try:
        ROUTES[route](service, Parameters(noted, "localhost"))
    except TbprofError:
        assert route == "captures"  # there is none
    assert noted.names == DOCUMENTED[route]


def test_the_parameters_of_tools_are_documented():
    found = {tool: set(names(row[1])) for row in tables("tool") for tool in names(row[0])}
    assert found == {tool.name: set(tool.params) for tool in TOOLS if tool.params}
