"""``indim.image`` and ``indim.scipy.ndimage``, with JAX's values, and advice for SciPy's functions."""

import numpy as np
import pytest

import indim

X = np.array([0.0, 3.0, 1.0, 8.0, 2.0])

RESIZED = {
    ("nearest", 3): [0.0, 1.0, 2.0],
    ("nearest", 7): [0.0, 3.0, 3.0, 1.0, 8.0, 8.0, 2.0],
    ("linear", 3): [1.285714286, 3.0, 4.571428571],
    ("linear", 7): [0.0, 1.714285714, 2.428571429, 1.0, 6.0, 5.428571429, 2.0],
    ("cubic", 3): [1.092307692, 3.218604651, 4.646153846],
    ("cubic", 7): [-0.174757282, 1.811634349, 2.530612245, 1.0, 6.685131195, 5.822714681, 1.650485437],
    ("lanczos3", 3): [0.862165181, 3.487126213, 4.687154417],
    ("lanczos3", 7): [-0.29107247, 1.992858331, 2.361038804, 1.0, 6.903431614, 5.994710068, 1.342300551],
    ("lanczos5", 3): [0.692323086, 3.604872782, 4.660998896],
    ("lanczos5", 7): [-0.491334085, 2.310576006, 2.169799189, 1.0, 6.80624087, 6.190121515, 1.161011666],
}


@pytest.mark.parametrize("method, size", RESIZED)
def test_resize_is_that_of_jax(method, size):
    eager = indim.image.resize(X, (size,), method)
    np.testing.assert_allclose(eager, RESIZED[method, size], atol=2e-9)
    np.testing.assert_array_equal(indim.jit(lambda x: indim.image.resize(x, (size,), method))(X), eager)
    # Axes of other images are resized one by one.
    rows = indim.image.resize(np.stack([X, 2 * X]), (2, size), method)
    np.testing.assert_allclose(rows, np.stack([eager, 2 * eager]), rtol=1e-14)


def test_options_of_resize():
    np.testing.assert_allclose(indim.image.resize(X, (3,), "linear", antialias=False), [1, 1, 4])
    gradient = indim.grad(lambda x: (indim.image.resize(x, (3,), indim.image.ResizeMethod.CUBIC) ** 2).sum())
    expected = [1.0376357, 2.27560434, 3.74256355, 5.66542683, 5.19290197]
    np.testing.assert_allclose(gradient(X), expected, rtol=1e-8)
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert indim.image.resize(image, (6, 8), "nearest").dtype == np.uint8
    assert indim.image.resize(image, (6, 8), "linear").dtype == np.float64
    with pytest.raises(ValueError, match="write one of 'nearest', 'linear'"):
        indim.image.resize(X, (3,), "area")
    with pytest.raises(ValueError, match="one size for each of 1 axes"):
        indim.image.resize(X, (3, 3), "linear")
    with pytest.raises(AttributeError, match="write resize for a scale"):
        indim.image.scale_and_translate


