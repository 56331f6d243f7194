"""Drawn runs whose pages have something to say: hosts by run, one column is 1 µs."""

from collections.abc import Callable, Mapping

from traces import Ref, Stats, draw
from traces.misread_runs import copies, host_copies, instant, looping, many_steps, marked, starving

HOST, GPU, TPU = "/host:CPU", "/device:GPU:0", "/device:TPU:0"
KERNEL = {"kernel_details": "regs:32 grid:8,1,1 block:256,1,1"}
CAPABLE: Stats = {"compute_cap_major": 7, "compute_cap_minor": 0, "device_vendor": "Nvidia"}


def _of_letters(letters: str, value: str) -> dict[str, str]:
    return dict.fromkeys(letters, value)


def cpu_steps(work: str, *, start_ns: int = 0, late: int = 0) -> bytes:
    """Three steps of 40 with `work` in each: o op, i wait for input, c compilation, p Python.

    e is an op that Python runs by itself, f a function of ops.

    `late` columns pass before the first one.
    """
    before = "." * late
    return draw(
        {
            HOST: f"""
                python |{before}{"".join(letter * 40 for letter in "stu")}
                       |{before}{work.ljust(40, ".") * 3}
            """
        },
        names={
            **_of_letters("stu", "train"),
            "o": "dense/MatMul:MatMul",
            "i": "IteratorGetNext:IteratorGetNext",
            "c": "XlaCompile",
            "p": "$train.py:12 collate",
            **_of_letters("ef", "EagerExecute"),
        },
        stats={
            **marked("stu"),
            "e": {"is_func": 0, "eager_op": Ref("Mul")},
            "f": {"is_func": 1, "eager_op": Ref("__inference_step_1")},
        },
        start_ns=start_ns,
    )


def unmarked_ops() -> bytes:
    """Twelve times two ops back to back on one thread, and nothing else."""
    return draw(
        {HOST: f"python |{('m' * 18 + 'rr') * 12}"},
        names={"m": "dense/MatMul:MatMul", "r": "dense/Relu:Relu"},
    )


def gpu_steps(device: str, host: str = "L", *, start_ns: int = 0) -> bytes:
    """Three steps of 40: `device` is what the GPU does in each, `host` what the program does.

    k kernel, m kernel that could use Tensor Cores, h copy to the device, d to the host, p on it.
    """
    steps = "stu"
    device = device.ljust(40, ".")
    return draw(
        {
            HOST: f"""
                python |{"".join(letter * 40 for letter in steps)}
                       |{host.ljust(40, ".") * 3}
            """,
            GPU: f"Stream #1 |{device * 3}",
        },
        names={
            **_of_letters(steps, "train"),
            "L": "cuLaunchKernel",
            "i": "IteratorGetNext:IteratorGetNext",
            "k": "relu_kernel",
            "m": "sgemm_f32",
            "h": "MemcpyH2D",
            "d": "MemcpyD2H",
            "p": "MemcpyD2D",
        },
        stats={
            **marked(steps),
            "k": {**KERNEL, "tf_op": "model/Relu:Relu"},
            "m": {**KERNEL, "tf_op": "model/dense/MatMul:MatMul"},
            **{letter: {"memcpy_details": "size:4096 dest:0 async:1"} for letter in "hdp"},
        },
        plane_stats={GPU: CAPABLE},
        start_ns=start_ns,
    )


def idle_python() -> bytes:
    """Three steps of 40 of which a function of the user takes 30, 20 of them asleep."""
    return draw(
        {
            HOST: """
                python |ssssssssssssssssssssssssssssssssssssssss
                       |pppppppppppppppppppppppppppppp.oooooo...
                       |.zzzzzzzzzzzzzzzzzzzz
            """
        },
        names={
            "s": "train",
            "p": "$train.py:12 batch",
            "z": "$time sleep",
            "o": "dense/MatMul:MatMul",
        },
        stats=marked("s"),
    )


def tpu_ops() -> bytes:
    """A TPU core that copies for most of its three programs."""
    return draw(
        {
            TPU: """
                Steps       |ssssssssssssssssssssttttttttttttttttttttuuuuuuuuuuuuuuuuuuuu
                XLA Modules |mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm
                XLA Ops     |cccccccccccccaaa....cccccccccccccaaa....cccccccccccccaaa....
            """
        },
        names={
            "s": "0", "t": "1", "u": "2", "m": "jit_step(1)",
            "c": "%copy.1 = f32[128,128]{1,0} copy(f32[128,128]{0,1} %p)",
            "a": "%fusion.2 = f32[128,128]{1,0} fusion(f32[128,128]{1,0} %copy.1)",
        },
        display_names={"c": "copy.1", "a": "fusion.2"},
        stats={"s": {"step_num": 0}, "t": {"step_num": 1}, "u": {"step_num": 2}},
        type_stats={"c": {"hlo_category": "copy"}, "a": {"hlo_category": "loop fusion"}},
    )  # fmt: skip


# Hosts whose clocks tell the same time of day.
_NOW_NS = 1_700_000_000_000_000_000

RUNS: Mapping[str, Callable[[], Mapping[str, bytes]]] = {
    "starving": lambda: {"h0": starving()},
    "copies": lambda: {"h0": copies()},
    "host_copies": lambda: {"h0": host_copies()},
    "instant": lambda: {"h0": instant()},
    "looping": lambda: {"h0": looping()},
    "many_steps": lambda: {"h0": many_steps(12)},
    "input": lambda: {"h0": cpu_steps(f"{'i' * 25}{'o' * 10}")},
    "compiling": lambda: {"h0": cpu_steps(f"{'c' * 25}{'o' * 10}")},
    "python": lambda: {"h0": cpu_steps(f"{'p' * 25}{'o' * 10}")},
    "one_by_one": lambda: {"h0": cpu_steps(f"{'e.' * 16}ffff")},
    "unmarked": lambda: {"h0": unmarked_ops()},
    "sleeping": lambda: {"h0": idle_python()},
    "launching": lambda: {"h0": gpu_steps(f"{'.' * 20}{'k' * 20}", "L" * 20)},
    "output": lambda: {"h0": gpu_steps(f"{'k' * 15}{'d' * 20}")},
    "copying": lambda: {"h0": gpu_steps(f"{'h' * 15}{'k' * 4}{'p' * 20}")},
    "small": lambda: {"h0": gpu_steps("k.k.k.k.k.k.k.k.k.k.k.k.k.k.k.k.k.k.k.k.")},
    "precision": lambda: {"h0": gpu_steps("m" * 38)},
    "starving_gpu": lambda: {"h0": gpu_steps(f"{'.' * 25}{'k' * 12}", "i" * 25)},
    "tpu": lambda: {"h0": tpu_ops()},
    "hosts": lambda: {
        "h0": cpu_steps(f"{'i' * 5}{'o' * 30}", start_ns=_NOW_NS),
        "h1": cpu_steps(f"{'i' * 25}{'o' * 10}", start_ns=_NOW_NS),
    },
    "gpu_hosts": lambda: {
        "h0": gpu_steps(f"{'k' * 15}{'d' * 5}", start_ns=_NOW_NS),
        "h1": gpu_steps(f"{'k' * 15}{'d' * 20}", start_ns=_NOW_NS),
    },
    "late_host": lambda: {
        "h0": gpu_steps("k" * 20, "L" * 20, start_ns=_NOW_NS),
        "h1": gpu_steps(f"{'k' * 20}{'d' * 19}", "L" * 4, start_ns=_NOW_NS + 7_000),
    },
}
