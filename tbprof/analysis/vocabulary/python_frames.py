"""Frames of the Python tracer: the function, whether it waits, and whether it is library code.

A frame is named `$file.py:12 function`, with the base name of the file only, or `$module function`
for functions in C (`$<unknown> method` for methods). No stats add to that, so libraries are
recognized by their file names: those of the standard library and those seen in recordings.

Source: recordings of JAX 0.4.30, 0.5.3, 0.7.2, 0.10.2 and 0.11.2 and of TensorFlow 2.16 and 2.18 on
Python 3.11, in which each wait below was made to last at least 50 ms. Methods of JAX arrays that
are written in C++ (`block_until_ready` of an array since 0.7) have no frames, so their time counts
as that of the caller.
"""

from __future__ import annotations

import re
from enum import IntEnum

from tbprof.base import names
from tbprof.base.lazy import regex


class Wait(IntEnum):
    """What a frame waits for: something inside this process, or something outside (or a timer)."""

    NONE = 0
    INSIDE = 1
    OUTSIDE = 2


_WAITS = regex(
    r"""\$(?:(?P<OUTSIDE>
        time\ sleep
        |(?:posix|_posixsubprocess)\ (?:system|wait|wait3|wait4|waitid|waitpid)
        |_signal\ (?:pause|sigwait|sigwaitinfo|sigtimedwait)
        |builtins\ input
        |(?:select|_socket|<unknown>)\ (?:select|poll|epoll|accept|_accept|recv|recv_into|recvfrom
            |recvfrom_into|recvmsg)
        |(?:selectors|select)\.py:\d+\ select
        |socket\.py:\d+\ (?:accept|readinto)
        |connection\.py:\d+\ (?:_?recv|_?recv_bytes|_?poll|wait|accept)
        |queues\.py:\d+\ get
        |subprocess\.py:\d+\ _?(?:wait|try_wait|communicate)
        |popen_fork\.py:\d+\ (?:wait|poll)
        |process\.py:\d+\ join
    )|(?P<INSIDE>
        (?:_thread|_queue|<unknown>)\ (?:acquire|wait|get|result|block_until_ready)
        |threading\.py:\d+\ (?:acquire|join|wait|wait_for|_wait|_wait_for_tstate_lock)
        |queue\.py:\d+\ (?:get|put|join)
        |_base\.py:\d+\ (?:as_completed|exception|result|result_iterator|_result_or_cancel|wait)
        |thread\.py:\d+\ shutdown
        |pool\.py:\d+\ (?:get|next|wait)
        |synchronize\.py:\d+\ wait
        |(?:api|array|core|dispatch)\.py:\d+\ (?:block_until_ready|device_get|effects_barrier
            |try_to_block(?:_until_ready)?|wait_for_tokens)
        |array\.py:\d+\ _value
        |dlpack\.py:\d+\ _to_dlpack
        |context\.py:\d+\ (?:async_wait|sync|sync_executors)
        |tensorflow\.python\._pywrap_tfe\ TFE_(?:ContextSyncExecutors
            |ExecutorWaitForAllPendingNodes)
    ))\Z""",
    re.VERBOSE,
)
# Those of the waits above that are for results of devices or of the runtime.
_RESULTS = regex(
    r"""\$(?:<unknown>\ block_until_ready
        |(?:api|array|core|dispatch)\.py:\d+\ \w+
        |dlpack\.py:\d+\ _to_dlpack
        |context\.py:\d+\ (?:async_wait|sync|sync_executors)
        |tensorflow\.python\._pywrap_tfe\ \w+
    )\Z""",
    re.VERBOSE,
)
# With jax_debug_nans or jax_debug_infs, JAX reads all results of each call. Source: JAX,
# dispatch.py.
_CHECK = regex(r"\$dispatch\.py:\d+ check_special\Z")
_FRAME = regex(r"\$(?P<file>.*):(?P<line>\d+) (?P<function>.*)\Z", re.DOTALL)
_EXECUTION = regex(
    r"EagerLocalExecute: __(?:inference|forward|backward)_(?P<function>.+?)(?:_\d+)?\Z", re.DOTALL
)
_BUILTIN = regex(r"\$(?P<module>\S+) (?P<function>.*)\Z", re.DOTALL)
# Patterns ignore everything after this many characters.
_LONGEST = 512

# Names of waits for sentences, where the file name is not informative.
_OWNERS = {
    "_base": "concurrent.futures",
    "api": "jax",
    "array": "jax.Array",
    "connection": "multiprocessing.connection",
    "pool": "multiprocessing.pool",
    "popen_fork": "multiprocessing.popen_fork",
    "process": "multiprocessing.Process",
    "posix": "os",
    "queues": "multiprocessing.queues",
    "synchronize": "multiprocessing.synchronize",
    "thread": "concurrent.futures.thread",
}