def test_advice_for_functions_of_scipy_is_right():
    """Each advised call gives SciPy's values."""
    scipy = pytest.importorskip("scipy")
    linalg, signal, stats = (pytest.importorskip(f"scipy.{name}") for name in ("linalg", "signal", "stats"))
    x, n = np.random.default_rng(0).standard_normal(9), 9
    a = np.outer(x, x) + np.eye(9)
    outer = np.subtract.outer(np.arange(n), np.arange(n))
    calls = [
        (lambda: linalg.cholesky(a), lambda: np.linalg.cholesky(a).T),
        (lambda: linalg.circulant(x), lambda: x[outer % n]),
        (lambda: linalg.toeplitz(x), lambda: x[np.abs(outer)]),
        (lambda: signal.detrend(x), lambda: x - np.polyval(np.polyfit(np.arange(9), x, 1), np.arange(9))),
        (
            lambda: signal.find_peaks(x)[0],
            lambda: np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:])) + 1,
        ),
        (
            lambda: signal.savgol_filter(x, 5, 2)[2:-2],
            lambda: np.convolve(x, signal.savgol_coeffs(5, 2), "valid"),
        ),
        (lambda: stats.rankdata(x), lambda: np.argsort(np.argsort(x)) + 1),
        (lambda: stats.trim_mean(x, 0.25), lambda: np.mean(np.sort(x)[2:-2])),
        (lambda: stats.ttest_1samp(x, 0.5)[0], lambda: (x.mean() - 0.5) / (np.std(x, ddof=1) / np.sqrt(9))),
        (lambda: stats.entropy(x**2), lambda: -np.sum(x**2 / np.sum(x**2) * np.log(x**2 / np.sum(x**2)))),
    ]
    for expected, advised in calls:
        np.testing.assert_allclose(advised(), expected(), rtol=1e-10, atol=1e-12)
    h, y = 0.5, np.random.default_rng(1).standard_normal(7)
    simpson = h / 3 * (y[0] + 4 * np.sum(y[1:-1:2]) + 2 * np.sum(y[2:-1:2]) + y[-1])
    np.testing.assert_allclose(simpson, pytest.importorskip("scipy.integrate").simpson(y, dx=h))
    (w, v), positive = np.linalg.eigh(a), a @ a.T
    np.testing.assert_allclose((v * np.exp(w)) @ v.T, linalg.expm(a))
    (w, v) = np.linalg.eigh(positive)
    np.testing.assert_allclose((v * np.sqrt(w)) @ v.T, linalg.sqrtm(positive))
    image, k = np.random.default_rng(2).standard_normal((6, 7)), np.exp(-0.5 * np.arange(-4, 5) ** 2)
    filtered = indim.scipy.signal.convolve2d(
        np.pad(image, 4, "symmetric"), np.outer(k, k) / k.sum() ** 2, "valid"
    )
    ndimage = pytest.importorskip("scipy.ndimage")
    np.testing.assert_allclose(filtered, ndimage.gaussian_filter(image, 1), rtol=1e-12)
    for function, message in (
        (lambda a: linalg.eigh(a), r"write np\.linalg\.eigh"),
        (lambda a: linalg.solve_triangular(a, x), r"write np\.linalg\.solve\(a, b\)"),
        (lambda a: linalg.expm(a), r"write np\.linalg\.eigh of .*, as in \(v \* np\.exp\(w\)\) @ v\.T"),
        (lambda a: linalg.sqrtm(a), r"write np\.linalg\.eigh of .*, as in \(v \* np\.sqrt\(w\)\) @ v\.T"),
        (lambda a: signal.welch(a[0]), r"write np\.fft\.rfft\(window \* frames\)"),
        (lambda a: signal.lfilter([1.0], [1.0, 0.5], a[0]), r"write indim\.scan over the samples"),
        (lambda a: stats.norm.cdf(a), r"write indim\.scipy\.stats\.norm\.cdf"),
        (lambda a: scipy.interpolate.interp1d(x, a[0]), r"write np\.interp\(new, x, y\)"),
    ):
        with pytest.raises(TypeError, match=message):
            indim.jit(function)(a)
    with pytest.raises(AttributeError, match=r"circulant reads the memory of .*write c\[.* % n\]"):
        indim.jit(lambda a: linalg.circulant(a[0]))(a)


#: By mode, the nearest elements and the linear interpolations.
ELEMENTS = {
    "constant": ([25.0, -1.0, -1.0, -1.0], [14.75, -1.0, -1.0, -1.0]),
    "nearest": ([25.0, 1.0, 64.0, 121.0], [14.75, 0.5, 64.0, 121.0]),
    "wrap": ([25.0, 81.0, 4.0, 16.0], [14.75, 59.5, 52.0, 32.5]),
    "mirror": ([25.0, 25.0, 36.0, 4.0], [14.75, 33.5, 68.0, 2.5]),
    "reflect": ([25.0, 1.0, 81.0, 16.0], [14.75, 5.5, 81.0, 16.0]),
}


@pytest.mark.parametrize("mode", ELEMENTS)
def test_map_coordinates_is_that_of_jax(mode):
    image = np.arange(12.0).reshape(3, 4) ** 2
    places = np.array([0.5, -1.25, 2.5, 4.0]), np.array([1.25, 0.5, -2.0, 7.5])
    for order, expected in enumerate(ELEMENTS[mode]):
        call = lambda x, i, j: indim.scipy.ndimage.map_coordinates(x, [i, j], order, mode, -1.0)
        np.testing.assert_allclose(call(image, *places), expected, rtol=1e-14)
        np.testing.assert_array_equal(indim.jit(call)(image, *places), call(image, *places))
        found, floats = call(image.astype(np.int32), *places), call(image, *places)
        np.testing.assert_array_equal(found, np.sign(floats) * np.floor(np.abs(floats) + 0.5))
        assert found.dtype == np.int32


def test_what_scipy_lacks_has_advice():
    with pytest.raises(NotImplementedError, match="orders 0 and 1"):
        indim.scipy.ndimage.map_coordinates(X, [X], order=3)
    with pytest.raises(NotImplementedError, match="write one of constant"):
        indim.scipy.ndimage.map_coordinates(X, [X], 1, "grid-wrap")
    for name, message in {"linalg": "write np.linalg", "sparse": "write indim.while_loop"}.items():
        with pytest.raises(AttributeError, match=message):
            getattr(indim.scipy, name)
