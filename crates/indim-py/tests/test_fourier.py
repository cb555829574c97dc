"""``indim.fft`` and ``np.fft`` in compiled functions: NumPy's values, derivatives, batches, errors."""

import numpy as np
import pytest

import indim

RANDOM = np.random.default_rng(5)


def _complex(*shape):
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def _close(found, expected, bound=1e-13):
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("length", [*range(1, 33), 67, 100, 127, 128, 360, 1009, 4096, 10007])
def test_lengths_are_those_of_numpy(length):
    x = _complex(length)
    _close(indim.fft.fft(x), np.fft.fft(x))
    _close(indim.fft.ifft(x), np.fft.ifft(x))
    _close(indim.fft.rfft(x.real), np.fft.rfft(x.real))
    _close(indim.fft.irfft(x, length), np.fft.irfft(x, length))
    _close(indim.fft.hfft(x, length), np.fft.hfft(x, length))
    _close(indim.fft.ihfft(x.real), np.fft.ihfft(x.real))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fftn", "ifftn", "fft2", "ifft2", "irfftn", "irfft2", "rfftn", "rfft2"])
def test_several_axes(name, norm):
    x = _complex(4, 6, 5)
    x = x.real if name.startswith("rfft") else x
    own, numpy = getattr(indim.fft, name), getattr(np.fft, name)
    _close(own(x, norm=norm), numpy(x, norm=norm))
    _close(own(x, (3, 8), (2, 0), norm), numpy(x, (3, 8), (2, 0), norm))
    _close(own(x, axes=(1, 0)), numpy(x, axes=(1, 0)))


def test_types():
    for dtype in ("bool", "int8", "uint64", "float16", "float32", "float64", "complex64", "complex128"):
        x = (RANDOM.normal(size=12) * 3).astype(dtype) if dtype != "bool" else RANDOM.normal(size=12) > 0
        _close(indim.fft.fft(x), np.fft.fft(x), 1e-3 if dtype == "float16" else 1e-6)
        _close(indim.fft.irfft(x), np.fft.irfft(x), 1e-3 if dtype == "float16" else 1e-6)
    assert indim.fft.fft([1, 2, 3]).dtype == np.complex128


@pytest.mark.parametrize("axes", [(1,), (0, 1)])
def test_half_floats_along_several_axes(axes):
    x = RANDOM.normal(size=(4, 5)).astype(np.float16)
    for name in ("irfftn", "rfftn", "ifftn"):
        _close(getattr(indim.fft, name)(x, axes=axes), getattr(np.fft, name)(x, axes=axes), 2e-3)


def test_traced_and_eager_results_are_equal():
    x = RANDOM.normal(size=(3, 40)).astype(np.float32)

    @indim.jit
    def filtered(x):
        return np.fft.irfft(np.fft.rfft(x) * (np.arange(21) < 5), 40), indim.numpy.fft.fftshift(x)

    smooth, shifted = filtered(x)
    np.testing.assert_array_equal(smooth, indim.fft.irfft(indim.fft.rfft(x) * (np.arange(21) < 5), 40))
    np.testing.assert_array_equal(shifted, np.fft.fftshift(x))
    np.testing.assert_array_equal(indim.fft.ifftshift(shifted), x)


def test_frequencies():
    np.testing.assert_array_equal(indim.fft.fftfreq(7, 0.5), np.fft.fftfreq(7, 0.5))
    assert indim.fft.rfftfreq(8, dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize("length", [8, 15, 67])
def test_gradients_are_those_of_finite_differences(length):
    x, weights = RANDOM.normal(size=length), RANDOM.normal(size=length // 2 + 1)

    def power(x):
        return np.sum(weights * np.abs(np.fft.rfft(x)) ** 2) + np.sum(np.fft.irfft(np.fft.fft(x)[:9]) ** 3)

    gradient = indim.grad(power)(x)
    for index in (0, 1, length - 1):
        step = np.zeros(length)
        step[index] = 1e-5
        slope = (power(x + step) - power(x - step)) / 2e-5
        assert abs(slope - gradient[index]) < 1e-6 * max(1, abs(slope))


def test_batches():
    x = _complex(5, 24)
    _close(indim.vmap(np.fft.fft)(x), np.fft.fft(x))
    rows = indim.vmap(lambda row: np.fft.irfft(row, 30), in_axes=1, out_axes=1)(x)
    _close(rows, np.fft.irfft(x, 30, axis=0))


def test_explain():
    text = str(indim.explain("rfft(x)", x="f32[1024]"))
    assert "contract" in text
    assert indim.evaluate("fft(x, norm=ortho)", {"x": np.ones(4)})[0] == 2


def test_errors():
    x = np.ones(4)
    with pytest.raises(ValueError, match="0 is no length"):
        indim.fft.fft(x, 0)
    with pytest.raises(ValueError, match="Invalid norm value"):
        indim.fft.fft(x, norm="unitary")
    with pytest.raises(IndexError):
        indim.fft.fft(x, axis=1)
    with pytest.raises(TypeError):
        indim.fft.rfft(x + 1j)
    with pytest.raises(TypeError, match="out"):
        indim.fft.fft(x, out=np.empty(4, complex))
