"""The group of every event: what a step began, on its thread and on devices."""

from timeline import timelines
from traces import draw, space_of

from tbprof.analysis.grouping import find_grouping, group_of_device_events
from tbprof.timeline.groups_of_events import find_groups
from tbprof.xplane.reader import read_space


def test_events_have_the_group_of_their_step():
    content = draw(
        {
            "/host:CPU": """
                main |sssss.ttttt.x
                     |.ll...mm
            """,
            "/device:GPU:0": "Stream |..kkk..nnn.o",
        },
        names={"s": "train", "t": "train"},
        stats={
            "s": {"_r": 1, "step_num": 4}, "t": {"_r": 1, "step_num": 5},
            "l": {"correlation_id": 1}, "k": {"correlation_id": 1},
            "m": {"correlation_id": 2}, "n": {"correlation_id": 2}, "o": {"correlation_id": 3},
        },
    )  # fmt: skip
    opened = timelines.opened_space(space_of(content))
    found = find_groups(opened)
    groups = {
        (opened.name(at), int(opened.timeline.start_ps[at]) // 10**6): found.group[at]
        for at in range(found.group.size)
    }
    assert {key: found.label[group] for key, group in groups.items() if group >= 0} == {
        ("train", 0): "train 4", ("l", 1): "train 4", ("k", 2): "train 4",
        ("train", 6): "train 5", ("m", 6): "train 5", ("n", 7): "train 5",
    }  # fmt: skip
    assert {key for key, group in groups.items() if group < 0} == {("x", 12), ("o", 11)}
    assert find_groups(opened) is found


def test_derived_events_have_no_group():
    assert find_groups(timelines.opened([[(0, 1, "a")]])).group.tolist() == [-1]
    assert find_groups(timelines.opened([])).group.size == 0


def test_groups_of_a_real_trace(gpu_trace):
    space = read_space(gpu_trace)
    opened = timelines.opened_space(space)
    found = find_groups(opened)
    grouping = find_grouping(space)
    expected = sum(int((host.group >= 0).sum()) for host in grouping.hosts)
    for plane in space.planes:
        if plane.name.startswith("/device:GPU"):
            groups = group_of_device_events(grouping, plane, plane.events())
            expected += int((groups >= 0).sum())
    assert int((found.group >= 0).sum()) == expected > 10_000
