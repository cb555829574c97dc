"""Many threads that trace, compile and run at once, also without the interpreter's lock.

Every interpreter runs these tests; a free-threaded one runs the threads in parallel.
"""

import gc
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest

import indim

THREADS = 6
ROUNDS = 12

#: Whether the interpreter can run without its lock.
IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def run_together(work):
    """Calls ``work(thread)`` in many threads, which begin at the same time; raises the first exception."""
    barrier = threading.Barrier(THREADS)
    errors = []

    def body(thread):
        try:
            barrier.wait(timeout=60)
            work(thread)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.skipif(not IS_FREE_THREADED, reason="the interpreter always has its lock")
def test_the_import_leaves_the_lock_disabled():
    program = "import sys, indim, indim.numpy; print(sys._is_gil_enabled())"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == "False", ran.stderr


def test_one_function_is_traced_by_many_threads():
    for _ in range(ROUNDS):
        f = indim.jit(lambda x, y: np.sum(np.exp(x) * y, axis=0) / x.shape[0])
        x = np.linspace(0, 1, 600).reshape(100, 6)
        expected = f(x, 2.0).tobytes()
        g = indim.jit(lambda x, y: np.sum(np.exp(x) * y, axis=0) / x.shape[0])

        def work(_thread):
            assert g(x, 2.0).tobytes() == expected

        run_together(work)


def test_one_function_is_called_with_many_shapes_and_types():
    f = indim.jit(lambda x: np.cumsum(x[::-1], axis=0) + x.mean())
    types = [np.float32, np.float64, np.int32, np.float64, np.float32, np.int64]

    def work(thread):
        for length in range(1, 40):
            x = (np.arange(length * 3) % 7).reshape(length, 3).astype(types[thread])
            expected = np.cumsum(x[::-1], axis=0) + x.mean()
            np.testing.assert_allclose(f(x), expected, rtol=1e-5)

    run_together(work)


def test_threads_record_functions_of_their_own():
    def work(thread):
        x = np.linspace(0.5, 1.5, 30)
        for step in range(ROUNDS):
            scale = thread * 100 + step
            f = indim.jit(lambda x, scale=scale: np.sin(x) * scale)
            np.testing.assert_allclose(f(x), np.sin(x) * scale, rtol=1e-12)
            gradient = indim.grad(lambda x, scale=scale: np.sum(x * x) * scale)(x)
            np.testing.assert_allclose(gradient, 2 * x * scale, rtol=1e-12)
            summed = indim.scan(lambda c, x, scale=scale: (c + x * scale, c), 0.0, x)[0]
            np.testing.assert_allclose(summed, np.sum(x) * scale, rtol=1e-12)

    run_together(work)


def test_threads_share_the_caches_of_expressions():
    def work(thread):
        x = np.arange(50.0) + thread
        for step in range(60):
            y = indim.evaluate(f"x * {step % 40} + {thread % 2}", {"x": x})
            np.testing.assert_array_equal(y, x * (step % 40) + thread % 2)
            np.testing.assert_array_equal(indim.re_evaluate({"x": x}), y)
            np.testing.assert_array_equal(indim.add(x, step), x + step)

    run_together(work)


def test_threads_with_large_arrays_share_the_pool():
    x = np.linspace(-3, 3, 400_000)
    f = indim.jit(lambda x: np.sort(np.tanh(x) * x) @ x)
    expected = f(x).tobytes()
    before = indim.get_num_threads()

    def work(thread):
        for step in range(6):
            if thread == 0:
                indim.set_num_threads(1 + step % 3)
            assert f(x).tobytes() == expected

    try:
        run_together(work)
    finally:
        indim.set_num_threads(before)


def test_garbage_is_collected_while_threads_compile():
    x = np.ones((5, 4))

    def work(thread):
        for step in range(ROUNDS):
            if thread == 0:
                gc.collect()
            else:
                f = indim.jit(lambda x, k=step: x * (k + 1))
                f.itself = f  # A cycle, which only the garbage collector frees.
                np.testing.assert_array_equal(f(x), x * (step + 1))

    run_together(work)
    gc.collect()
