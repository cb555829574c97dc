"""Single calls as users make them: from a thread of Python, back to back and after pauses, with NumPy.

``python bench/python/calls.py`` prints microseconds: of a call among others the best, of a call after a pause
of 5 milliseconds the median. It needs the package and NumPy.
"""

import numpy as np

import indim
from timing import best, rested

#: KiB of the result.
SIZES = (16, 64, 256, 512, 1024, 4096)


def softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def jobs(elements):
    x, y, z = (np.random.default_rng(0).random(elements, dtype=np.float32) for _ in range(3))
    return {
        "exp(x)": (indim.jit(lambda x: np.exp(x)), np.exp, (x,)),
        "x*y+z": (indim.jit(lambda x, y, z: x * y + z), lambda x, y, z: x * y + z, (x, y, z)),
        "softmax": (indim.jit(lambda x: indim.softmax(x, axis=1)), softmax, (x.reshape(-1, 64),)),
        "sum(x)": (indim.jit(lambda x: np.sum(x)), np.sum, (x,)),
    }


def main():
    heads = ("1 thread", "rested", "2 threads", "rested", "NumPy", "rested")
    print(f"{'job':<10}{'KiB':>6}" + "".join(f"{head:>11}" for head in heads))
    for size in SIZES:
        for name, (program, numpy_function, arguments) in jobs(size * 256).items():
            times = []
            for threads in (1, 2):
                indim.set_num_threads(threads)
                times += [best(lambda: program(*arguments)), rested(lambda: program(*arguments))]
            times += [best(lambda: numpy_function(*arguments)), rested(lambda: numpy_function(*arguments))]
            print(f"{name:<10}{size:>6}" + "".join(f"{taken:>11.1f}" for taken in times), flush=True)


if __name__ == "__main__":
    main()
