"""What TPU cores and SparseCores did when, from drawn traces."""

from analysis.ops.test_device_phases import program
from helpers.drawn.drawn_devices import SPARSE, TPU, devices_of, phases, rows
from traces import Unsigned, draw


def test_a_loop_has_what_its_body_leaves():
    content = draw(
        {TPU: "XLA Ops |wwwwwwwwww.i\n        |.aaa.rrr.."},
        names={"a": "%add.1 = bf16[8]{0} add(bf16[8]{0} %x)", "w": "%while.1 = (bf16[8]) while()"},
        display_names={"a": "add.1", "w": "while.1"},
        type_stats={
            "w": {"hlo_category": "while"},
            "a": {"hlo_category": "non-fusion elementwise"},
            "r": {"hlo_category": "all-reduce"},
            "i": {"hlo_category": "infeed"},
        },
    )
    (device,) = devices_of(content)
    assert (device.name, device.kind, device.id) == ("TPU:0", "TPU", 0)
    assert rows(device) == [
        (0, 1, "COMPUTE_UNKNOWN", "while.1"),
        (1, 3, "COMPUTE_16", "add.1"),
        (4, 1, "COMPUTE_UNKNOWN", "while.1"),
        (5, 3, "COLLECTIVES", "r"),
        (8, 2, "COMPUTE_UNKNOWN", "while.1"),
        (11, 1, "INPUT", "i"),
    ]
    assert not device.is_kernel.any()
    at = device.events.type[device.row]
    texts = device.plane.strings.take(device.plane.types.name[at].tolist())
    assert texts[1] == "%add.1 = bf16[8]{0} add(bf16[8]{0} %x)"


def test_asynchronous_ops_go_on_beside_the_others():
    content = draw(
        {TPU: "XLA Ops |aa..d\nAsync XLA Ops |.sssss"},
        names={"a": "%a = f32[2]{0} add(f32[2]{0} %x)", "s": "%copy-start = (f32[2])"},
        type_stats={
            "s": {"hlo_category": "copy-start"},
            "d": {"hlo_category": "all-gather-done"},
        },
    )
    (device,) = devices_of(content)
    assert [row[:3] for row in rows(device)] == [
        (0, 2, "COMPUTE_32"),
        (1, 5, "DEVICE_TO_DEVICE"),
        (4, 1, "COLLECTIVES"),
    ]
    assert device.events.start_ps[device.row].tolist() == device.start_ps.tolist()


def test_cores_and_sparse_cores_are_apart():
    devices = devices_of(
        draw(
            {
                TPU: "XLA Ops |aa\nSteps |sss\nXLA Modules |m",
                SPARSE: "Sparse Core Ops |.b\nSparse Core Steps |.t\nSparse Core Modules |.n",
                "/device:TPU:3": "XLA Ops |\nSteps |sss",
                "/device:TPU:4": "XLA Ops |",
            },
            names={"s": "11", "t": "12"},
            stats={"s": {"group_id": 5}},
        )
    )
    assert [(one.name, one.kind, one.id, one.start_ps.size) for one in devices] == [
        ("TPU:0", "TPU", 0, 1),
        ("TPU:0 SparseCore 1", "SparseCore", 1_000_001, 1),
        ("TPU:3", "TPU", 3, 0),  # a core that only waited still had steps
    ]
    assert [one.executions.name for one in devices] == [["m"], ["n"], []]
    steps = [one.steps for one in devices]
    assert [step.number.tolist() for step in steps if step] == [[11], [12], [11]]
    assert [step.group.tolist() for step in steps if step] == [[5], [-1], [5]]


def test_what_a_tpu_op_waits_for_and_computes_in_by_its_program():
    content = draw(
        {TPU: "XLA Ops |f.w"},
        names={
            "f": "%fusion.1 = f32[8,8]{1,0} fusion(f32[8,8]{1,0} %x, f32[8,8]{1,0} %x)",
            "w": "%async-done.1 = f32[8,8]{1,0} async-done(f32[8,8]{1,0} %async-start.1)",
        },
        type_stats={
            "f": {"hlo_category": "convolution fusion", "program_id": 5},
            "w": {"hlo_category": "async-done", "program_id": Unsigned(5)},
        },
        programs={"jit_f(5)": program()},
    )
    assert phases(content) == ["COMPUTE_16", "COLLECTIVES"]


def test_a_shape_alone_tells_the_type():
    content = draw(
        {TPU: "XLA Ops |f"},
        names={"f": "fusion.1"},
        type_stats={"f": {"hlo_category": "loop fusion", "shape_with_layout": "bf16[8]{0}"}},
    )
    assert phases(content) == ["COMPUTE_16"]
