"""Whole jobs, each as one text or one compiled function, against NumPy step by step."""

import numpy as np
import pytest

import indim

JOBS = []


def job(function):
    """Adds a job: a function of random numbers that returns indim's result and NumPy's."""
    JOBS.append(function)
    return function


@job
def k_means_assignment(random):
    points, centres = random.normal(size=(200, 3)), random.normal(size=(7, 3))

    @indim.jit
    def nearest(points, centres):
        return np.argmin(np.sum((points[:, None] - centres) ** 2, axis=-1), axis=1)

    distances = np.linalg.norm(points[:, None] - centres, axis=2)
    return nearest(points, centres), distances.argmin(axis=1)


@job
def anomaly_by_month(random):
    month, t = random.integers(0, 12, 400), random.normal(15, 8, 400)
    result = indim.evaluate("""
        is_of = month[:, None] == iota(i64, [12])
        means = sum(where(is_of, t[:, None], 0), axis=0) / sum(is_of, axis=0)
        t - means[month]
    """)
    expected = t.copy()
    for k in range(12):
        expected[month == k] -= t[month == k].mean()
    return result, expected


@job
def z_score_by_group(random):
    group, x = random.integers(0, 5, 300), random.normal(size=(300, 4)) * 3 + 1

    @indim.jit
    def standardised(group, x):
        is_of = (group[:, None] == np.arange(5))[:, :, None]
        count = np.sum(is_of, axis=0)
        means = np.sum(np.where(is_of, x[:, None], 0), axis=0) / count
        centred = x - np.sum(np.where(is_of, means, 0), axis=1)
        variances = np.sum(np.where(is_of, centred[:, None] ** 2, 0), axis=0) / count
        return centred / np.sqrt(np.sum(np.where(is_of, variances, 0), axis=1))

    expected = np.empty_like(x)
    for k in range(5):
        rows = x[group == k]
        expected[group == k] = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return standardised(group, x), expected


@job
def layer_norm(random):
    x = random.normal(2, 3, (20, 16)).astype(np.float32)
    gain, bias = random.normal(size=(2, 16)).astype(np.float32)
    result = indim.evaluate("""
        m = mean(x, axis=-1, keepdims=true)
        v = var(x, axis=-1, keepdims=true)
        (x - m) / sqrt(v + 1e-5) * gain + bias
    """)
    wide = x.astype(np.float64)
    scaled = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    return result, (scaled * gain + bias).astype(np.float32)


@job
def moving_average(random):
    x = random.normal(size=500)
    result = indim.evaluate("(x[:-2] + x[1:-1] + x[2:]) / 3")
    return result, np.convolve(x, np.ones(3) / 3, mode="valid")


@job
def running_difference(random):
    x = random.normal(size=500).cumsum()
    return indim.evaluate("x[1:] - x[:-1]"), np.diff(x)


@job
def masked_statistics(random):
    x = random.normal(size=1000)
    x[random.random(1000) < 0.1] = np.nan
    result = indim.evaluate("""
        is_valid = x == x
        n = sum(is_valid)
        m = sum(where(is_valid, x, 0)) / n
        d = where(is_valid, x - m, 0)
        n, m, sqrt(sum(d * d) / n)
    """)
    return result, (np.count_nonzero(~np.isnan(x)), np.nanmean(x), np.nanstd(x))


@job
def histogram_equalisation(random):
    picture = np.clip(random.normal(90, 25, (30, 40)), 0, 255).astype(np.uint8)
    result = indim.evaluate("""
        table = sum(reshape(picture, [-1, 1]) <= iota(i32, [1, 256], axis=1), axis=0)
        low = min(where(table > 0, table, 1200))
        u8(round((table - low) / (1200 - low) * 255))[picture]
    """)
    table = np.bincount(picture.ravel(), minlength=256).cumsum()
    low = table[table > 0].min()
    expected = np.round((table[picture] - low) / (picture.size - low) * 255).astype(np.uint8)
    return result, expected


@job
def contrast_stretching(random):
    picture = random.integers(40, 180, (30, 40)).astype(np.uint8)
    result = indim.evaluate("p = f64(picture); u8((p - min(p)) / (max(p) - min(p)) * 255)")
    wide = picture.astype(np.float64)
    return result, ((wide - wide.min()) / np.ptp(wide) * 255).astype(np.uint8)


@job
def picture_normalised_by_its_own_means(random):
    picture = random.integers(0, 256, (30, 40, 3)).astype(np.uint8)
    result = indim.evaluate("""
        p = f32(picture) / 255
        (p - mean(p, axis=(0, 1))) / std(p, axis=(0, 1))
    """)
    wide = picture / 255
    return result, ((wide - wide.mean(axis=(0, 1))) / wide.std(axis=(0, 1))).astype(np.float32)


@job
def vegetation_index(random):
    bands = random.integers(1, 10_000, (30, 40, 4)).astype(np.uint16)
    result = indim.evaluate(
        "nir, red = f32(bands[..., 3]), f32(bands[..., 0]); (nir - red) / (nir + red)", bands=bands
    )
    nir, red = bands[..., 3].astype(np.float32), bands[..., 0].astype(np.float32)
    return result, (nir - red) / (nir + red)


