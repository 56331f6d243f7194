"""Addresses as users type them."""

import pytest

from tbprof.capturing.requests.targets import (
    BadAddress,
    Target,
    host_names,
    parse_target,
    parse_targets,
)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("localhost:6009", Target("localhost", 6009)),
        ("grpc://10.0.0.2:8466", Target("10.0.0.2", 8466)),
        ("GRPC://Worker-1.example.com:1/", Target("worker-1.example.com", 1)),
        ("[::1]:6009", Target("::1", 6009)),
        ("[FE80::1%eth0]:65535", Target("fe80::1%eth0", 65535)),
        ("worker_0:6009", Target("worker_0", 6009)),
        ("my-tpu", Target("my-tpu", 0)),
        (
            "projects/proj-1/locations/us-central2-b/nodes/my-tpu",
            Target("projects/proj-1/locations/us-central2-b/nodes/my-tpu", 0),
        ),
    ],
)
def test_addresses(text, target):
    assert parse_target(text) == target


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("http://localhost:6006", "not the address of a profiler server"),
        ("localhost", "has no port"),
        ("10.0.0.2", "has no port"),
        ("localhost:", "has no port"),
        ("[::1]", "has no port"),
        ("localhost:0", "no valid port"),
        ("localhost:65536", "no valid port"),
        ("localhost:٣", "no valid port"),
        ("localhost:6009/path", "no valid port"),
        ("::1:6009", "more than one colon"),
        ("a:b:1", "more than one colon"),
        (":6009", "names no host"),
        ("user@host:6009", "contains a user name"),
        ("../x:6009", "names no host"),
        ("-x:6009", "names no host"),
        ("x" * 300 + ":1", "names no host"),
        ("[zz]:1", "names no host"),
    ],
)
def test_what_is_no_address_is_refused_by_name(text, says):
    with pytest.raises(BadAddress, match=says) as caught:
        parse_target(text)
    assert caught.value.hint
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    "text",
    [
        "user:hunter2@host:6009",
        "grpc://user:hunter2@host:6009",
        "grpc://user:a@hunter2@[::1]:6009/x",
        "http://user:hunter2@host",
        "user:hunter2@",
    ],
)
def test_a_password_is_refused_and_in_no_message(text):
    with pytest.raises(BadAddress) as caught:
        parse_target(text)
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_a_list_is_split_at_commas_and_spaces_and_names_each_worker_once():
    targets = parse_targets(" a:1, b:2\n,, grpc://A:1;c:3 ")
    assert [target.address for target in targets] == ["a:1", "b:2", "c:3"]
    assert parse_targets(["a:1", "b:2,a:1"]) == [Target("a", 1), Target("b", 2)]


@pytest.mark.parametrize("text", ["", "  ,;\n"])
def test_an_empty_list_is_refused(text):
    with pytest.raises(BadAddress, match="no address"):
        parse_targets(text)


def test_a_list_of_too_many_is_refused():
    with pytest.raises(BadAddress, match="too many"):
        parse_targets(",".join(f"h{index}:1" for index in range(5000)))


def test_names_of_traces_are_plain_and_distinct():
    targets = [
        Target("::1", 1),
        Target("__1", 1),
        Target("a", 1),
        Target("a_1", 0),
        Target("..", 9),
    ]
    names = host_names(targets)
    assert names == ["___1__1", "__1_1", "a_1", "a_1-2", "_9"]
    assert all(set(name).isdisjoint("/\\:") and not name.startswith(".") for name in names)
