"""What to free first: every rule on both sides of its threshold."""

import dataclasses

import pytest

from tbprof.advice.finding import Finding
from tbprof.advice.memory.memory_facts import PeakFacts, PeakGroup, advice_group
from tbprof.advice.memory.memory_findings import find_memory_findings
from tbprof.analysis.memory.memory_breakdown import Age

QUIET = PeakFacts(
    name="GPU_0_bfc",
    is_device=True,
    is_tensorflow=True,
    is_summed=False,
    peak_bytes=500,
    capacity_bytes=1000,
    free_bytes=500,
    fragmentation=0.0,
    groups=(),
    requested_bytes=500,
    allocated_bytes=500,
    excess_bytes=0,
    addressless=0,
    end_bytes=(),
    leaks=(),
)


def findings_of(**changes: object) -> list[Finding]:
    return find_memory_findings(dataclasses.replace(QUIET, **changes))  # type: ignore[arg-type]


def ids(**changes: object) -> list[tuple[str, str]]:
    return [(one.id, one.severity) for one in findings_of(**changes)]


def group(kind: str, size: int, largest: str = "1 KiB of op") -> PeakGroup:
    return PeakGroup(kind, size, 3, largest)


@pytest.mark.parametrize(
    ("peak", "expected"),
    [
        (500, ("room", "good")),
        (899, ("room", "good")),
        (900, ("near_capacity", "moderate")),
        (980, ("near_capacity", "high")),
    ],
)
def test_how_full_the_memory_is(peak: int, expected: tuple[str, str]):
    assert ids(peak_bytes=peak) == [expected]


def test_room_is_said_with_its_size():
    [one] = findings_of()
    assert one == Finding(
        id="room",
        severity="good",
        title="50.0 % of the memory of GPU_0_bfc is free at its peak",
        detail="500 bytes of 1000 bytes is in use at the peak, which leaves 500 bytes free.",
        action="There is room for a larger batch, which may use the device more efficiently.",
        value=500,
        unit="bytes",
        share=0.5,
    )


def test_the_hosts_room_is_no_news():
    assert ids(is_device=False) == []
    assert ids(is_device=False, peak_bytes=950) == [("near_capacity", "moderate")]


def test_without_a_capacity_nothing_is_said_of_it():
    assert ids(capacity_bytes=-1) == []


def test_groups_from_a_tenth_of_the_peak_on_come_by_size():
    groups = [group("temporaries", 50), group("weights", 49), group("activations", 300)]
    assert ids(groups=groups) == [
        ("room", "good"), ("activations", "low"), ("temporaries", "low"),
    ]  # fmt: skip
    one = findings_of(groups=groups)[1]
    assert (one.value, one.share) == (300, 0.6)
    assert one.title == "Activations and gradients: 60.0 % of the peak"
    assert one.detail == "300 bytes in 3 allocations. The largest: 1 KiB of op."
    assert "tf.recompute_grad" in one.action


def test_where_memory_is_short_the_largest_group_comes_first():
    groups = [group("stack", 200), group("activations", 400), group("before_the_recording", 310)]
    assert ids(peak_bytes=910, groups=groups) == [
        ("near_capacity", "moderate"),
        ("activations", "moderate"),
        ("before_the_recording", "moderate"),
        ("stack", "moderate"),
    ]
    assert ids(peak_bytes=990, groups=groups) == [
        ("near_capacity", "high"),
        ("activations", "high"),
        ("before_the_recording", "moderate"),
        ("stack", "moderate"),
    ]


@pytest.mark.parametrize("is_tensorflow", [True, False])
@pytest.mark.parametrize(
    "kind",
    [
        "activations", "temporaries", "weights", "earlier_steps", "before_the_recording", "stack",
        "unnamed",
    ],
)  # fmt: skip
def test_every_group_has_something_to_do(kind: str, is_tensorflow: bool):
    one = findings_of(groups=[group(kind, 400)], is_tensorflow=is_tensorflow)[1]
    assert one.id == kind
    assert one.action.endswith(".")
    assert ("tf." in one.action) <= is_tensorflow


