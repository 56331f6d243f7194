"""The steps of allocators: the groups of the file, or those of the devices and the program."""

from traces import drawn_space
from traces.memory.memory_changes import GPU, US, memory_of, memory_space, take

from tbprof.analysis.memory.memory import Memory
from tbprof.events.space import Space


def test_steps_are_the_groups_of_the_file():
    memory = memory_of(
        memory_space([
            take(0, 1),  # before the first
            take(2, 2, group=40), take(3, 3), take(4, 4, group=40),
            take(5, 5),  # up to the next
            take(7, 6, group=12), take(8, 7, group=40),  # late, on its own
            take(9, 8, group=12), take(11, 9),  # after the last
        ])
    )  # fmt: skip
    assert memory.step_label == ["40", "12"]
    assert memory.step_begin_ps.tolist() == [2 * US, 7 * US]
    assert memory.step_end_ps.tolist() == [7 * US, 9 * US]
    assert memory.step.tolist() == [-1, 0, 0, 0, 0, 1, 0, 1, -1]


def test_groups_are_named_as_the_devices_name_their_steps():
    allocation = {"allocator_name": GPU, "addr": 1}
    space = drawn_space(
        {"/host:CPU": "t |a.b", "/device:GPU:0": "Steps |xxyy"},
        names={"a": "MemoryAllocation", "b": "MemoryAllocation"},
        stats={"a": {**allocation, "group_id": 0}, "b": {**allocation, "group_id": 1},
               "x": {"group_id": 0, "step_name": "train 7"},
               "y": {"group_id": 1, "step_name": "train 8"}},
    )  # fmt: skip
    assert memory_of(space).step_label == ["train 7", "train 8"]


def test_without_groups_steps_are_those_of_the_program():
    space = drawn_space(
        {"/host:CPU": """
            main |.sssssttttt.
                 |..a....a....
            pool |a...a.......
        """},
        names={"s": "train", "t": "train", "a": "MemoryAllocation"},
        stats={"s": {"step_num": 3, "_r": 1}, "t": {"step_num": 4, "_r": 1},
               "a": {"allocator_name": GPU}},
    )  # fmt: skip
    memory = memory_of(space)
    assert memory.step_label == ["train 3", "train 4"]
    assert memory.step_begin_ps.tolist() == [1 * US, 6 * US]
    assert memory.step.tolist() == [-1, 0, 0, 1]


def apart(*, overlap: bool = False) -> Space:
    """Two GPUs whose steps 7 and 8 lie apart, or overlap; memory of both, the host and a third."""
    later = "Steps |.xxxxyyyy" if overlap else "Steps |............xxxxyyyy"
    rows = {
        "/host:CPU": """
            main |.a..b.........a..b...d
            pool |.c........c...c
        """,
        "/device:GPU:4": "Steps |xxxxyyyy\nStream #1 |kkkk",
        "/device:GPU:6": f"{later}\nStream #1 |............kkkk",
    }
    event = {"addr": 1}
    return drawn_space(
        rows,
        names=dict.fromkeys("abcd", "MemoryAllocation") | {"k": "matmul"},
        stats={
            "a": {**event, "allocator_name": "GPU_4_bfc", "group_id": 0},
            "b": {**event, "allocator_name": "GPU_6_bfc", "group_id": 1},
            "c": {**event, "allocator_name": "gpu_host_bfc"},
            "d": {**event, "allocator_name": "GPU_1_bfc"},
            "x": {"group_id": 0, "step_name": "7"},
            "y": {"group_id": 1, "step_name": "8"},
        },
    )


def shown_steps(memory: Memory) -> dict[str, list[tuple[str, int, int]]]:
    """(label, begin, end in µs) of the steps of each allocator."""
    return {
        name: [
            (label, begin // US, end // US)
            for label, begin, end in zip(
                memory.step_label[memory.steps_of(at)],
                memory.step_begin_ps[memory.steps_of(at)].tolist(),
                memory.step_end_ps[memory.steps_of(at)].tolist(),
                strict=True,
            )
        ]
        for at, name in enumerate(memory.name)
    }


def test_the_memory_of_a_device_has_the_steps_of_that_device():
    """The second GPU ran them 12 µs later: no step lasts from the first to the second."""
    memory = memory_of(apart())
    early, late = [("7", 0, 4), ("8", 4, 8)], [("7", 12, 16), ("8", 16, 20)]
    named = [*((f"{one} (GPU:4)", *at) for one, *at in early),
             *((f"{one} (GPU:6)", *at) for one, *at in late)]  # fmt: skip
    assert shown_steps(memory) == {
        "GPU_1_bfc": [], "GPU_4_bfc": early, "GPU_6_bfc": late, "gpu_host_bfc": named,
    }  # fmt: skip
    own = [memory.step[memory.first_event[index] : memory.first_event[index + 1]].tolist()
           for index in range(4)]  # fmt: skip
    # Outside of all steps an event belongs to that in which the others of its group lie.
    assert own == [[-1], [0, 0], [1, 1], [0, -1, 2]]


def test_memory_of_the_host_has_the_steps_of_one_device_where_they_overlap():
    found = shown_steps(memory_of(apart(overlap=True)))
    assert found["gpu_host_bfc"] == [("7 (GPU:4)", 0, 4), ("8 (GPU:4)", 4, 8)]
    assert found["GPU_6_bfc"] == [("7", 1, 5), ("8", 5, 9)]
