"""Which workers exchange data, from drawn traces; and devices that a CPU plays."""

import numpy as np
import pytest
from traces import draw, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.job.coupling import COLLECTIVE, TRANSFER, Coupling, find_coupling
from tbprof.analysis.job.job_steps import JobSteps, merge_steps
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.job.stragglers import Stragglers, find_stragglers
from tbprof.analysis.steps.step_finding import find_steps

US = 1_000_000
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def coupling(content: bytes) -> Coupling:
    space = space_of(content)
    return find_coupling(space, Programs(space))


def stragglers_of(*contents: bytes) -> tuple[JobSteps, Stragglers]:
    """A host per trace."""
    spaces = [space_of(content) for content in contents]
    parts = [find_steps(space, Programs(space)) for space in spaces]
    job = merge_steps([f"h{index}" for index in range(len(spaces))], parts)
    couplings = [find_coupling(space, Programs(space)) for space in spaces]
    return job, find_stragglers(job, step_means(job), couplings)


def exchanges(coupling: Coupling, worker: str) -> list[int]:
    """How names of a worker exchange data, of those that do."""
    rows = coupling.worker_of == coupling.worker.index(worker)
    return [one for one in coupling.exchange[rows].tolist() if one]


def test_gpus_with_collectives_and_without():
    coupled = coupling(
        draw(
            {
                "/device:GPU:0": "Stream #1 |mmnnkk",
                "/device:GPU:1": "Stream #1 |mmnnkk",
                "/device:GPU:2": "Stream #1 |mm..kk",
                "/device:GPU:3": "Stream #1 |hh",
            },
            names={"n": NCCL, "m": "matmul", "k": "relu", "h": "MemcpyH2D"},
        )
    )
    assert coupled.worker == ["GPU:0", "GPU:1", "GPU:2"]  # a copy is not a program
    assert [exchanges(coupled, name) for name in coupled.worker] == [[COLLECTIVE], [COLLECTIVE], []]
    names = [set(coupled.hash[coupled.worker_of == index].tolist()) for index in range(3)]
    assert names[0] == names[1]
    assert names[2] < names[0]


def test_ops_of_tpus_by_their_category():
    coupled = coupling(
        draw(
            {"/device:TPU:0": "XLA Modules |mmmmmm\nXLA Ops |ccrrss"},
            names={
                "m": "jit_step(12)", "c": "fusion.1", "r": "all-reduce.2", "s": "send-done.3",
            },
            type_stats={
                "c": {"hlo_category": "convolution fusion"},
                "r": {"hlo_category": "all-reduce"},
                "s": {"hlo_category": "send-done"},
            },
        )
    )  # fmt: skip
    assert coupled.worker == ["TPU:0"]
    assert sorted(exchanges(coupled, "TPU:0")) == [COLLECTIVE, TRANSFER]
    assert coupled.worker_of.size == 3  # the program itself is not an op


def training(late: int, *, collective: str = NCCL, kernel: str = "matmul") -> bytes:
    """Six steps of two GPUs, of which the second computes `late` µs longer, and the first waits."""

    def device(compute: int) -> str:
        return "Stream #1(Compute) |" + ("m" * compute + "n" * (18 - compute) + "..") * 6

    letters = "abcdef"
    return draw(
        {
            "/host:CPU": "python |" + "".join(letter * 19 + "." for letter in letters),
            "/device:GPU:0": device(10),
            "/device:GPU:1": device(10 + late),
        },
        names={"n": collective, "m": kernel, **dict.fromkeys(letters, "train")},
        stats={one: {"_r": 1, "step_num": at} for at, one in enumerate(letters)},
    )  # fmt: skip


def test_a_late_gpu_of_a_drawn_trace():
    _, found = stragglers_of(training(5))
    (late,) = found.late
    assert (late.worker, late.late_ps, late.wait_ps) == (1, 5 * US, 5 * US)
    assert stragglers_of(training(0))[1].late == ()
    # The same kernels, and none of them exchanges anything.
    alone = stragglers_of(training(5, collective="relu"))[1]
    assert (alone.late, alone.reason) == ((), "uncoupled")


def test_two_programs_as_two_hosts():
    """The second host's GPUs run another program: it is not late against the first one's."""
    job, found = stragglers_of(training(0), training(6, kernel="conv", collective=f"{NCCL}2"))
    assert [job.worker_host[one.worker] for one in found.late] == [1]
    assert [job.worker_host[one.reference] for one in found.late] == [1]


def rendezvous(late: int, *, ordinals: bool = True, steps: int = 5) -> bytes:
    """Two devices that a CPU plays, on changing threads; the second comes `late` µs after the
    first to the collective of each step, which takes 2 µs more.
    """  # fmt: skip
    length = 20
    lines = {"python": "", "pool/1": "", "pool/2": ""}
    nested = {"pool/1": "", "pool/2": ""}
    names: dict[str, str] = {}
    stats: dict[str, dict[str, str | int]] = {}
    for step in range(steps):
        marker, early, behind, meets = (chr(0x4E00 + 4 * step + index) for index in range(4))
        lines["python"] += marker * (length - 1) + "."
        for at, (letter, came) in enumerate(((early, 3), (behind, 3 + late))):
            thread = f"pool/{1 + (step + at) % 2}"
            lines[thread] += ("." * came + letter * (late + 5 - came)).ljust(length, ".")
            nested[thread] += ("." * came + meets * (late + 5 - came)).ljust(length, ".")
            names[letter] = "psum.7"
            stats[letter] = {"hlo_op": "psum.7", "run_id": step - 9}
            if ordinals:
                stats[letter]["device_ordinal"] = at
        names[marker], names[meets] = "train", "Rendezvous"
        stats[marker] = {"_r": 1, "step_num": step}
        stats[meets] = {"name": f"all reduce RendezvousKey{{run_id=RunId: {step - 9}, op_id=1}}"}
    rows = "\n".join(
        f"{label} |{cells}\n|{nested.get(label, '')}" for label, cells in lines.items()
    )
    return draw({"/host:CPU": rows}, names=names, stats=stats)


def test_devices_of_a_cpu_meet_in_collectives():
    coupled = coupling(rendezvous(6))
    assert coupled.worker == ["CPU"]
    order = np.lexsort((coupled.device, coupled.meeting))
    assert coupled.device[order].tolist() == [0, 1] * 5
    assert np.diff(coupled.arrive_ps[order].reshape(5, 2)).ravel().tolist() == [6 * US] * 5
    _, stragglers = stragglers_of(rendezvous(6))
    (late,) = stragglers.late
    assert (late.worker, late.device, late.reference_device) == (0, 1, 0)
    assert (late.late_ps, late.wait_ps, late.steps) == (6 * US, 6 * US, 5)
    assert late.share == pytest.approx(6 / 19.8)  # the last one has no gap after it
    assert stragglers_of(rendezvous(0))[1].late == ()


def test_devices_without_a_number_are_not_named():
    _, found = stragglers_of(rendezvous(6, ordinals=False))
    assert found == Stragglers((), None, "unnamed")
