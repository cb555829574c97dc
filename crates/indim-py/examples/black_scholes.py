"""Prices of European options, as a text like numexpr's."""

import math

import numpy as np

import indim as ne

random = np.random.default_rng(0)
spot = random.uniform(10, 50, 100_000)
strike = random.uniform(10, 50, 100_000)
years = random.uniform(1, 2, 100_000)
rate, volatility = 0.1, 0.2

d1 = ne.evaluate("(log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * sqrt(years))")
d2 = ne.evaluate("d1 - volatility * sqrt(years)")
call = ne.evaluate(
    "spot * (1 + erf(d1 / sqrt(2))) / 2 - strike * exp(-rate * years) * (1 + erf(d2 / sqrt(2))) / 2"
)
put = ne.evaluate("call - spot + strike * exp(-rate * years)")


def normal(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


expected = spot[0] * normal(d1[0]) - strike[0] * math.exp(-rate * years[0]) * normal(d2[0])
assert abs(call[0] - expected) < 1e-12 * spot[0]
assert (put > -1e-12).all()
print(f"{len(call)} calls, {call.mean():.4f} on average; puts {put.mean():.4f}")
