"""The iris measurements standardised column by column: (x - mean) / deviation."""

from pathlib import Path

import numpy as np

import indim

DATA = Path(__file__).resolve().parents[3] / "data"


@indim.jit
def standardise(x, mean, deviation):
    centred = indim.sub(x, mean, broadcast_dimensions=(1,))
    return indim.div(centred, deviation, broadcast_dimensions=(1,))


table = np.load(DATA / "iris.npy")
result = standardise(table, table.mean(axis=0), table.std(axis=0))

assert np.allclose(result.mean(axis=0), 0, atol=1e-5)
assert np.allclose(result.std(axis=0), 1, atol=1e-5)
print(f"{len(result)} flowers; the first is {np.round(result[0], 3)}")
