"""The iris measurements standardised column by column, as a function and as a text."""

from pathlib import Path

import numpy as np

import indim

DATA = Path(__file__).resolve().parents[3] / "data"


@indim.jit
def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


table = np.load(DATA / "iris.npy")
result = standardise(table)
means, same = indim.evaluate("m = mean(table, axis=0); m, (table - m) / std(table, axis=0)")

assert np.array_equal(result, same)
assert np.allclose(means, table.mean(axis=0), rtol=1e-15)
assert np.allclose(result.mean(axis=0), 0, atol=1e-12)
assert np.allclose(result.std(axis=0), 1, atol=1e-12)
print(f"{len(result)} flowers; the first is {np.round(result[0], 3)}")
