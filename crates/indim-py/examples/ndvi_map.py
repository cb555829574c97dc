"""A vegetation index (NIR - red) / (NIR + red) from one array of bands, counts of 16 bits, drawn to a PNG."""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import indim

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)


@indim.jit
def ndvi(bands, quality):
    nir, red = bands[..., 3].astype(np.float32), bands[..., 2].astype(np.float32)
    return np.where((quality & 4) > 0, np.nan, (nir - red) / (nir + red))


def scene(size):
    """A field with a river and some clouds, as counts of a satellite."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    plants = 0.5 + 0.4 * np.sin(9 * x) * np.cos(7 * y) - 1.2 * (np.abs(y - 0.3 - 0.1 * np.sin(6 * x)) < 0.03)
    red = np.clip(3000 - 2200 * plants + random.normal(0, 90, x.shape), 1, 65535)
    nir = np.clip(2500 + 3000 * plants + random.normal(0, 90, x.shape), 1, 65535)
    blue, green = red * 0.8, red * 0.9
    clouds = (np.sin(5 * x + 2) * np.sin(6 * y) > 0.8) * 4
    return np.stack([blue, green, red, nir], axis=-1).astype(np.uint16), clouds.astype(np.uint8)


folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".")
bands, quality = scene(512)
index = ndvi(bands, quality)
assert index.dtype == np.float32 and np.isnan(index).sum() == np.count_nonzero(quality & 4)

plt.imshow(index, vmin=-1, vmax=1, cmap="RdYlGn")
plt.colorbar(label="NDVI")
plt.savefig(folder / "ndvi.png", dpi=120)
assert (folder / "ndvi.png").read_bytes().startswith(b"\x89PNG")
print(f"{index.shape} pixels, from {np.nanmin(index):.2f} to {np.nanmax(index):.2f}: {folder / 'ndvi.png'}")