def test_the_group_of_an_allocation():
    assert advice_group("output", Age.STEP) == "activations"
    assert advice_group("output", Age.EARLIER) == "earlier_steps"
    assert advice_group("temp", Age.STEP) == "temporaries"
    assert advice_group("persist", Age.EARLIER) == advice_group("dynamic", Age.STEP) == "weights"
    assert advice_group("", Age.STEP) == "unnamed"
    assert advice_group("", Age.EARLIER) == "earlier_steps"
    assert advice_group("", Age.BEFORE) == "before_the_recording"
    assert advice_group("", Age.STACK) == "stack"


@pytest.mark.parametrize(
    ("fragmentation", "expected"), [(0.499, []), (0.5, ["low"]), (0.8, ["moderate"])]
)
def test_fragmentation(fragmentation: float, expected: list[str]):
    one = [each for each in findings_of(fragmentation=fragmentation) if each.id == "fragmentation"]
    assert [each.severity for each in one] == expected


def test_fragmentation_names_what_is_lost():
    one = findings_of(fragmentation=0.6)[1]
    assert (one.value, one.share) == (300, 0.3)
    assert "free memory is 200 bytes" in one.detail
    assert "cuda_malloc_async" in one.action
    assert (
        "XLA_PYTHON_CLIENT_ALLOCATOR"
        in findings_of(fragmentation=0.6, is_tensorflow=False)[1].action
    )


def test_options_of_tensorflow_are_for_its_allocator_near_a_full_memory():
    def action(id_: str, **changes: object) -> str:
        return next(one.action for one in findings_of(**changes) if one.id == id_)

    upon_oom = "report_tensor_allocations_upon_oom"
    assert upon_oom in action("near_capacity", peak_bytes=950)
    assert upon_oom not in action("near_capacity", peak_bytes=950, is_tensorflow=False)
    assert "cuda_malloc_async" not in action("fragmentation", fragmentation=0.6, name="gpu_async_0")
    assert "cuda_malloc_async" not in action(
        "fragmentation", fragmentation=0.6, is_tensorflow=False
    )


def test_where_most_is_free_fragmentation_does_no_harm():
    assert ids(fragmentation=0.9, peak_bytes=499) == [("room", "good")]
    assert ids(fragmentation=float("nan")) == [("room", "good")]


def test_growth_from_step_to_step():
    one = findings_of(end_bytes=[100, 400, 402, 404, 406, 900], leaks=["2 bytes per step of op"])[1]
    assert (one.id, one.severity, one.value, one.share) == ("growth", "moderate", 2, 0.002)
    assert one.title == "Memory in use on GPU_0_bfc grows by 2 bytes every step"
    assert "full after 297 more steps" in one.detail
    assert "Growing: 2 bytes per step of op." in one.detail
    assert ids(end_bytes=[100, 400, 500, 600, 700, 700])[1] == ("growth", "high")


@pytest.mark.parametrize(
    "ends",
    [
        [],
        [100, 400, 402, 404],  # too few steps
        [100, 400, 400, 400, 400],  # the first made what is kept
        [0, 400, 402, 400, 402, 400],  # up and down
        [0, 400, 402, 404, 403, 402, 401, 403],  # half of them grow
        [0, -1, 402, 404, 406],  # not recorded
    ],
)
def test_what_is_no_growth(ends: list[int]):
    assert ids(end_bytes=ends) == [("room", "good")]


def test_sizes_that_are_rounded_up():
    assert ids(requested_bytes=451) == [("room", "good")]
    one = findings_of(requested_bytes=450)[1]
    assert (one.id, one.value, one.share) == ("rounding", 50, 0.1)


def test_what_the_trace_does_not_tell():
    assert ids(is_summed=True, excess_bytes=5, addressless=1) == [
        ("room", "good"), ("missing_releases", "low"), ("no_addresses", "low"), ("summed", "low"),
    ]  # fmt: skip
