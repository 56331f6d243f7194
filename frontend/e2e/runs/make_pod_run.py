"""A run of 1,024 small hosts for the browser tests: `python make_pod_run.py LOGDIR RUN`.

Each trains four steps of 100 µs, 60 of them in an op and 10 of them waiting for its input; host
worker-0700 takes twice as long for everything and has the fullest memory.
"""

import sys
from pathlib import Path

from make_tf_data_run import Host

HOSTS, STEPS, SLOW = 1024, 4, 700
CAPACITY = 1000


def host(number: int) -> Host:
    """The trace of one host."""
    pace = 2 if number == SLOW else 1
    bytes_ = 900 if number == SLOW else 100 + number % 7
    made = Host(f"worker-{number:04}")
    for step in range(STEPS):
        begin = step * 100 * pace
        made.add("main", "train", begin, 98 * pace, step_num=step, group_id=step)
        made.add(
            "main", "Iterator::Root::Prefetch", begin + 5 * pace, 10 * pace,
            group_id=step, step_num=step, id=1,
        )  # fmt: skip
        made.add("main", "dense/MatMul:MatMul", begin + 20 * pace, 60 * pace, group_id=step)
        for at, name in ((30, "MemoryAllocation"), (70, "MemoryDeallocation")):
            in_use = bytes_ if at == 30 else 0
            made.add(
                "main", name, begin + at * pace, 0, allocator_name="cpu", addr=4096,
                bytes_reserved=0, bytes_allocated=in_use, bytes_available=CAPACITY - in_use,
                allocation_bytes=bytes_, requested_bytes=bytes_, tf_op="dense/MatMul",
            )  # fmt: skip
    return made


if __name__ == "__main__":
    for row in range(HOSTS):
        host(row).write(Path(sys.argv[1]), sys.argv[2])
