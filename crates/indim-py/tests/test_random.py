"""``indim.random``: numbers of ``jax.random``, recorded by `record_random.py`; keys, shapes, errors."""

import json
import pathlib
import random as random_of_python
import warnings

import numpy as np
import pytest

import indim
from indim import random

CASES = json.loads(pathlib.Path(__file__).with_name("recorded_random.json").read_text())
KEY = random.key(42)


def _called(function, arguments, key):
    arguments = [tuple(value) if isinstance(value, list) else value for value in arguments]
    return getattr(random, function)(key, *arguments)


@pytest.mark.parametrize(
    "is_exact, function, arguments, seed, dtype, shape, values", CASES, ids=lambda value: str(value)[:20]
)
def test_numbers_are_those_of_jax(is_exact, function, arguments, seed, dtype, shape, values):
    found = _called(function, arguments, random.key(seed))
    traced = indim.jit(lambda key: _called(function, arguments, key))(random.key(seed))
    np.testing.assert_array_equal(found, traced)
    assert found.shape == tuple(shape)
    if function not in ("choice", "permutation"):
        assert found.dtype == dtype
    expected = np.array(values).reshape(shape)
    if is_exact:
        np.testing.assert_array_equal(found, expected)
    else:
        relative = 1e-13 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=relative, atol=relative)


def test_traced_seeds_and_keys_that_are_unpacked():
    @indim.jit
    def numbers(seed):
        first, second = random.split(random.key(seed))
        return random.bits(first, (3,)), random.bits(second, (3,))

    first, second = random.split(random.key(7))
    for seed in (np.int64(7), np.uint32(7)):
        for found, key in zip(numbers(seed), (first, second), strict=True):
            np.testing.assert_array_equal(found, random.bits(key, (3,)))


def test_array_parts_are_permuted_and_chosen():
    x = np.arange(12.0).reshape(3, 4)
    rows = random.permutation(KEY, x)
    assert sorted(map(tuple, rows)) == sorted(map(tuple, x))
    np.testing.assert_array_equal(random.permutation(KEY, x, 1), x[:, random.permutation(KEY, 4)])
    mixed = random.permutation(KEY, x, 1, independent=True)
    np.testing.assert_array_equal(np.sort(mixed, axis=1), x)
    np.testing.assert_array_equal(random.choice(KEY, x, (2,), axis=1), x[:, random.choice(KEY, 4, (2,))])
    chosen = random.choice(KEY, 50, (50,), replace=False)
    assert sorted(chosen) == list(range(50))
    p = np.array([0.0, 0.25, 0.75], np.float32)
    counts = np.bincount(random.choice(KEY, 3, (4000,), p=p), minlength=3)
    assert counts[0] == 0 and abs(counts[1] - 1000) < 150
    assert set(random.choice(KEY, 3, (2,), False, p)) == {1, 2}


def test_captured_keys_give_the_same_numbers():
    for name in ("exponential", "gumbel", "laplace", "logistic", "cauchy"):
        function = getattr(random, name)
        added = indim.jit(lambda x, function=function: function(KEY, (1000,)) + x)
        np.testing.assert_array_equal(added(np.zeros(1000, np.float32)), function(KEY, (1000,)))


def test_parameters_broadcast_to_the_shape():
    for function, arguments in (
        (random.bernoulli, (np.full(3, 0.5), ())),
        (random.bernoulli, (np.full((4, 3), 0.5), (3,))),
        (random.randint, ((), np.zeros(4, int), 1000)),
        (random.uniform, ((1,), None, np.zeros(3))),
        (random.truncated_normal, (np.zeros(4), 2, ())),
    ):
        with pytest.raises(ValueError, match="do not broadcast to"):
            function(KEY, *arguments)


def test_positions_are_wide():
    wide = random.choice(KEY, 2**33, (20,))
    assert wide.dtype == np.int64 and wide.max() > 2**32
    assert random.choice(KEY, 3).dtype == random.choice(KEY, 3, (2,), False).dtype == np.int64
    assert set(random.choice(KEY, [7, 8], (20,))) == {7, 8}
    assert set(random.choice(KEY, 3, (50,), p=np.array([1, 0, 1]))) == {0, 2}


def test_bfloat16():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    for name in ("uniform", "normal", "exponential", "gumbel", "laplace", "logistic", "cauchy"):
        assert getattr(random, name)(KEY, (3,), bfloat16).dtype == bfloat16
    assert random.categorical(KEY, np.zeros((2, 3), bfloat16)).shape == (2,)


def test_categories_have_their_probabilities():
    logits = np.log(np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]], np.float32))
    found = random.categorical(KEY, logits, shape=(4000, 2))
    assert found.shape == (4000, 2) and random.categorical(KEY, logits, 0).shape == (3,)
    for column, expected in zip(found.T, np.exp(logits), strict=True):
        np.testing.assert_allclose(np.bincount(column, minlength=3) / 4000, expected, atol=0.03)


def test_bounds_may_be_arrays():
    low, high = np.array([0, 10, 100]), np.array([5, 20, 101])
    found = random.randint(KEY, (50, 3), low, high)
    assert (found >= low).all() and (found < high).all() and (found[:, 2] == 100).all()
    found = random.uniform(KEY, (50, 2), minval=np.array([0.0, 5.0]), maxval=np.array([1.0, 6.0]))
    assert (found.min(0) >= [0, 5]).all() and (found.max(0) < [1, 6]).all()
    assert random.bernoulli(KEY, np.array([0.0, 1.0], np.float32)).tolist() == [False, True]
    assert random.randint(KEY, 4, 0, 3).shape == (4,)


