"""Threads, processes, signals: the interpreter's lock, forks, Ctrl-C."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import indim
from interrupted import output_after_ctrl_c

LARGE = 4_000_000


@pytest.fixture(autouse=True)
def threads():
    before = indim.get_num_threads()
    yield
    indim.set_num_threads(before)


def test_the_number_of_threads_is_set_and_returned():
    before = indim.set_num_threads(3)
    assert indim.get_num_threads() == 3
    assert indim.set_num_threads(before) == 3
    for count in (0, -1, 10**9):
        with pytest.raises((ValueError, OverflowError)):
            indim.set_num_threads(count)


def test_the_environment_says_the_number_of_threads():
    program = "import indim; print(indim.get_num_threads())"
    environment = {**os.environ, "INDIM_NUM_THREADS": "5"}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert ran.stdout.strip() == "5", ran.stderr


def test_the_bits_do_not_depend_on_the_number_of_threads():
    x = np.linspace(-20, 20, LARGE)
    results = []
    for count in (1, 2, 7):
        indim.set_num_threads(count)
        results.append(indim.evaluate("sin(x) * exp(-x * x) + tanh(x)").tobytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted where Linux lists them")
@pytest.mark.parametrize(("count", "bytes", "started"), [(1, 1 << 26, 0), (2, 1 << 16, 0), (2, 1 << 26, 2)])
def test_threads_are_started_only_for_work_that_they_share(count, bytes, started):
    program = f"""
        import os
        import numpy as np
        import indim
        x = np.full({bytes} // 4, 0.5, np.float32)
        f = indim.jit(lambda x: x * x + x)
        before = len(os.listdir("/proc/self/task"))
        for _ in range(100 if x.size < 100_000 else 3):
            assert (f(x) == 0.75).all()
        print(len(os.listdir("/proc/self/task")) - before)
    """
    environment = {**os.environ, "INDIM_NUM_THREADS": str(count)}
    program = textwrap.dedent(program)
    ran = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, env=environment)
    assert ran.stdout.split() == [str(started).encode()], ran.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_call_within_a_handler_that_interrupts_a_call():
    program = """
        import signal
        import numpy as np
        import indim
        indim.set_num_threads(2)
        x = np.linspace(0, 1, 1 << 22)
        f = indim.jit(lambda x: np.sin(np.sin(np.sin(np.sin(x)))) + np.cbrt(np.sinh(x)))
        expected = f(x)
        calls = []
        def handle(signum, frame):
            calls.append(f(x))
            # The next signal comes within a later call, and not within this one.
            signal.setitimer(signal.ITIMER_REAL, 0.02)
        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        for _ in range(2000):
            assert (f(x) == expected).all()
            if len(calls) >= 3:
                break
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert len(calls) >= 3 and all((call == expected).all() for call in calls)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=120, capture_output=True)
    assert ran.returncode == 0, ran.stderr


def test_calls_from_many_threads_at_once():
    f = indim.jit(lambda x, k: x * 2 + k)

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(60):
            x = random.standard_normal(int(random.integers(1, 200_000)))
            k = float(random.integers(0, 5))
            np.testing.assert_array_equal(f(x, k), x * 2 + k)
            np.testing.assert_array_equal(indim.evaluate("x - k", {"x": x, "k": k}), x - k)
            if random.integers(0, 10) == 0:
                indim.set_num_threads(int(random.integers(1, 4)))
        return True

    with ThreadPoolExecutor(8) as executor:
        assert all(executor.map(work, range(16)))


