"""A vegetation index (NIR - red) / (NIR + red) from counts of 16 bits, drawn to a PNG."""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import indim

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)


@indim.jit
def ndvi(nir, red, quality):
    nir, red = nir.astype(np.float32), red.astype(np.float32)
    return np.where((quality & 4) > 0, np.nan, (nir - red) / (nir + red))


def scene(size):
    """A field with a river and some clouds, as counts of a satellite."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    green = 0.5 + 0.4 * np.sin(9 * x) * np.cos(7 * y) - 1.2 * (np.abs(y - 0.3 - 0.1 * np.sin(6 * x)) < 0.03)
    red = np.clip(3000 - 2200 * green + random.normal(0, 90, x.shape), 1, 65535)
    nir = np.clip(2500 + 3000 * green + random.normal(0, 90, x.shape), 1, 65535)
    clouds = (np.sin(5 * x + 2) * np.sin(6 * y) > 0.8) * 4
    return nir.astype(np.uint16), red.astype(np.uint16), clouds.astype(np.uint8)


folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".")
nir, red, quality = scene(512)
index = ndvi(nir, red, quality)
assert index.dtype == np.float32 and np.isnan(index).sum() == np.count_nonzero(quality & 4)

plt.imshow(index, vmin=-1, vmax=1, cmap="RdYlGn")
plt.colorbar(label="NDVI")
plt.savefig(folder / "ndvi.png", dpi=120)
assert (folder / "ndvi.png").read_bytes().startswith(b"\x89PNG")
print(f"{index.shape} pixels, from {np.nanmin(index):.2f} to {np.nanmax(index):.2f}: {folder / 'ndvi.png'}")
