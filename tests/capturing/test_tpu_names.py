"""Names of TPUs, which are looked up through the Cloud TPU API."""

import json
from collections.abc import Iterator

import pytest
import requests
from helpers.commands import python_prints
from helpers.started.google_cloud import ACCESS_TOKEN, NODES, Google, node, serving_google

from tbprof.capturing.requests import tpu_names
from tbprof.capturing.requests.targets import Target
from tbprof.capturing.requests.tpu_names import TpuNotFound, find_tpus


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    """Google's servers, and credentials that they accept: how those are found comes last."""
    with serving_google() as found, requests.Session() as session:
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        session.headers["Authorization"] = f"Bearer {ACCESS_TOKEN}"
        monkeypatch.setattr(tpu_names, "_session", lambda _name: (session, "project-1"))
        yield found


def test_a_name_is_all_the_workers_of_its_tpu(google):
    google.nodes[f"{NODES}my-tpu"] = node("READY", "10.0.0.2", "10.0.0.3")
    tpus = find_tpus([Target("my-tpu", 0), Target("a", 1), Target("10.0.0.3", 8466)])
    assert [target.address for target in tpus] == ["10.0.0.2:8466", "10.0.0.3:8466", "a:1"]


def test_a_path_says_project_and_zone_itself(google):
    path = "projects/other-1/locations/zone-c/nodes/my-tpu"
    google.nodes[f"/v2/{path}"] = node("READY", "fd00::2")
    assert [target.address for target in find_tpus([Target(path, 0)])] == ["[fd00::2]:8466"]
    assert [asked for asked, _ in google.requests] == [f"/v2/{path}"]


def test_the_environment_says_project_and_zone(google, monkeypatch):
    monkeypatch.setenv("CLOUDSDK_CORE_PROJECT", "other-1")
    monkeypatch.setenv("CLOUDSDK_COMPUTE_ZONE", "zone-c")
    google.nodes["/v2/projects/other-1/locations/zone-c/nodes/my-tpu"] = node("READY", "10.0.0.9")
    assert find_tpus([Target("my-tpu", 0)]) == [Target("10.0.0.9", 8466)]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "status 404"),
        ({}, "is it running"),
        (node("READY"), "is it running"),
        (node("CREATING", ""), "is CREATING, not READY"),
        (node("PREEMPTED", "10.0.0.2"), "is PREEMPTED, not READY"),
        ({**node("REPAIRING"), "healthDescription": "a chip is hot"}, "not READY: a chip is hot"),
        ({"networkEndpoints": [{}]}, "could not be understood"),
        (node("READY", "evil.example"), "could not be understood"),
        ([], "could not be understood"),
    ],
)
def test_a_name_that_leads_nowhere_says_why(google, answer, says):
    if answer is not None:
        google.nodes[f"{NODES}my-tpu"] = answer
    with pytest.raises(TpuNotFound, match=says) as caught:
        find_tpus([Target("my-tpu", 0)])
    assert caught.value.hint


def test_away_from_google_a_name_needs_its_zone(google, monkeypatch):
    monkeypatch.setenv("GCE_METADATA_HOST", "127.0.0.1:1")
    with pytest.raises(TpuNotFound, match="project and zone") as caught:
        find_tpus([Target("my-tpu", 0)])
    assert "projects/PROJECT/locations/ZONE/nodes/NAME" in caught.value.hint


def test_without_the_extra_a_name_says_what_is_missing(monkeypatch):
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(tpu_names, "import_module", missing)
    with pytest.raises(TpuNotFound) as caught:
        find_tpus([Target("my-tpu", 0)])
    assert "tbprof[tpu]" in caught.value.hint


def test_a_machine_of_googles_needs_nothing_but_the_name():
    """With Google's own library, in a process of its own: it reads the environment when loaded."""
    program = (
        "import json, sys\n"
        "from tbprof.capturing.requests.targets import Target\n"
        "from tbprof.capturing.requests.tpu_names import find_tpus\n"
        "print(json.dumps([one.address for one in find_tpus([Target(sys.argv[1], 0)])]))"
    )
    with serving_google() as google:
        google.nodes[f"{NODES}my-tpu"] = node("READY", "10.0.0.2", "10.0.0.3")
        found = json.loads(python_prints("-c", program, "my-tpu", cwd=None, **google.environment))
    assert found == ["10.0.0.2:8466", "10.0.0.3:8466"]
    with_token = {path for path, authorization in google.requests if authorization}
    assert with_token == {f"{NODES}my-tpu"}  # to the API and to nobody else