def wait_of(text: str) -> Wait:
    """What an event of this name waits for, `NONE` if it is not a frame of a wait."""
    wait = _WAITS.match(text) if text.startswith(names.PYTHON_FRAME) else None
    return Wait[wait.lastgroup or ""] if wait else Wait.NONE


def waits_for_result(text: str) -> bool:
    """Whether an event of this name waits for computed results, not for data or another thread."""
    return wait_of(text) == Wait.INSIDE and _RESULTS.match(text) is not None


def checks_results(text: str) -> bool:
    """Whether a frame is JAX's check of results for NaNs."""
    return _CHECK.match(text) is not None


def is_own(text: str) -> bool:
    """Whether a frame is a function of the program: its file is not that of a known library.

    A comprehension is part of the function around it.
    """
    frame = _FRAME.match(text[:_LONGEST])
    if frame is None:
        return False
    file = frame["file"]
    if file.startswith(("<", "__autograph_")) and not file.startswith(_TYPED):
        return False
    stem = file.removesuffix(".py")
    if frame["function"] in _PARTS:
        return False
    if stem in _COMMON:
        return frame["function"] not in _COMMON[stem]
    return not (stem in _LIBRARIES or stem.startswith(("gen_", "_")))


def is_library_frame(text: str) -> bool:
    """Whether an event is a frame of a library, or of a function in C."""
    return text.startswith(names.PYTHON_FRAME) and not is_own(text)


def describe_frame(text: str) -> str:
    """A frame for a sentence: `batch (train.py:14)`, `time.sleep`, `sort`; other names as they are.

    TensorFlow's execution of a function is described as such: `execution of step` for
    `EagerLocalExecute: __inference_step_1624`.
    """
    if not text.startswith(names.PYTHON_FRAME):
        run = _EXECUTION.match(text[:_LONGEST])
        return f"execution of {run['function']}" if run else text
    frame = _FRAME.match(text[:_LONGEST])
    if frame is not None:
        if wait_of(text):
            stem = frame["file"].removesuffix(".py")
            return f"{_OWNERS.get(stem, stem)}.{frame['function']}"
        return f"{frame['function']} ({frame['file']}:{frame['line']})"
    builtin = _BUILTIN.match(text[:_LONGEST])
    if builtin is None:
        return text
    module = builtin["module"]
    if module in ("<unknown>", "builtins"):
        return builtin["function"]
    return f"{_OWNERS.get(module, module)}.{builtin['function']}"


# Code that the user typed; other code without a file is generated.
_TYPED = ("<stdin>", "<ipython-input", "<python-input")
# Frames that belong to the code of the enclosing function.
_PARTS = ("<dictcomp>", "<genexpr>", "<listcomp>", "<setcomp>")
# Files whose names occur in both libraries and programs belong to a library if the frame is one of
# these functions.
_COMMON = {
    "callback": ["_callback", "_wrapped_callback", "io_callback", "pure_callback",
                 "pure_callback_impl", "io_callback_impl", "__call__"],
    "client": ["_close_conn", "_get_content_length", "_output", "_read_headers", "_read_status",
               "_readinto_chunked", "_safe_read", "_send_output", "_send_request", "begin",
               "connect", "endheaders", "getresponse", "parse_headers", "putheader", "putrequest",
               "readinto"],
    "common": ["_abstractify", "_initial_style_jaxpr", "_initial_style_open_jaxpr"],
    "config": ["__call__", "__enter__", "__exit__", "__init__", "_missing_", "floatx", "backend",
               "_validate_default_device", "explicit_device_get_scope",
               "explicit_device_put_scope"],
    "debugging": ["_callback", "_flat_callback", "_format_print_callback", "debug_callback_impl",
                  "debug_print_impl", "merge_callback_args"],
    "layer": ["__call__", "__setattr__", "__init__", "_flatten_layers", "build_wrapper",
              "maybe_convert", "metrics", "trainable", "trainable_weights", "weights"],
    "layout": ["from_pjrt_layout", "get_layout_mode", "use_layout_mode"],
    "request": ["_call_chain", "_open", "do_open", "do_request_", "http_open", "https_open",
                "http_response", "urlopen"],
    "trainer": ["__init__", "__next__", "catch_stop_iteration", "compile", "evaluate", "fit",
                "function", "get_data", "get_metrics_result", "make_predict_function",
                "make_train_function", "metrics", "multi_step_on_iterator", "one_step_on_data",
                "one_step_on_iterator", "predict", "reset_metrics", "test_on_batch",
                "train_on_batch", "_get_iterator", "_get_metrics_result_or_logs",
                "_maybe_symbolic_build", "_assert_compile_called"],
    "util": ["_arraylike", "_arraylike_asarray", "_check_jax_array_protocol", "args_kwargs",
             "cache_miss", "cached", "canonicalize_axis", "check_arraylike",
             "check_for_prngkeys", "check_no_float0s", "choose_device_or_out_sharding",
             "ensure_arraylike", "filter_with_mask", "fun_name", "map2", "promote_args",
             "promote_args_inexact", "promote_dtypes", "promote_dtypes_inexact",
             "promote_shapes", "split_list", "stable_unique", "test_event", "unflatten",
             "unzip2", "wrap_name", "wrapper", "wraps"],
    "utils": ["_default_memory_space_rule", "_get_abstract_mesh_from_avals",
              "_get_array_abstraction_level", "_standard_weak_type_rule", "call_layout_rule",
              "call_shape_dtype_sharding_rule", "call_sharding_rule", "input_dtype",
              "manual_rule", "standard_abstract_eval", "standard_multi_result_abstract_eval"],
}  # fmt: skip

