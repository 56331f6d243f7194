"""Names that runtimes give to host events, and what each says about its event."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from tbprof.analysis.vocabulary.op_names import NAMES_AT_ONCE
from tbprof.base.lazy import regex
from tbprof.base.names import READS_ARRAY
from tbprof.base.records import NamedTuple

if TYPE_CHECKING:
    import re


class _Names(NamedTuple):
    """The names of one group.

    A name belongs to it if it begins with one of `starts` or, ignoring case, of `any_case`; if it
    is one of `whole`; if it is one of `methods`, of any class; or if it contains a word of `shapes`
    and its beginning matches the expression of that word. So an expression is only compiled for
    traces that may need it: compiling all of them takes 3 % of a small export. None nests
    repetitions: names are untrusted input.
    """

    group: str
    starts: tuple[str, ...] = ()
    any_case: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    shapes: tuple[tuple[str, re.Pattern[str]], ...] = ()


_METHOD = regex(r"[\w:]+::(\w*)\Z")
_TO_DEVICE = regex(
    r"[\w:]+::(?:TransferLiteralToInfeed|BufferFromHost|Transfer(?:Preprocessed)?H2D"
    r"|TransferToDevice)"
)
_FROM_DEVICE = regex(
    r"[\w:]+::(?:TransferLiteralFromOutfeed|ToLiteral|Copy(?:Raw)?ToHost|CopyToLiteral|TransferD2H"
    r"|TransferFromDevice)"
)
_DRIVER = regex(r"(?:cu|cuda|hip)[A-Z]")
# JAX names an instruction that calls Python by its primitive: jax.pure_callback,
# jax.experimental.io_callback, jax.debug.callback and jax.debug.print. XLA names events by
# instruction.
_CALLBACK = regex(r"(?:(?:pure|io|debug)_callback|debug_print)(?:\.\w+)*\Z")
_LONGEST_ANY_CASE = len("MultiDeviceIterator")
# The first group that has a name decides.
_GROUPS = (
    _Names(
        "FRAME",
        starts=("end: ", "ThreadpoolListener::", "SlinkyThreadPool::"),
        whole=("MemoryAllocation", "MemoryDeallocation"),
    ),
    _Names(
        "WAIT",
        starts=(
            "Wait for ", "WaitForNotification", "WaitForAll", "WaitUntilDone", "Acquire semaphore",
            "dependency-wait", "block_until_ready",
        ),
        whole=("sleep", "time.sleep"),
        methods=(
            "Await", "Wait", "WaitForNotification", "BlockHostUntilDone", "BlockHostUntilReady",
            "BlockUntilReady",
        ),
        shapes=(
            ("Synchronize", regex(r"(?:cu|cuda|hip)[A-Z]\w*Synchronize")),
            ("Until", regex(r"Block(?:Host)?Until\w")),
            (".block_until_ready", regex(r"[\w.]+\.block_until_ready")),
            (" (wait for completion)", regex(r"[\w:]+ \(wait for completion\)")),
            (" WaitReady", regex(r"\w+ WaitReady\Z")),
        ),
    ),
    _Names(
        "UPKEEP",
        starts=("Build buffer allocations", "PythonRefManager::CollectGarbage"),
        whole=("MakeOutputBuffers",),
        shapes=(
            ("::Allocate", regex(r"[\w:]+::Allocate(?:[A-Z]\w*)?(?:=>\w+)?\Z")),
            ("Allocate", regex(r"Allocate(?:Output|Destination)\w*\Z")),
        ),
    ),
    _Names(
        "INPUT",
        starts=(
            "EagerLocalExecute: IteratorGetNext", "EagerLocalExecute: MultiDeviceIteratorGetNext",
            "Iterator::", "MakeIterator::", "cuMemcpyHtoD", "hipMemcpyHtoD", "H2D Dispatch",
            "InfeedEnqueue", "TransferLiteralToInfeed", "BufferFromHost", "TransferH2D",
            "TransferPreprocessedH2D", "TransferToDevice", "DevicePut", "device_put",
            "jax.device_put", "batched_device_put", "shard_args", "batched_copy_array_to_devices",
            "BatchedCopyToDevice", "enumerate(DataLoader)", "grain.", "grain:",
        ),
        any_case=("iteratorgetnext", "multideviceiterator", "memcpyh2d", "memcpyhtod"),
        shapes=(
            ("Consume", regex(r"\w+Consume\Z")),
            ("::Transfer", _TO_DEVICE),
            ("::BufferFromHost", _TO_DEVICE),
        ),
    ),
    _Names("HOST_COMPUTE", any_case=("memcpyh2h", "memcpyhtoh")),
    _Names(
        "BACKGROUND",
        starts=("InstantiatedCapturedFunction::",),
        shapes=(("Produce", regex(r"\w+Produce\Z")),),
    ),
    _Names(
        "OUTPUT",
        starts=(
            "cuMemcpyDtoH", "hipMemcpyDtoH", "D2H Dispatch", "OutfeedDequeue",
            "TransferLiteralFromOutfeed", "ToLiteral", "CopyToHost", "CopyRawToHost",
            "CopyToLiteral", "TransferD2H", "TransferFromDevice", "copy_to_host",
            "EagerLocalExecute: FlushSummaryWriter", "EagerLocalExecute: Save",
            "EagerLocalExecute: MergeV2Checkpoints",
        ),
        any_case=("memcpyd2h", "memcpydtoh"),
        shapes=(
            ("::To", _FROM_DEVICE),
            ("::Copy", _FROM_DEVICE),
            ("::Transfer", _FROM_DEVICE),
            (".copy_to_host", regex(r"\w+\.copy_to_host")),
            ("Summary", regex(r"EagerLocalExecute: Write\w*Summary")),
        ),
    ),
    _Names(
        "COMPILATION",
        starts=(
            "backend_compile", "lower_sharding_computation", "trace_to_jaxpr", "XlaCompil", "XLA::",
            "HLO passes", "HLO optimization", "HloPass", "HloEvaluator", "RunHloPasses",
            "RunBackend", "XlaBuilder", "ThunkEmitter::", "TaskDispatcher::dispatch", "mlir::",
            "LLVM", "tf.function-graph_building", "RemoteCall: Instantiate", "ptxas", "nvlink",
            "Autotun", "MetaOptimizer", "Grappler",
        ),
        shapes=(
            ("Compiler::", regex(r"[\w:]*Compiler::")),
            ("CompilationCache::", regex(r"[\w:]*CompilationCache::")),
            ("Compile", regex(r"(?:[\w:]+::)?Compile(?:[A-Z]\w*)?\Z")),
            ("LSRAv", regex(r"LSRAv\d")),
            ("Pass", regex(r"(?!Forward|Backward)\w+Pass\Z")),
            ("Instantiate", regex(r"Instantiate\b")),
            ("Autotun", regex(r"Gemm\w*Autotun")),
        ),
    ),
    _Names("PROGRAM", whole=("ThunkExecutor::Execute",)),
    _Names(
        "DISPATCH",
        starts=(
            "PjitFunction(", "ExecuteReplicated", "TpuExecuteOp", "TPUExecute",
            "tpu::System::Execute", "LoadProgram", "RunProgramRequest", "RunExecutable",
            "ThunkExecutor::", "Handle inputs", "Handle outputs", "Handle input event",
        ),
        whole=("ParseArguments",),
        shapes=(
            ("Executable::Execute", regex(r"[\w: ]*Executable::Execute")),
            ("Enqueue", regex(r"(?:Do)?Enqueue\w*Program")),
            ("Thunk::", regex(r"\w+Thunk::")),
        ),
    ),
    _Names("READ", starts=(READS_ARRAY,)),
    _Names("DRIVER", shapes=(("cu", _DRIVER), ("hip", _DRIVER))),
    _Names(
        "LAUNCHER",
        starts=("EagerKernelExecute",),
        shapes=(("KernelAndDevice", regex(r"KernelAndDevice\w+::Run")),),
    ),
    _Names("EXECUTOR", starts=("ExecutorState::Process", "ExecutorPropagateOutputs")),
    _Names(
        "WRAPPER",
        starts=(
            "FunctionRun", "SessionRun", "RunGraph", "BatchingSessionRun", "ProcessBatch",
            "TraceContext", "EagerExecute", "EagerLocalExecute", "EagerCopyToDevice", "TFE_Py_",
        ),
        whole=("train", "test"),
    ),
)  # fmt: skip
# Every name of a group begins with or contains one of these.
_STARTS = tuple(start for names in _GROUPS for start in (*names.starts, *names.whole))
_ANY_CASE = tuple(start for names in _GROUPS for start in names.any_case)
_WORDS = ("::", *{word: None for names in _GROUPS for word, _ in names.shapes})


def is_callback(text: str) -> bool:
    """Whether an event is an instruction of a compiled program that calls Python."""
    return _CALLBACK.match(text) is not None


def group_of_name(text: str) -> str:
    """What the name of a host event says, as the name of a `Phase` or `Role`; "" if it is unknown.

    In addition, DISPATCH, READ, DRIVER and EXECUTOR, which depend on the devices, and PROGRAM.
    """
    # No name contains a slash: for ops of one scope, only the text up to the slash matters.
    return _group(text[: text.find("/") + 1] or text)


def _find_group(text: str) -> str:
    lowered = text[:_LONGEST_ANY_CASE].lower()
    if not _may_be_known(text, lowered):
        return ""
    scoped = _METHOD.match(text) if "::" in text else None
    method = scoped[1] if scoped else ""
    for group, starts, any_case, whole, methods, shapes in _GROUPS:
        if text.startswith(starts) or lowered.startswith(any_case) or text in whole:
            return group
        if method and method in methods:
            return group
        for word, shape in shapes:
            if word in text and shape.match(text):
                return group
    return ""


def _may_be_known(text: str, lowered: str) -> bool:
    """False for most names of ops and annotations, in a third of the time."""
    return (
        text.startswith(_STARTS)
        or lowered.startswith(_ANY_CASE)
        or any(map(text.__contains__, _WORDS))
    )


_group: Callable[[str], str] = functools.lru_cache(maxsize=NAMES_AT_ONCE)(_find_group)
