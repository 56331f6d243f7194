"""Drawn programs that xprof 2.24.2 shows otherwise than they ran. One column is 1 µs."""

from traces import COLUMN_PS, draw, listed

GPU = "/device:GPU:0"
HOST = "/host:CPU"
KERNEL = {"kernel_details": "regs:1"}


def marked(letters: str) -> dict[str, dict[str, int]]:
    """The stats of markers of steps 0, 1, ..."""
    return {letter: {"_r": 1, "step_num": at} for at, letter in enumerate(letters)}


def starving() -> bytes:
    """Steps of 10 on the host every 20, a batch in front of each, 6 on the GPU."""
    return draw(
        {
            HOST: """
                python |ssssssssss..........tttttttttt..........uuuuuuuuuu
                       |.L........IIIIIIIIII.M........IIIIIIIIII.N
            """,
            GPU: "Stream #1 |..kkkkkk............mmmmmm..............nnnnnn",
        },
        names={**dict.fromkeys("stu", "train"), "I": "IteratorGetNext:IteratorGetNext",
               **dict.fromkeys("LMN", "cuLaunchKernel"), **dict.fromkeys("kmn", "sgemm_f32")},
        stats={**marked("stu"), **{letter: {"correlation_id": at}
                                   for at, letter in enumerate("LMN", 1)},
               **{letter: {**KERNEL, "correlation_id": at} for at, letter in enumerate("kmn", 1)}},
    )  # fmt: skip


def many_steps(count: int) -> bytes:
    """`count` steps of 5, each with an op of 4."""
    letters = "abcdefghijkl"[:count]
    return draw(
        {HOST: f"""
            python |{"".join(letter * 5 for letter in letters)}
                   |{"oooo." * count}
        """},
        names={**dict.fromkeys(letters, "train"), "o": "x:MatMul"},
        stats=marked(letters),
    )  # fmt: skip


def looping() -> bytes:
    """Three steps, each with a function that holds a loop of two iterations."""
    return draw(
        {HOST: """
            python |ssssssssssttttttttttuuuuuuuuuu
                   |.fffffff...fffffff...fffffff
                   |.xx.yy.....xx.yy.....xx.yy
        """},
        names={**dict.fromkeys("stu", "train"), "f": "FunctionRun",
               "x": "ExecutorState::Process", "y": "ExecutorState::Process"},
        stats={**marked("stu"), "f": {"_r": 1}, "x": {"id": 7, "iter_num": 0},
               "y": {"id": 7, "iter_num": 1}},
    )  # fmt: skip


def instant() -> bytes:
    """A step of 10 with ops of 1, and an instant between them."""
    step = ("train", 0, 10 * COLUMN_PS, {"_r": 1, "step_num": 0})
    ops = [("x:MatMul", at * COLUMN_PS, COLUMN_PS) for at in (1, 7)]
    between = ("ThreadPool::StartRegion", 3 * COLUMN_PS, 0)
    return listed({HOST: {"python": [step, ops[0], between, ops[1]]}})


def copies() -> bytes:
    """A step with a kernel of 3 and copies: in 2, out 1, on the GPU 1, within the host 2."""
    return draw(
        {
            HOST: "python |ssssssssssss\n       |.L",
            GPU: "Stream #1 |..kkkhhdpqq",
        },
        names={"s": "train", "L": "cuLaunchKernel", "k": "sgemm_f32", "h": "MemcpyH2D",
               "d": "MemcpyD2H", "p": "MemcpyD2D", "q": "MemcpyH2H"},
        stats={"s": {"_r": 1, "step_num": 0}, "L": {"correlation_id": 1},
               "k": {**KERNEL, "correlation_id": 1},
               **{letter: {"correlation_id": 1} for letter in "hdpq"}},
    )  # fmt: skip


def host_copies() -> bytes:
    """A step of 10 with an op of 2 and a copy within the host of 3."""
    return draw(
        {HOST: """
            python |ssssssssss
                   |aa.ccc
        """},
        names={"s": "train", "a": "x:MatMul", "c": "MEMCPYHtoH"},
        stats={"s": {"_r": 1, "step_num": 0}},
    )  # fmt: skip


def appended() -> bytes:
    """1,000 short events, and behind them in the file 10 long ones of 100 ms each."""
    short = [("short", at * 10**9, 5 * 10**8) for at in range(1000)]
    long = [("long", at * 10**11, 10**11) for at in range(10)]
    return listed({HOST: {"t": short + long}})