# Files that begin with "_" are private to a library, too.
_LIBRARY_TEXT = """
    abc abstract_arrays ag_ctx ag_logging api api_util argparse array array_constructors
    array_creation array_data_adapter array_methods array_ops array_ops_stack array_slicing
    arrayprint ast ast_util asynchat asyncore atexit atomic_function auto_control_deps
    auto_control_deps_utils autograph_util autotrackable backprop base64 base_events
    base_futures base_optimizer base_subprocess base_tasks batch_op bdb binascii bisect
    break_statements builtins bz2 cProfile c_api_util cache_key call_trees callback_list
    cancellation capture_container check_ops cmath codecs codeop compat compilation_cache
    compile_utils compileall compiler composite_tensor composite_tensor_utils compute_on
    concrete_function conditional_expressions config_lib configparser connection constant_op
    constant_tensor_conversion context contextlib contextvars continue_statements control_flow
    control_flow_ops control_flow_util copy copyreg core coroutines csv ctypes
    custom_partitioning_sharding_rule data_adapter data_adapter_utils data_structures
    dataclasses dataloader dataset_ops datetime decimal default_types defchararray deprecation
    device_spec difflib directives dis dispatch distribute_lib distribution_lib dlpack doctest
    dtypes eager_function_run effects encoder enum enum_type_wrapper epoch_iterator errno
    errors_impl eval_jaxpr execute executor faulthandler fcntl ffi fft filecmp fileinput flags
    flat_map_op flattree fnmatch fractions from_generator_op from_tensor_slices_op
    from_tensors_op fromnumeric frozen_dict func_graph function_cache function_context
    function_type function_type_utils function_wrappers functools futures gc
    generator_data_adapter genericpath getlimits getopt getpass gettext glob global_state
    gradients_util graphlib grp gzip handle_data_util hashlib heapq hlo_helpers hmac imp
    indexing inspect inspect_utils io ipaddress iterator_ops itertools jaxpr_util keras_tensor
    keyword lax lax_numpy linalg linear_util linecache literals liveness locale lock_util locks
    logical_expressions loops lzma managers map_op marshal math math_ops mesh mimetypes mlir
    mmap monitoring multiarray named_sharding nest nest_util netrc numeric numerictypes
    numpy_compat object_identity op_callbacks op_def_library op_def_registry op_shardings
    operator ops optional_ops optparse optree_impl origin_info os override_binary_operator
    overrides partial_eval partition_spec pathlib pdb pickle pickletools pjit pkgutil platform
    plistlib pmap polymorphic_function polynomial polyutils pool popen_fork popen_forkserver
    popen_spawn_posix posix posixpath pprint prefetch_op pretty_printer prng process profiler
    profiler_v2 pstats pwd pxla py_builtins py_compile py_dataset_adapter pydoc pyexpat
    python_utils qual_names queue queues quopri random random_ops random_seed range_op
    reaching_definitions reaching_fndefs readline reduction reduction_metrics reductions
    repeat_op reprlib resource resource_sharer resource_variable_ops return_statements runners
    runpy save_context scanner script_ops secrets select selector_events selectors shape_base
    shape_util sharding sharding_impls shared_memory shelve shlex shutil signal slicing socket
    socketserver source_info_util spawn special_matrices ssl stat stateless_scope streams string
    stringprep struct structured_function subprocess synchronize sys sysconfig syslog tarfile
    tasks tempfile tensor tensor_contractions tensor_conversion tensor_conversion_registry
    tensor_getitem_override tensor_math_operator_overrides tensor_shape tensor_util textwrap
    threefry2x32 tf2 tf_contextlib tf_dataset_adapter tf_decorator tf_inspect tf_logging
    tf_stack thread threading time timeit tokenize tomllib trace_type_builder traceable_stack
    traceback traceback_util traceback_utils tracemalloc tracing_compilation trackable tracking
    transpiler tree_api tree_util type_dispatch type_registry type_spec types typing
    typing_extensions ufunc_api ufuncs unicodedata unix_events unsupported_features_checker uuid
    variable_scope variable_utils variables warnings weak_tensor_ops weakref xla xla_bridge
    xla_metadata xla_metadata_lib zip_op zipfile zipimport zlib zoneinfo
"""
_LIBRARIES = frozenset(_LIBRARY_TEXT.split())
