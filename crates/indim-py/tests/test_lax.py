"""`indim.lax`: padding, slices, products and reductions at the edges of their definition."""

import itertools

import numpy as np
import pytest

import indim
from indim import lax


def padded(x, value, config):
    """The definition of `pad`, element by element; None if elements would be removed that do not exist."""
    for axis, (low, high, between) in enumerate(config):
        x = np.moveaxis(x, axis, 0)
        apart = np.full((max(len(x) + (len(x) - 1) * between, 0), *x.shape[1:]), value)
        apart[:: between + 1] = x
        if len(apart) + low + high < 0:
            return None
        result = np.full((len(apart) + low + high, *x.shape[1:]), value)
        for position in range(len(result)):
            if 0 <= position - low < len(apart):
                result[position] = apart[position - low]
        x = np.moveaxis(result, 0, axis)
    return x


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_pad_is_its_definition(size):
    x = np.arange(1.0, size + 1)
    for config in itertools.product((-4, -1, 0, 2, 5), (-4, -1, 0, 2, 5), (0, 2)):
        expected = padded(x, 9.0, [config])
        if expected is None:
            with pytest.raises(ValueError, match="elements to remove"):
                lax.pad(x, 9.0, [config])
        else:
            np.testing.assert_array_equal(lax.pad(x, 9.0, [config]), expected)
    with pytest.raises(ValueError, match="2 paddings for 1 axes"):
        lax.pad(x, 9.0, [(0, 0, 0)] * 2)


def test_slices_out_of_range_are_errors():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(lax.slice(x, (0, 1), (2, 3), (1, 2)), x[:, 1::2])
    np.testing.assert_array_equal(lax.slice_in_dim(x, -2, None, axis=-1), x[:, 1:])
    np.testing.assert_array_equal(lax.slice_in_dim(x, 0, -1, axis=1), x[:, :2])
    for start, limit in (((0, 0), (2, 4)), ((0, -1), (2, 3)), ((0, 2), (2, 1))):
        with pytest.raises(IndexError, match="out of range for axis 1 of size 3"):
            lax.slice(x, start, limit)
    with pytest.raises(ValueError, match="for each of 2 axes"):
        lax.slice(x, (0,), (1,))
    with pytest.raises(IndexError, match="0:4:1 is out of range"):
        lax.slice_in_dim(x, 0, 4, axis=1)
    with pytest.raises(ValueError, match="no axes from 1 to 0"):
        lax.collapse(x, 1, 0)


def test_sizes_of_products_must_be_equal():
    x = np.ones((2, 1))
    for right, numbers in (
        (np.ones((3, 4)), (((1,), (0,)), ((), ()))),
        (np.ones((1, 2)), (((1,), (0, 1)), ((), ()))),
        (np.ones((3, 1)), (((1,), (1,)), ((0,), (0,)))),
    ):
        with pytest.raises(ValueError, match="lax.dot_general: the (summed|batch) axes have sizes"):
            lax.dot_general(x, right, numbers)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1), ()])
def test_and_and_or_are_of_bits(axes):
    x = np.array([[12, 7, -3], [10, 3, 5]], np.int32)
    for name, ufunc in (("reduce_and", np.bitwise_and), ("reduce_or", np.bitwise_or)):
        function = getattr(lax, name)
        for operand in (x, x > 5):
            expected = ufunc.reduce(operand, axis=axes)
            for result in (function(operand, axes), indim.jit(lambda x: function(x, axes))(operand)):
                assert result.dtype == operand.dtype
                np.testing.assert_array_equal(result, expected)
        with pytest.raises(TypeError, match="takes truth values and whole numbers, not float64"):
            function(x * 1.0, axes)


def test_functions_that_are_compositions():
    x, n = np.array([[1.0, 3.0, 2.0]]), np.array([2, 3, 1])
    np.testing.assert_array_equal(lax.pow(x[0], n), x[0] ** n)
    np.testing.assert_array_equal(lax.square(n), n**2)
    np.testing.assert_array_equal(lax.tile(x, (2, 1)), np.tile(x, (2, 1)))
    np.testing.assert_array_equal(lax.reduce_xor(n, (0,)), 0)
    values, places = lax.approx_max_k(x, 2, recall_target=0.9)
    assert values.tolist() == [[3, 2]] and places.tolist() == [[1, 2]]
    assert lax.approx_min_k(x, 1)[0].tolist() == [[1]]
    assert lax.broadcast_to_rank(n, 3).shape == (1, 1, 3) and lax.broadcast_shapes((2, 1), (3,)) == (2, 3)
    for name in ("gather", "custom_root", "unheard_of"):
        with pytest.raises(AttributeError, match="(write|Compose)"):
            getattr(lax, name)
    for module in (indim.tree, indim.tree_util, indim.nn, indim.scipy.special, indim.scipy.stats):
        with pytest.raises(AttributeError, match=f"{module.__name__} has no 'unheard_of'"):
            module.unheard_of


