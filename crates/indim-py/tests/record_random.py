"""Records the numbers of ``jax.random`` that `test_random.py` compares with: `python tests/record_random.py`.

Needs JAX 0.5 or later, whose keys and bits do not depend on the shape of an array.
"""

import json
import pathlib

#: Functions with their arguments after the key. Those of the second list are within rounding errors.
EXACT = [
    ("split", [3]),
    ("split", [[2, 2]]),
    ("fold_in", [7]),
    *[("bits", [[3, 2], name]) for name in ("uint8", "uint16", "uint32", "uint64")],
    *[("uniform", [[3, 2], name]) for name in ("float16", "float32", "float64")],
    ("uniform", [[], "float32"]),
    ("uniform", [[6], "float32", -2.5, 7.3]),
    ("bernoulli", [0.3, [9]]),
    ("rademacher", [[9], "int32"]),
    ("randint", [[6], 0, 10, "int32"]),
    ("randint", [[6], -(2**31), 2**31 - 1, "int32"]),
    ("randint", [[6], 0, 2**40, "int32"]),
    ("randint", [[6], 7, 2, "int32"]),
    ("randint", [[6], 0, 256, "uint8"]),
    ("randint", [[6], -128, 300, "int8"]),
    ("randint", [[6], 127, 128, "int8"]),
    ("randint", [[6], 5, 2**31 - 1, "uint32"]),
    ("randint", [[6], -(2**63), 2**63 - 1, "int64"]),
    ("randint", [[6], 3, 2**63 - 1, "uint64"]),
    ("permutation", [20]),
    ("choice", [10, [5]]),
    ("choice", [10, [5], False]),
]
NEAR = [
    *[(name, [[6], "float32"]) for name in ("normal", "exponential", "gumbel")],
    *[(name, [[6], "float32"]) for name in ("laplace", "logistic", "cauchy")],
    ("normal", [[6], "float64"]),
    ("truncated_normal", [-1.0, 2.0, [6], "float32"]),
    ("gamma", [2.5, [6], "float32"]),
    ("gamma", [0.3, [2, 3], "float32"]),
    ("gamma", [0.3, [6], "float64"]),
    ("loggamma", [0.01, [6], "float32"]),
    ("beta", [2.0, 0.5, [6], "float32"]),
    *[(name, [3.0, [6], "float32"]) for name in ("chisquare", "pareto", "rayleigh", "t", "wald")],
    ("f", [3.0, 4.0, [6], "float32"]),
    ("generalized_normal", [1.5, [6], "float32"]),
    ("ball", [3, 2.0, [4], "float32"]),
    ("lognormal", [0.5, [6], "float32"]),
    ("weibull_min", [2.0, 1.5, [6], "float32"]),
    ("triangular", [0.0, 1.0, 3.0, [6], "float32"]),
    ("maxwell", [[6], "float32"]),
    ("double_sided_maxwell", [1.0, 2.0, [6], "float32"]),
    ("geometric", [0.3, [9], "int32"]),
    *[("poisson", [mean, [9], "int32"]) for mean in (0.0, 3.5, 500.0, -1.0)],
]
SEEDS = (0, 42)
#: Seeds for functions of a stated type.
WIDE_SEEDS = (-7, 2**40 + 5)
TYPED = ("split", "fold_in", "bits", "uniform", "randint")


def main():
    import jax
    import numpy as np

    cases = []
    for is_exact, functions in ((True, EXACT), (False, NEAR)):
        for function, arguments in functions:
            for seed in SEEDS + WIDE_SEEDS * (function in TYPED):
                is_wide = seed in WIDE_SEEDS or "64" in str(arguments) or 2**40 in arguments
                jax.config.update("jax_enable_x64", is_wide)
                given = [tuple(value) if isinstance(value, list) else value for value in arguments]
                array = np.asarray(getattr(jax.random, function)(jax.random.PRNGKey(seed), *given))
                values = array.astype(np.float64) if array.dtype.kind == "f" else array
                found = [str(array.dtype), list(array.shape), values.ravel().tolist()]
                cases.append([is_exact, function, arguments, seed, *found])
    path = pathlib.Path(__file__).with_name("recorded_random.json")
    path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
