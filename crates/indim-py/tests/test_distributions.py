"""Distributions of ``indim.random`` and initialisers of weights: statistics, arguments, errors.

`test_random.py` compares the numbers with those of JAX.
"""

import numpy as np
import pytest
from scipy import special

import indim
from indim import random
from indim.nn import initializers

KEY = random.key(7)
COUNT = 20_000


@pytest.mark.parametrize(
    ("name", "arguments", "mean", "deviation"),
    [
        ("gamma", (2.5,), 2.5, 2.5**0.5),
        ("gamma", (0.2,), 0.2, 0.2**0.5),
        ("beta", (2.0, 3.0), 0.4, 0.2),
        ("chisquare", (4.0,), 4.0, 8**0.5),
        ("pareto", (5.0,), 1.25, (5 / 48) ** 0.5),
        ("rayleigh", (2.0,), 2 * (np.pi / 2) ** 0.5, 2 * (2 - np.pi / 2) ** 0.5),
        ("t", (9.0,), 0.0, (9 / 7) ** 0.5),
        ("wald", (2.0,), 2.0, 8**0.5),
        ("geometric", (0.25,), 4.0, 12**0.5),
        ("poisson", (3.0,), 3.0, 3**0.5),
        ("poisson", (40.0,), 40.0, 40**0.5),
        ("triangular", (0.0, 1.0, 2.0), 1.0, (1 / 6) ** 0.5),
    ],
)
def test_means_and_deviations(name, arguments, mean, deviation):
    numbers = getattr(random, name)(KEY, *arguments, (COUNT,)).astype(np.float64)
    assert abs(numbers.mean() - mean) < 5 * deviation / COUNT**0.5
    assert abs(numbers.std() / deviation - 1) < 0.08


def test_points_of_distributions_with_axes():
    found = random.dirichlet(KEY, np.array([1.0, 2.0, 3.0]), (COUNT,))
    assert found.shape == (COUNT, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found.mean(axis=0), [1 / 6, 1 / 3, 1 / 2], atol=0.01)
    points = random.ball(KEY, 3, shape=(COUNT,))
    radii = np.linalg.norm(points, axis=1)
    assert radii.max() <= 1 and abs((radii**3).mean() - 0.5) < 0.02


def test_parameters_that_are_traced_or_broadcast():
    a = np.array([0.5, 5.0], np.float32)
    found = indim.jit(lambda key, a: random.gamma(key, a, (3, 2)))(KEY, a)
    np.testing.assert_array_equal(found, random.gamma(KEY, a, (3, 2)))
    keys = random.split(KEY, 3)
    each = indim.vmap(lambda key: random.poisson(key, np.float32(4.0), (5,)))(keys)
    np.testing.assert_array_equal(each, [random.poisson(key, np.float32(4.0), (5,)) for key in keys])
    assert random.gamma(KEY, np.ones((0, 3))).shape == (0, 3)
    assert random.poisson(KEY, np.array([np.inf, np.nan, 0.0])).tolist() == [-1, -1, 0]
    with pytest.raises(ValueError, match="do not broadcast"):
        random.beta(KEY, np.ones(3), 1.0, (2,))
    with pytest.raises(TypeError, match="floats"):
        random.gamma(KEY, 1.0, dtype=np.int32)
    with pytest.raises(TypeError, match="integers"):
        random.poisson(KEY, 1.0, dtype=np.float32)


def test_parameters_of_weibull_min_broadcast():
    # The numbers of JAX 0.10: without a shape all elements come from one random number.
    scales = np.array([1, 2], np.float32)
    np.testing.assert_allclose(random.weibull_min(KEY, scales, 1.5), [1.0792075, 2.158415], rtol=1e-6)
    found = random.weibull_min(KEY, scales[:, None], scales)
    np.testing.assert_allclose(found, [[1.1211338, 1.0588361], [2.2422676, 2.1176722]], rtol=1e-6)
    one = random.weibull_min(KEY, 1.0, 1.5, (2,))
    both = random.weibull_min(KEY, scales[:, None], 1.5, (2,))
    np.testing.assert_allclose(both, [one, 2 * one], rtol=1e-6)


@pytest.mark.parametrize("name", ["binomial", "orthogonal", "unheard_of"])
def test_functions_that_are_not_there_have_advice(name):
    with pytest.raises(AttributeError, match=f"indim.random has no '{name}'.*(write|docs)"):
        getattr(random, name)