def test_keys_types_and_shapes_are_checked():
    with pytest.raises(TypeError, match=r"a key is two uint32, as indim.random.key\(42\) makes, not int64"):
        random.bits(42, (3,))
    with pytest.raises(TypeError, match="of shape \\(2, 2\\)"):
        random.uniform(random.split(KEY), (3,))
    with pytest.raises(indim.IndimError, match="`random_bits` takes a key, u32\\[2\\]"):
        indim.jit(lambda key: random.bits(key, (3,)))(random.split(KEY))
    with pytest.raises(TypeError, match="uniform makes floats, not int32"):
        random.uniform(KEY, (3,), np.int32)
    with pytest.raises(TypeError, match="bits makes unsigned integers, not float32"):
        random.bits(KEY, (3,), np.float32)
    with pytest.raises(TypeError, match="randint makes integers"):
        random.randint(KEY, (3,), 0, 5, np.float32)
    with pytest.raises(TypeError, match="the bounds of randint are integers, not float64"):
        random.randint(KEY, (3,), 0, 5.5)
    with pytest.raises(OverflowError, match="a seed has 64 bits"):
        random.key(2**64)
    with pytest.raises(TypeError, match=r"a seed is one whole number, not int64 of shape \(2,\)"):
        indim.jit(random.key)(np.arange(2))
    for number in (-1, 2**32):
        with pytest.raises(OverflowError, match="fold_in takes a whole number from 0 to below"):
            random.fold_in(KEY, number)
    for function, arguments in (
        (random.permutation, (np.arange(3), 3)),
        (random.categorical, (np.zeros((3, 2)), 5)),
        (random.categorical, (1.0,)),
        (random.choice, ([1, 2], (1,), True, None, 1)),
    ):
        with pytest.raises(np.exceptions.AxisError):
            function(KEY, *arguments)
    with pytest.raises(TypeError, match="a parameter of a distribution is a number or an array, not None"):
        random.uniform(KEY, (3,), minval=None)
    assert random.uniform(KEY, (3,), None).dtype == np.float32
    with pytest.raises(ValueError, match="6 different parts of 5 do not exist"):
        random.choice(KEY, 5, (6,), replace=False)
    with pytest.raises(ValueError, match="a choice from nothing"):
        random.choice(KEY, 0, (1,))
    with pytest.raises(ValueError, match="`shape` ends like the logits"):
        random.categorical(KEY, np.zeros((2, 3), np.float32), shape=(3,))
    with pytest.raises(ValueError, match="`p` has the shape"):
        random.choice(KEY, 5, (2,), p=[0.5, 0.5])


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_number_of_threads_changes_nothing(threads):
    before = indim.get_num_threads()
    expected = random.normal(KEY, (1000, 701))
    try:
        indim.set_num_threads(threads)
        np.testing.assert_array_equal(random.normal(KEY, (1000, 701)), expected)
    finally:
        indim.set_num_threads(before)


def test_small_arrays_are_iterated_in_compiled_functions():
    @indim.jit
    def total(x):
        return sum(row.sum() for row in x)

    for rows in (2, 3, 5, 40, 2):
        x = np.arange(rows * 3.0).reshape(rows, 3)
        assert total(x) == x.sum()
    with pytest.raises(TypeError, match="iteration over more than 64 parts needs the elements of `x`"):
        total(np.zeros((65, 3)))


def test_keys_are_their_data():
    key = indim.random.key(7)
    np.testing.assert_array_equal(indim.random.key_data(key), key)
    found = indim.jit(lambda key: indim.random.wrap_key_data(indim.random.key_data(key)))(key)
    np.testing.assert_array_equal(found, key)


class Sampler:
    def __init__(self):
        self.rng = np.random.default_rng(1)

    def noisy(self, x):
        return x + self.rng.normal(size=3)


OUTSIDE = np.random.default_rng(0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + np.random.rand(3),
        lambda x: x + OUTSIDE.random(3),
        lambda x: x + random_of_python.random(),
        Sampler().noisy,
        lambda x: indim.fori_loop(0, 2, lambda i, s: s + np.random.rand(3), x),
    ],
)
def test_numbers_drawn_while_a_function_is_traced_are_warned_of(function):
    with pytest.warns(RuntimeWarning, match="draws numbers from .* while it is traced"):
        compiled = indim.jit(function)
        compiled(np.zeros(3))


def test_pure_random_numbers_are_not_warned_of():
    def seeded(x):
        np.random.seed(3)
        return x + np.random.rand(3)

    def own(x):
        return x + np.random.default_rng(3).random(3) + indim.random.uniform(indim.random.key(0), (3,))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (seeded, own):
            np.testing.assert_array_equal(indim.jit(function)(np.zeros(3)), function(np.zeros(3)))


def test_generators_of_any_kind_are_seen_and_warned_of_once():
    of_pcg = np.random.RandomState(np.random.PCG64(1))
    rand = np.random.rand
    for function in (lambda x: x + of_pcg.rand(3), lambda x: x + rand(3)):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            indim.jit(function)(np.zeros(3))
        assert len(found) == 1, [str(warning.message) for warning in found]
