"""Prints the polynomial coefficients of the elementary functions.

Each polynomial interpolates its function at the Chebyshev nodes of the interval, in 60 digits: that
is within a small factor of the minimax polynomial. Run: python3 coefficients.py (needs mpmath).
"""

import struct

from mpmath import asin, atan, atanh, cos, erf, erfc, exp, log, lu_solve, matrix, mp, mpf, pi, sin, sqrt

mp.dps = 60


def fit(name, function, low, high, degree):
    """Prints the coefficients, constant first, and the largest error on the interval."""
    middle, half = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    nodes = [middle + half * cos(pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    system = matrix([[node**power for power in range(degree + 1)] for node in nodes])
    solution = [float(c) for c in lu_solve(system, matrix([function(node) for node in nodes]))]
    points = [middle + half * (mpf(i) / 500 - 1) for i in range(1001)]
    error = max(abs(sum(mpf(c) * p**i for i, c in enumerate(solution)) - function(p)) for p in points)
    print(f"{name}: error 2^{float(log(error, 2)):.1f}")
    for coefficient in solution:
        print(f"    {coefficient!r},")


def fit_weighted(name, function, weight, high, degree):
    """The same by least squares on 4 * degree Chebyshev nodes of (0, high], for an error times `weight`."""
    nodes = [mpf(high) / 2 * (1 + cos(pi * (2 * i + 1) / (8 * degree))) for i in range(4 * degree)]
    system = matrix([[weight(node) * node**power for power in range(degree + 1)] for node in nodes])
    values = matrix([weight(node) * function(node) for node in nodes])
    solution = [float(c) for c in lu_solve(system.T * system, system.T * values)]
    points = [mpf(high) * i / 400 for i in range(1, 401)]
    sums = [sum(mpf(c) * p**i for i, c in enumerate(solution)) for p in points]
    error = max(abs(weight(p) * (s - function(p))) for p, s in zip(points, sums))
    print(f"{name}: error 2^{float(log(error, 2)):.1f}")
    for coefficient in solution:
        print(f"    {coefficient!r},")


def to_single(x):
    """The nearest 32-bit float."""
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def fit_single(name, function, weight, high, degree):
    """The same with coefficients of 32 bits: each fit rounds one of them, and fits those after it again."""
    nodes = [mpf(high) / 2 * (1 + cos(pi * (2 * i + 1) / (8 * degree))) for i in range(4 * degree)]
    solution = []

    def error(point):
        return function(point) - sum(c * point**i for i, c in enumerate(solution))

    for power in range(degree + 1):
        system = matrix([[weight(node) * node**p for p in range(power, degree + 1)] for node in nodes])
        values = matrix([weight(node) * error(node) for node in nodes])
        solution.append(to_single(lu_solve(system.T * system, system.T * values)[0]))
    points = [mpf(high) * i / 400 for i in range(1, 401)]
    largest = max(abs(weight(p) * error(p)) for p in points)
    print(f"{name}: error 2^{float(log(largest, 2)):.1f}")
    for coefficient in solution:
        print(f"    {float(coefficient)!r},")


def exp_tail(r):
    """(exp(r) - 1 - r) / r^2."""
    return (exp(r) - 1 - r) / r**2 if abs(r) > 1e-9 else mpf(1) / 2 + r / 6 + r * r / 24


def log_tail(z):
    """(atanh(s) / s - 1) * 2 / z with z = s^2, so that log(m) = 2s + s * z * log_tail(z)."""
    s = sqrt(z)
    return (atanh(s) / s - 1) * 2 / z if z > 1e-12 else mpf(2) / 3 + 2 * z / 5


def sin_tail(z):
    """(sin(r) - r) / r^3 with z = r^2."""
    r = sqrt(z)
    return (sin(r) - r) / r**3 if z > 1e-12 else mpf(-1) / 6 + z / 120


def cos_tail(z):
    """(cos(r) - 1 + r^2 / 2) / r^4 with z = r^2."""
    return (cos(sqrt(z)) - 1 + z / 2) / z**2 if z > 1e-12 else mpf(1) / 24 - z / 720


def sinc(z):
    """sin(r) / r with z = r^2."""
    return sin(sqrt(z)) / sqrt(z) if z > 1e-30 else mpf(1) - z / 6


def log_third(z):
    """The terms of log_tail after 2/3: (log_tail(z) - 2/3) / z."""
    return (log_tail(z) - mpf(2) / 3) / z if z > 1e-8 else mpf(2) / 5 + z * 2 / 7 + z * z * 2 / 9


def atan_tail(z):
    """(atan(t) - t) / t^3 with z = t^2."""
    t = sqrt(z)
    return (atan(t) - t) / t**3 if z > 1e-12 else mpf(-1) / 3 + z / 5


def atan_weight(z):
    """By how much an error of atan_tail changes atan(t) / t, roughly."""
    return z / (1 - z * mpf("0.215"))


def asin_tail(z):
    """(asin(t) - t) / t^3 with z = t^2."""
    t = sqrt(z)
    return (asin(t) - t) / t**3 if z > 1e-12 else mpf(1) / 6 + 3 * z / 40


def erf_tail(z):
    """(erf(x) - 2 / sqrt(pi) x) / x^3 with z = x^2."""
    x = sqrt(z)
    return (erf(x) - 2 / sqrt(pi) * x) / x**3


def log_erfc_slope(u):
    """(log(erfc(1/2 + u)) - log(erfc(1/2))) / u."""
    return (log(erfc(mpf(1) / 2 + u)) - log(erfc(mpf(1) / 2))) / u


def log_erfc_weight(u):
    """By how much an error of log_erfc_slope changes erf."""
    return u * erfc(mpf(1) / 2 + u)


def erfc_scaled(t):
    """(1 + 2 x) exp(x^2) erfc(x) - 1 with t = (x - 3.75) / (x + 3.75)."""
    x = mpf("3.75") * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x) - 1


def erfc_position(x):
    """The variable of erfc_scaled."""
    return (mpf(x) - mpf("3.75")) / (mpf(x) + mpf("3.75"))


HALF_LN2 = log(2) / 2 + mpf("0.0001")
LOG_RANGE = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 + mpf("0.0001")
QUARTER_PI = (pi / 4) ** 2 + mpf("0.0001")

fit("EXP_TAIL single", exp_tail, -HALF_LN2, HALF_LN2, 5)
fit("EXP_TAIL double", exp_tail, -HALF_LN2, HALF_LN2, 10)
fit("LOG_TAIL single", log_tail, 0, LOG_RANGE, 2)
fit("LOG_TAIL double", log_tail, 0, LOG_RANGE, 6)
fit("LOG_THIRD single", log_third, 0, LOG_RANGE, 2)
fit("LOG_THIRD double", log_third, 0, LOG_RANGE, 7)
fit("SINC single", sinc, 0, (pi / 2) ** 2 + mpf("0.0001"), 5)
fit("SIN_TAIL double", sin_tail, 0, QUARTER_PI, 5)
fit("COS_TAIL double", cos_tail, 0, QUARTER_PI, 5)

fit("ATAN_TAIL", atan_tail, 0, (sqrt(2) - 1) ** 2 + mpf("0.0001"), 11)
fit("ASIN_TAIL", asin_tail, 0, mpf("0.2501"), 12)
fit_single("ATAN_TAIL single", lambda z: atan_tail(z) + 0.25, atan_weight, 1.0001, 8)
fit_single("ASIN_TAIL single", asin_tail, lambda z: z, mpf("0.2501"), 4)
fit("INVERSE_CUBE_ROOT", lambda r: r ** (mpf(-1) / 3), mpf("0.895"), mpf("1.105"), 4)
fit_weighted("ERF_TAIL single", erf_tail, lambda z: 1, 0.2501, 3)
fit_weighted("ERF_TAIL double", erf_tail, lambda z: 1, 0.2501, 8)
fit_weighted("LOG_ERFC_SLOPE single", log_erfc_slope, log_erfc_weight, 3.5, 7)
fit_weighted("LOG_ERFC_SLOPE double", log_erfc_slope, log_erfc_weight, 5.5, 20)
fit("ERFC_SCALED", erfc_scaled, erfc_position("0.49"), erfc_position(28), 22)


def words(name, value, offset, count):
    """The bits of value * 2^offset as 64-bit words, the integer part first."""
    scaled = int(mp.floor(value * mpf(2) ** (offset + 64 * (count - 1))))
    print(name)
    for i in range(count - 1, -1, -1):
        word = (scaled >> (64 * i)) & (2**64 - 1)
        print(f"    0x{word:016x},")


mp.dps = 800
words("ONE_OVER_PI", 1 / pi, 40, 4)
words("TWO_OVER_PI", 2 / pi, 0, 32)