SCALES = {
    "glorot_normal": (2 / 12, 5),
    "glorot_uniform": (2 / 12, 3**0.5),
    "he_normal": (2 / 4, 5),
    "he_uniform": (2 / 4, 3**0.5),
    "lecun_normal": (1 / 4, 5),
    "lecun_uniform": (1 / 4, 3**0.5),
}


@pytest.mark.parametrize("name", SCALES)
def test_weights_have_the_variance_of_their_initialiser(name):
    variance, most = SCALES[name]
    weights = getattr(initializers, name)(batch_axis=0)(KEY, (2000, 4, 8))
    assert weights.shape == (2000, 4, 8) and weights.dtype == np.float32
    assert abs(weights.var() / variance - 1) < 0.03
    assert np.abs(weights).max() <= most * variance**0.5


def test_initialisers_take_jax_arguments():
    scaled = initializers.variance_scaling(3.0, "fan_geo_avg", "normal", in_axis=0, out_axis=(1, 2))
    assert abs(scaled(KEY, (40, 30, 30)).var() / (3 / 189.7) - 1) < 0.05
    expected = random.normal(KEY, (3,)) * np.float32(0.5)
    np.testing.assert_array_equal(initializers.normal(0.5)(KEY, (3,)), expected)
    for make, value in ((initializers.zeros, 0), (initializers.ones, 1), (initializers.constant(7), 7)):
        made = make(KEY, (2, 3), np.float64)
        assert made.dtype == np.float64 and (made == value).all() and made.shape == (2, 3)
    traced = indim.jit(lambda key: indim.nn.initializers.he_normal()(key, (3, 4)))(KEY)
    np.testing.assert_allclose(traced, initializers.he_normal()(KEY, (3, 4)), rtol=1e-6)
    with pytest.raises(ValueError, match="in_axis"):
        initializers.he_normal()(KEY, (3,))
    with pytest.raises(ValueError, match="fan_in, fan_out"):
        initializers.variance_scaling(1.0, "fan", "normal")
    for name in ("orthogonal", "delta_orthogonal"):
        with pytest.raises(NotImplementedError, match=rf"initializers\.{name} .*np.linalg.qr"):
            getattr(initializers, name)()


def test_vectors_of_a_normal_distribution_have_its_mean_and_covariance():
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 1.0]])
    numbers = random.normal(KEY, (3, 2), np.float64)
    expected = mean + numbers @ np.linalg.cholesky(cov).T
    found = random.multivariate_normal(KEY, mean, cov, (3,), np.float64)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    many = random.multivariate_normal(KEY, mean, cov, (20000,), np.float64)
    np.testing.assert_allclose(np.cov(many.T), cov, atol=0.06)
    batch = random.multivariate_normal(KEY, np.zeros((4, 1, 2)), np.stack([cov, 2 * cov]))
    assert batch.shape == (4, 2, 2)
    with pytest.raises(ValueError, match="lacks axes of the batch"):
        random.multivariate_normal(KEY, np.zeros((4, 2)), cov, (1,))


@pytest.mark.parametrize("name", ["gamma", "loggamma"])
def test_numbers_of_a_gamma_distribution_keep_their_place_in_it(name):
    a = np.repeat([0.02, 0.7, 1.2, 30.0, 2e5], 50)
    numbers, changes = indim.jvp(
        lambda a: getattr(random, name)(KEY, a, dtype="f8"), (a,), (np.ones_like(a),)
    )
    if name == "loggamma":
        numbers = np.exp(numbers)
        changes = numbers * changes
    step = 1e-6 * a
    places = [special.gammainc(a + h, numbers + h * changes) for h in (step, -step)]
    # The distribution function is the same after both steps, to the first order.
    size = np.abs(special.gammainc(a + step, numbers) - special.gammainc(a - step, numbers))
    assert (np.abs(places[0] - places[1]) <= 1e-4 * size + 1e-14).all()


def test_gradients_of_distributions_from_gamma_numbers():
    def mean_of_beta(a):
        return random.beta(KEY, a, 2.0, (4000,), dtype="f8").mean()

    # The mean is a / (a + 2).
    assert indim.grad(mean_of_beta)(1.5) == pytest.approx(2 / 3.5**2, rel=0.05)
    by_a = indim.grad(lambda a: random.loggamma(KEY, a, (20_000,), dtype="f8").mean())(1.2)
    assert by_a == pytest.approx(special.polygamma(1, 1.2), rel=0.02)
