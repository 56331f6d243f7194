"""Frames of the Python tracer, as JAX 0.4 to 0.10 and TensorFlow 2.16 and 2.18 wrote them."""

import pytest

from tbprof.analysis.vocabulary.python_frames import Wait, describe_frame, is_own, wait_of

IN, OUT, NONE = Wait.INSIDE, Wait.OUTSIDE, Wait.NONE


@pytest.mark.parametrize(
    ("frame", "wait"),
    [
        # jax.block_until_ready of a tree, of an array; float(loss), array._value, np.from_dlpack
        ("$api.py:2479 block_until_ready", IN),
        ("$api.py:2490 try_to_block", IN),
        ("$api.py:2555 device_get", IN),
        ("$array.py:631 block_until_ready", IN),
        ("$array.py:615 _value", IN),
        ("$dlpack.py:63 _to_dlpack", IN),
        # eager execution of TensorFlow
        ("$context.py:742 sync_executors", IN),
        ("$tensorflow.python._pywrap_tfe TFE_ContextSyncExecutors", IN),
        # threads
        ("$<unknown> acquire", IN),
        ("$threading.py:295 wait", IN),
        ("$threading.py:343 wait_for", IN),
        ("$threading.py:440 acquire", IN),
        ("$threading.py:731 _wait", IN),
        ("$threading.py:1087 join", IN),
        ("$threading.py:1125 _wait_for_tstate_lock", IN),
        ("$queue.py:154 get", IN),
        ("$queue.py:122 put", IN),
        ("$_queue get", IN),
        ("$_base.py:428 result", IN),
        ("$_base.py:199 as_completed", IN),
        ("$thread.py:216 shutdown", IN),
        ("$pool.py:767 get", IN),
        ("$pool.py:853 next", IN),
        ("$synchronize.py:351 wait", IN),
        # time, other processes, sockets and pipes
        ("$time sleep", OUT),
        ("$posix waitpid", OUT),
        ("$posix system", OUT),
        ("$subprocess.py:1259 wait", OUT),
        ("$subprocess.py:2055 _communicate", OUT),
        ("$popen_fork.py:36 wait", OUT),
        ("$process.py:142 join", OUT),
        ("$queues.py:98 get", OUT),
        ("$connection.py:246 recv", OUT),
        ("$connection.py:253 poll", OUT),
        ("$connection.py:933 wait", OUT),
        ("$<unknown> recv", OUT),
        ("$<unknown> recv_into", OUT),
        ("$<unknown> _accept", OUT),
        ("$<unknown> poll", OUT),
        ("$select select", OUT),
        ("$selectors.py:451 select", OUT),
        ("$socket.py:287 accept", OUT),
        ("$_signal sigtimedwait", OUT),
        # work, and functions of the program
        ("$train.py:12 wait", NONE),
        ("$loader.py:3 get", NONE),
        ("$<unknown> sort", NONE),
        ("$str join", NONE),
        ("$numpy asarray", NONE),
        ("$gc collect", NONE),
        ("time sleep", NONE),
        ("$", NONE),
        ("", NONE),
    ],
)
def test_what_a_frame_waits_for(frame, wait):
    assert wait_of(frame) == wait


@pytest.mark.parametrize(
    ("frame", "is_programs"),
    [
        ("$train.py:14 batch", True),
        ("$utils.py:14 load", True),
        ("$<stdin>:1 step", True),
        ("$cell.py:3 <lambda>", True),
        ("$cell.py:3 <listcomp>", False),  # part of what is around it
        ("$trainer.py:9 run_epoch", True),
        ("$trainer.py:337 fit", False),  # Keras
        ("$client.py:285 _read_status", False),  # of HTTP
        ("$client.py:20 fetch_tokens", True),
        ("$request.py:176 urlopen", False),
        ("$request.py:12 handle", True),
        ("$debugging.py:199 _callback", False),  # of jax.debug
        ("$threading.py:295 wait", False),
        ("$pjit.py:340 cache_miss", False),
        ("$gen_math_ops.py:9 mat_mul", False),
        ("$_base.py:428 result", False),
        ("$<frozen importlib._bootstrap>:233 _call_with_frames_removed", False),
        ("$<generated_flatten_Linear>:2 flatten", False),
        ("$<ipython-input-3-0a1b>:7 step", True),
        ("$__autograph_generated_filejz53w923.py:8 tf__step", False),
        ("$time sleep", False),
        ("$", False),
        ("train", False),
    ],
)
def test_whose_code_a_frame_is(frame, is_programs):
    assert is_own(frame) == is_programs


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        ("$train.py:14 batch", "batch (train.py:14)"),
        ("$time sleep", "time.sleep"),
        ("$<unknown> sort", "sort"),
        ("$builtins print", "print"),
        ("$queue.py:154 get", "queue.get"),
        ("$_base.py:428 result", "concurrent.futures.result"),
        ("$api.py:2479 block_until_ready", "jax.block_until_ready"),
        ("$posix waitpid", "os.waitpid"),
        ("$<frozen os>:3 walk", "walk (<frozen os>:3)"),
        ("load_batch", "load_batch"),
        ("EagerLocalExecute: __inference_train_step_1624", "execution of train_step"),
        ("EagerLocalExecute: __backward_<lambda>_7", "execution of <lambda>"),
        ("EagerLocalExecute: MatMul", "EagerLocalExecute: MatMul"),
        ("$", "$"),
    ],
)
def test_how_a_frame_is_spoken_of(frame, text):
    assert describe_frame(frame) == text
