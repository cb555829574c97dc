"""Calls as users make them, beside NumPy: `cargo xtask bench-calls` prints the table of bench/README.md.

One function is called again and again, and after pauses of 5 milliseconds, in which workers fall asleep and
caches lose what they held. Times are in microseconds: the best of calls in a row, the median after pauses.
"""

import os
import statistics
import time

import numpy as np

import indim

#: Kibibytes of f32 in each argument.
SIZES = (16, 48, 64, 256, 1024, 4096)
#: Seconds of calls in a row, in batches of about 2 milliseconds.
SECONDS = 0.2
PAUSES, PAUSE = 30, 0.005


def softmax(x):
    exponentials = np.exp(x - x.max(1, keepdims=True))
    return exponentials / exponentials.sum(1, keepdims=True)


def jobs(kibibytes):
    """The name, the function and the arguments of each job."""
    generator = np.random.default_rng(0)
    x, y, z = (generator.random(kibibytes * 256, dtype="f4") for _ in range(3))
    yield "exp(x)", np.exp, (x,)
    yield "x*y+z", lambda x, y, z: x * y + z, (x, y, z)
    yield "softmax of rows of 64", softmax, (x.reshape(-1, 64),)
    yield "sum(x)", np.sum, (x,)


def microseconds(call, count):
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count * 1e6


def in_a_row(call):
    count = max(3, int(2000 / microseconds(call, 10)))
    end = time.perf_counter() + SECONDS
    best = microseconds(call, count)
    while time.perf_counter() < end:
        best = min(best, microseconds(call, count))
    return best


def after_pauses(call):
    times = []
    for _ in range(PAUSES):
        time.sleep(PAUSE)
        times.append(microseconds(call, 1))
    return statistics.median(times)


def measured(call):
    for _ in range(30):
        call()
    return f"{in_a_row(call):.1f}, {after_pauses(call):.0f}"


def main():
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; NumPy {np.__version__}\n")
    print("| job | KiB | one thread | two threads | NumPy |\n|---|---|---|---|---|")
    for size in SIZES:
        for name, function, arguments in jobs(size):
            compiled = indim.jit(function)
            np.testing.assert_allclose(compiled(*arguments), function(*arguments), rtol=1e-4)
            cells = []
            for threads in (1, 2):
                indim.set_num_threads(threads)
                cells.append(measured(lambda: compiled(*arguments)))
            cells.append(measured(lambda: function(*arguments)))
            print(f"| `{name}` | {size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
