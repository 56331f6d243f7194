import platform
import subprocess
import sys

import pytest
from helpers.commands import python_prints

# Threads that are all alive allocate in turn; then large blocks come and go.
PROGRAM = """
import ctypes, resource, sys, threading
from tbprof.base.process.heap import share_heap

if sys.argv[1] == "shared":
    share_heap(64 << 20)
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
turn = threading.Barrier(4)

def allocate():
    blocks = [libc.malloc(4096) for _ in range(64)]
    turn.wait()
    for block in blocks:
        libc.free(block)

threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = libc.malloc(6 << 20)
    ctypes.memset(block, 1, 6 << 20)
    libc.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
print(faults())
libc.malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has a heap per thread")
def test_threads_share_one_heap_that_keeps_what_is_freed() -> None:
    arenas = {}
    for way in ("own", "shared"):
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM, way], capture_output=True, text=True, check=True
        )
        arenas[way], faults = ran.stderr.count("Arena "), int(ran.stdout)
    assert arenas["shared"] == 1 < arenas["own"]
    assert faults < 20  # 6 MB are 1,536 pages


FILLED = """
import resource, sys
from tbprof.base.process.heap import fill_heap, share_heap

share_heap(64 << 20)
fill_heap(int(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
blocks = [b"1" * (1 << 20) for _ in range(8)]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has a heap per thread")
def test_a_filled_heap_needs_no_pages_later() -> None:
    faults = {size: int(python_prints("-c", FILLED, size)) for size in (0, 12 << 20)}
    assert 10 * faults[12 << 20] < faults[0]
