"""What kind of work an event is, by its name and track."""

import re
from pathlib import Path

import numpy as np
import pytest
from builders.unlaid_timelines import category_of, shown
from traces import Ref, draw, drawn_space, message_of, space_of

from tbprof.analysis.host.host_roles import Role
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.categories import _OF_PHASE, gpu_category, op_category
from tbprof.timeline.model.category_names import CATEGORIES, Category
from tbprof.xplane.reader import read_space

TOKENS = Path(__file__).parents[3] / "frontend" / "src" / "styles" / "tokens.css"


def test_each_category_has_a_name_and_a_colour_of_the_pages():
    assert len(CATEGORIES) == len(Category)
    assert len({name for name, _ in CATEGORIES}) == len(CATEGORIES)
    colours = set(re.findall(r"--c-([a-z0-9]+):", TOKENS.read_text(encoding="utf-8")))
    assert {meaning for _, meaning in CATEGORIES} - {""} <= colours


HOST_NAMES = {
    "a": "MatMul:MatMul",
    "b": "$train.py:12 fit",
    "c": "$threading.py:324 wait",
    "d": "IteratorGetNextOp::DoCompute",
    "e": "MemcpyH2D",
    "f": "MEMCPYDtoH",
    "g": "cuLaunchKernel",
    "h": "backend_compile",
    "i": "Wait for usage holds",
    "j": "ThreadpoolListener::Record",
    "k": "MemoryAllocation",
    "l": "my own annotation",
    "m": "PrefetchProduce",
    "n": "np.asarray(jax.Array)",
    "o": "FunctionRun",
    "p": "train",
    "q": "DevicePut",
}


def host_categories(planes: dict[str, str]) -> dict[str, str]:
    drawing = f"main |{''.join(HOST_NAMES)}"
    stats = {"p": {"step_num": 3}}
    space = drawn_space({"/host:CPU": drawing, **planes}, names=HOST_NAMES, stats=stats)
    unlaid = find_tracks(space)
    return {name: category_of(unlaid)[name] for name in HOST_NAMES.values()}


def test_events_of_threads_have_the_roles_that_steps_know():
    assert host_categories({"/device:GPU:0": "Stream #1 |z"}) == {
        "MatMul:MatMul": "host",
        "$train.py:12 fit": "python",
        "$threading.py:324 wait": "waiting",
        "IteratorGetNextOp::DoCompute": "input",
        "MemcpyH2D": "copies",
        "MEMCPYDtoH": "copies",
        "cuLaunchKernel": "launch",
        "backend_compile": "compilation",
        "Wait for usage holds": "waiting",
        "ThreadpoolListener::Record": "bookkeeping",
        "MemoryAllocation": "bookkeeping",
        "my own annotation": "other",
        "PrefetchProduce": "input",
        "np.asarray(jax.Array)": "output",
        "FunctionRun": "other",
        "train": "steps",
        "DevicePut": "copies",
    }


def test_without_a_device_nothing_is_launched():
    categories = host_categories({})
    assert categories["cuLaunchKernel"] == "other"
    assert categories["np.asarray(jax.Array)"] == "other"


def test_events_without_duration_go_by_their_names():
    content = draw({"/host:CPU": "main |a"}, names={"a": "checkpoint"})
    trace = message_of(content)
    trace.planes[0].lines[0].events[0].duration_ps = 0
    unlaid = find_tracks(space_of(bytes(trace.SerializeToString())))
    assert category_of(unlaid) == {"checkpoint": "other"}


def test_launches_are_known_by_what_they_carry():
    space = drawn_space(
        {"/host:CPU": "main |ab", "/device:GPU:0": "Stream #1 |c"},
        names={"a": "ampere_sgemm_128x64", "b": "other"},
        stats={"a": {"correlation_id": 3}},
    )
    assert category_of(find_tracks(space))["ampere_sgemm_128x64"] == "launch"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("volta_sgemm_128x64_nn", Category.COMPUTE),
        ("ncclDevKernel_AllReduce_Sum_f16_RING_LL", Category.COLLECTIVES),
        ("MemcpyH2D", Category.COPIES),
        ("MemcpyD2H", Category.COPIES),
        ("Memcpy DtoD (Device -> Device)", Category.COPIES),
        ("MemcpyP2P", Category.COPIES),
        ("Memset", Category.COMPUTE),
        ("Memory device", Category.BOOKKEEPING),
        ("BUFFER_FLUSH", Category.BOOKKEEPING),
        ("", Category.COMPUTE),
    ],
)
def test_what_runs_on_gpus_computes_communicates_or_copies(name: str, expected: Category):
    assert gpu_category(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b/MatMul:MatMul", Category.COMPUTE),
        ("a/NcclAllReduce:NcclAllReduce", Category.COLLECTIVES),
        ("jit(f)/jit(main)/all_gather", Category.COLLECTIVES),
        ("MatMul", Category.COMPUTE),
    ],
)
def test_ops_of_devices_compute_or_communicate(name: str, expected: Category):
    assert op_category(name) == expected


def test_ops_of_tpus_go_by_the_recorders_category_else_by_their_text():
    space = drawn_space(
        {
            "/device:TPU:0": """
                Steps         |s
                XLA Modules   |m
                XLA Ops       |abcdefg
                Async XLA Ops |h
            """
        },
        names={
            "a": "%fusion.1 = f32[8] fusion(f32[8] %x)",
            "b": "%all-reduce.2 = f32[8] all-reduce(f32[8] %x)",
            "c": "%copy-start.4 = (f32[8]) copy-start(f32[8] %x)",
            "d": "%f = f32[8] fusion(f32[8] %x)",
            "e": "%infeed.3 = f32[8] infeed()",
            "f": "%out.3 = f32[8] custom-call()",
            "g": "%while.5 = f32[8] while(f32[8] %x)",
            "h": "copy-start.4",
            "m": "jit_f(17)",
            "s": "0",
        },
        type_stats={
            "d": {"hlo_category": Ref("all-gather")},
            "f": {"hlo_category": Ref("outfeed")},
        },
    )
    unlaid = find_tracks(space)
    category = category_of(unlaid)
    by_track = {
        track.name: [category[event.name] for event in shown(unlaid, track)]
        for track in unlaid.tracks
    }
    assert by_track == {
        "Steps": ["steps"],
        "XLA Modules": ["programs"],
        "XLA Ops": [
            "compute", "collectives", "copies", "collectives", "input", "output", "compute",
        ],
        "Async XLA Ops": ["copies"],
    }  # fmt: skip


def test_one_type_may_be_another_thing_on_another_track():
    drawing = """
        Steps     |a
        Stream #1 |a
    """
    unlaid = find_tracks(drawn_space({"/device:GPU:0": drawing}))
    assert unlaid.types.name == ["a", "a"]
    assert sorted(CATEGORIES[row][0] for row in unlaid.types.category) == ["compute", "steps"]


def test_what_runs_on_real_devices_has_a_category(accelerator_trace: Path):
    unlaid = find_tracks(read_space(accelerator_trace))
    count = np.zeros(len(CATEGORIES), np.int64)
    for track in unlaid.tracks:
        if unlaid.sections[track.section].kind == "device" and track.kind != "other":
            types = track.type_of[track.columns.type[track.first : track.last]]
            count += np.bincount(unlaid.types.category[types], minlength=len(CATEGORIES))
    assert count[Category.OTHER] == 0
    assert count[Category.COMPUTE] + count[Category.COPIES] > 1000


@pytest.mark.parametrize("role", [*Role, *Phase])
def test_every_role_and_phase_has_a_category(role: Role | Phase):
    assert role in _OF_PHASE