@job
def total_variation(random):
    x = random.normal(size=(30, 40))
    result = indim.evaluate("sum(abs(x[1:] - x[:-1])) + sum(abs(x[:, 1:] - x[:, :-1]))")
    return result, np.abs(np.diff(x, axis=0)).sum() + np.abs(np.diff(x, axis=1)).sum()


@job
def root_mean_square_error(random):
    x, y = random.normal(size=(2, 700))
    return indim.evaluate("sqrt(mean((x - y) ** 2))"), np.linalg.norm(x - y) / np.sqrt(700)


@job
def monte_carlo_payoff(random):
    z = random.normal(size=20_000)
    text = """
        rate, volatility, years = 0.03, 0.2, 2
        drift = (rate - volatility ** 2 / 2) * years
        price = spot * exp(drift + volatility * sqrt(years) * z)
        payoff = maximum(price - strike, 0)
        exp(-rate * years) * mean(payoff), exp(-rate * years) * std(payoff, correction=1) / sqrt(20000)
    """
    result = indim.evaluate(text, spot=100.0, strike=105.0, z=z)
    price = 100 * np.exp((0.03 - 0.02) * 2 + 0.2 * np.sqrt(2) * z)
    payoff = np.exp(-0.06) * np.maximum(price - 105, 0)
    return result, (payoff.mean(), payoff.std(ddof=1) / np.sqrt(20_000))


@job
def cosine_similarity(random):
    x, y = random.normal(size=(2, 50, 8))
    result = indim.evaluate("sum(x * y, axis=1) / (norm(x, axis=1) * norm(y, axis=1))")
    return result, np.einsum("ij,ij->i", x, y) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)


@job
def mixture_log_likelihood(random):
    x = random.normal(size=300)
    weight, centre, scale = np.array([0.3, 0.7]), np.array([-1.0, 2.0]), np.array([0.5, 1.5])

    result = indim.evaluate("""
        z = (x[:, None] - centre) / scale
        sum(logsumexp(log(weight) - z * z / 2 - log(scale * sqrt(2 * pi)), axis=1))
    """)
    density = np.exp(-(((x[:, None] - centre) / scale) ** 2) / 2) / (scale * np.sqrt(2 * np.pi))
    return result, np.log(density @ weight).sum()


@job
def min_max_scaling(random):
    x = random.normal(size=(100, 5))
    result = indim.evaluate("low, high = min(x, axis=0), max(x, axis=0); (x - low) / (high - low)")
    return result, (x - x.min(axis=0)) / np.ptp(x, axis=0)


@job
def gaussian_kernel_sums(random):
    x, y, h = random.normal(size=80), random.normal(size=90), 0.3
    result = indim.evaluate("d = (x[:, None] - y) / h; sum(exp(-d * d / 2), axis=1)")
    return result, np.array([np.exp(-(((at - y) / h) ** 2) / 2).sum() for at in x])


@job
def weighted_mean(random):
    x, w = random.normal(size=(60, 4)), random.random(60)
    return indim.evaluate("c = w[:, None]; sum(c * x, axis=0) / sum(c)"), np.average(x, 0, w)


@job
def hinge_loss(random):
    x, w = random.normal(size=(200, 6)), random.normal(size=6)
    y = random.choice([-1.0, 1.0], 200)
    result = indim.evaluate("mean(maximum(1 - y * sum(x * w, axis=1), 0))")
    return result, np.clip(1 - y * (x @ w), 0, None).mean()


@job
def top_1_accuracy(random):
    scores, labels = random.normal(size=(500, 10)), random.integers(0, 10, 500)
    result = indim.evaluate("mean(argmax(scores, axis=1) == labels)")
    return result, np.count_nonzero(scores.argmax(axis=1) == labels) / 500


@job
def cross_entropy(random):
    scores, labels = random.normal(size=(100, 10)) * 5, random.integers(0, 10, 100)
    result = indim.evaluate("""
        is_right = labels[:, None] == iota(i64, [10])
        -mean(sum(where(is_right, log_softmax(scores, axis=1), 0), axis=1))
    """)
    share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return result, -np.log(share[np.arange(100), labels]).mean()


@pytest.mark.parametrize("function", JOBS, ids=lambda function: function.__name__)
def test_a_job_gives_what_numpy_gives(function):
    result, expected = function(np.random.default_rng(7))
    several = expected if isinstance(expected, tuple) else (expected,)
    results = result if isinstance(result, tuple) else (result,)
    assert len(results) == len(several)
    for part, of in zip(results, several):
        of = np.asarray(of)
        assert (part.shape, part.dtype) == (of.shape, of.dtype)
        tolerance = 2e-6 if of.dtype == np.float32 else 1e-12
        assert np.allclose(part, of, rtol=tolerance, atol=tolerance)


def test_there_are_twenty():
    assert len(JOBS) >= 20
