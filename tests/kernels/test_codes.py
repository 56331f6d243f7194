"""Numbers that kernels share with enumerations of the analysis are the same."""

from tbprof.analysis.grouping.causality import CausalKind
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.host_roles import Role
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.kernels import codes


def test_phases_of_kernels_are_those_of_steps():
    assert codes.PHASE_INPUT == Phase.INPUT
    assert codes.PHASE_OUTPUT == Phase.OUTPUT
    assert codes.PHASE_COMPILATION == Phase.COMPILATION
    assert codes.PHASE_LAUNCH == Phase.KERNEL_LAUNCH
    assert codes.PHASE_COMPUTE == Phase.HOST_COMPUTE


def test_kinds_of_kernels_are_those_of_causality():
    assert codes.POOL_START == CausalKind.POOL_START
    assert codes.POOL_STOP == CausalKind.POOL_STOP


def test_roles_of_kernels_are_those_of_events():
    names = ("WRAPPER", "WAIT", "LAUNCHER", "BACKGROUND", "UPKEEP")
    assert [getattr(codes, f"ROLE_{name}") for name in names] == [Role[name] for name in names]


def test_activities_of_kernels_are_those_of_threads():
    names = (
        "PYTHON",
        "ANNOTATION",
        "COMPILATION",
        "TF_DATA",
        "OPS",
        "EAGER",
        "RUNTIME",
        "GARBAGE",
        "WAIT",
    )
    assert [getattr(codes, f"DOES_{name}") for name in names] == [Activity[name] for name in names]
    assert codes.DOES_TF_FUNCTION == Activity.TF_DATA_FUNCTION
    assert codes.DOES_SLEEP not in list(Activity)