def test_round_is_away_from_zero():
    x = np.array([-2.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, 1e30], np.float32)
    np.testing.assert_array_equal(lax.round(x), [-3, -1, 1, 2, 3, 0, np.float32(1e30)])
    np.testing.assert_array_equal(lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), np.rint(x))
    np.testing.assert_array_equal(indim.jit(lax.round)(x), lax.round(x))
    with pytest.raises(ValueError, match="RoundingMethod"):
        lax.round(x, 2)


def test_names_of_jax_have_advice():
    for name in ("config", "disable_jit", "named_scope", "pure_callback", "linear_transpose"):
        with pytest.raises(AttributeError, match=f"no '{name}' of JAX: "):
            getattr(indim, name)


def test_segments_take_the_keywords_of_jax():
    x, ids = np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2])
    np.testing.assert_array_equal(indim.ops.segment_sum(x, ids), [1, 0, 5])
    np.testing.assert_array_equal(indim.ops.segment_max(x, ids, 4, indices_are_sorted=True)[:3:2], [1, 3])
    assert indim.ops.segment_sum(x[:0], ids[:0]).shape == (0,)
    np.testing.assert_array_equal(indim.ops.segment_sum(x, ids.astype(np.uint8)), [1, 0, 5])
    with pytest.raises(TypeError, match="num_segments"):
        indim.jit(indim.ops.segment_sum)(x, ids)
    with pytest.raises(ValueError, match="mode"):
        indim.ops.segment_sum(x, ids, mode="clip")


def test_linspace_with_its_step():
    values, step = indim.jit(lambda x: indim.numpy.linspace(0, x, 4, retstep=True))(2.0)
    expected, of_numpy = np.linspace(0, 2.0, 4, retstep=True)
    np.testing.assert_array_equal(values, expected)
    assert step == of_numpy


def test_joined_arrays_of_jnp():
    jnp, v = indim.numpy, np.arange(3.0)
    np.testing.assert_array_equal(indim.jit(lambda v: jnp.c_[v, v])(v), np.c_[v, v])
    np.testing.assert_array_equal(indim.jit(lambda v: jnp.r_[v, 0:2, 5.0])(v), np.r_[v, 0:2, 5.0])
    np.testing.assert_array_equal(jnp.r_[v, 1.0], np.r_[v, 1.0])


def test_reductions_and_convolutions_outside_of_compiled_functions_have_the_same_bits():
    random = np.random.default_rng(8)
    x, kernel = random.standard_normal((2, 3, 41, 50), "f4"), random.standard_normal((4, 3, 7, 9), "f4")
    zero, ones = np.float32(0), np.ones((1 << 20, 3), "f4") / 3
    large = np.array([3e38, 3e38, -3e38], "f4")
    calls = {
        "reduce": (lambda x: lax.reduce(x, zero, lax.add, (0,)), (ones,)),
        "reduce_window": (lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (1,), "VALID"), (large,)),
        "maximum": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 1, 3, 3), None, "SAME"), (x,)),
        "convolution": (lambda x, k: lax.conv_general_dilated(x, k, [1, 2], [(3, 3), (4, 4)]), (x, kernel)),
        "conv": (lambda x, k: lax.conv(x, k, (1, 1), "SAME"), (x, kernel)),
    }
    for name, (function, arguments) in calls.items():
        result, compiled = function(*arguments), indim.jit(function)(*arguments)
        assert type(result) is np.ndarray and result.tobytes() == compiled.tobytes(), name


def test_signs_of_zeros_as_initial_values():
    for zero in (0.0, -0.0, 0.0):
        result = lax.reduce(np.ones((2, 3)), zero, lax.mul, (0,))
        assert np.array_equal(np.signbit(result), [np.signbit(zero)] * 3)