@pytest.fixture
def no_switches():
    """Other threads run only while the lock of the interpreter is released."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(interval)


def test_the_lock_of_the_interpreter_is_released(no_switches):
    x = np.linspace(0, 1, LARGE)
    ticks, within = [], 0
    is_over = threading.Event()

    def tick():
        while not is_over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        # On a fast machine a run is shorter than a tick.
        for _ in range(1000):
            start = time.perf_counter()
            indim.evaluate("sin(x) + cos(x) + tan(x) + exp(x) + log(x + 1) + sqrt(x) + tanh(x) + cbrt(x)")
            end = time.perf_counter()
            within += sum(start < tick < end for tick in ticks)
            ticks.clear()
            if within >= 3:
                break
    finally:
        is_over.set()
        ticker.join()
    assert within >= 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_computes_with_threads_of_its_own():
    program = """
        import os, sys
        import numpy as np
        import indim
        x = np.ones(4_000_000)
        assert indim.evaluate("x + 1").sum() == 8_000_000
        child = os.fork()
        if child == 0:
            os._exit(0 if indim.evaluate("x + 1").sum() == 8_000_000 else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=60, capture_output=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the map is for perf of Linux")
def test_a_forked_child_has_a_map_of_its_own_for_perf():
    program = """
        import os, sys
        import numpy as np
        import indim
        x = np.ones(100)
        lines = lambda pid: open(f"/tmp/perf-{pid}.map").read().splitlines()
        indim.evaluate("x + 1")
        parent, own = os.getpid(), lines(os.getpid())
        child = os.fork()
        if child == 0:
            indim.evaluate("exp(x) * 2 + x")
            written = lines(os.getpid())
            fine = len(written) == 1 and len(set(own + written)) == len(own) + 1 and lines(parent) == own
            os._exit(0 if fine else 1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        indim.evaluate("x * 3")
        grown = lines(parent)[:-1] == own
        for pid in (parent, child):
            os.unlink(f"/tmp/perf-{pid}.map")
        sys.exit(0 if grown and status == 0 else 1)
    """
    if "machine code" in indim.explain("x + 1", x=np.ones(9)).machine_code:
        pytest.skip("this machine runs kernels only")
    program = textwrap.dedent(program)
    environment = {**os.environ, "INDIM_PERF_MAP": "1", "INDIM_EXECUTOR": "machine"}
    ran = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, env=environment)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_forked_during_the_first_call_does_not_wait_for_it(tmp_path):
    # indim imports this module, which takes two seconds; other threads run meanwhile.
    (tmp_path / "ml_dtypes.py").write_text("import time; time.sleep(2)")
    program = """
        import os, signal, sys, threading, time
        import numpy as np
        import indim
        def call():
            return indim.evaluate("x + 1", {"x": np.ones(3)}, {}).tolist() == [2, 2, 2]
        first = threading.Thread(target=call)
        first.start()
        time.sleep(0.5)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if call() else 1)
        first.join()
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
    }
    program = textwrap.dedent(program)
    ran = subprocess.run([sys.executable, "-c", program], timeout=100, capture_output=True, env=environment)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_evaluation_stops_on_ctrl_c(threads):
    program = f"""
        import signal
        import time
        import numpy as np
        import indim
        # A process started in the background may ignore the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        indim.set_num_threads({threads})
        # 10^14 calls of functions: hours on any machine.
        x = np.linspace(0.1, 1, 10_000_000)
        print("start", flush=True)
        start = time.perf_counter()
        try:
            indim.evaluate("max(lgamma(x) ** y, axis=1)", {{"x": x[:, None], "y": x}})
            print("finished", time.perf_counter() - start)
        except KeyboardInterrupt:
            print("interrupted", time.perf_counter() - start)
        assert indim.evaluate("x + 1", {{"x": np.ones(4_000_000)}})[0] == 2
    """
    output = output_after_ctrl_c(program)
    said, seconds = output.split()
    assert said == "interrupted" and float(seconds) < 20, output


def test_compiling_releases_the_lock(no_switches):
    def runs_while_compiling(first):
        text = "x" + "".join(f"+sin(x*{k})" for k in range(first, first + 5000))
        indim.evaluate(text, x=np.ones(3))  # The text is parsed, so a call with other types only compiles.
        started, state = threading.Event(), {"done": False}

        def compile_it():
            started.set()
            indim.evaluate(text, x=np.ones(3, np.float32))
            state["done"] = True

        thread = threading.Thread(target=compile_it)
        thread.start()
        started.wait()
        is_running = not state["done"]
        thread.join()
        return is_running and state["done"]

    # On a busy machine this thread may wait for a processor for longer than a compilation takes.
    assert any(runs_while_compiling(first) for first in range(5))


def test_compiling_counts_towards_the_limit_of_memory():
    text = "x" + "".join(f"+sin(x*{k}.5)" for k in range(5000))
    try:
        indim.limit_memory(1 << 20)
        with pytest.raises(MemoryError, match="to compile the graph takes up to .* the limit is 1048576"):
            indim.evaluate(text, x=np.ones(3))
    finally:
        indim.limit_memory(None)
    assert indim.evaluate(text, x=np.ones(3)).shape == (3,)
