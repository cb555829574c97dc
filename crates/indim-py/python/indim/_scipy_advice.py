"""The code to write instead of functions of SciPy that need the elements of a traced value."""

from __future__ import annotations

_FRAMES = (
    "np.fft.rfft(window * frames) of frames = np.lib.stride_tricks.sliding_window_view(x, n)[::step]"
)
_SCAN = "indim.scan over the samples, whose carry are the delayed ones"
_OUTER = "np.subtract.outer(np.arange(n), np.arange(n))"
_RANKS = "np.argsort(np.argsort({}))"

_RADIUS = "np.pad(x, r, 'symmetric')"
_WINDOWS = "np.lib.stride_tricks.sliding_window_view({}, {})"
_KERNEL = "k = np.exp(-0.5 * (np.arange(-r, r + 1) / sigma) ** 2) divided by its sum"

#: Functions that take traced values if SCIPY_ARRAY_API is 1.
WITH_NAMESPACES = {
    *(f"scipy.fft.{name}{axes}" for name in ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")
      for axes in ("", "2", "n")),
    *(f"scipy.integrate.{name}" for name in (
        "cumulative_simpson", "cumulative_trapezoid", "romb", "trapezoid")),
    *(f"scipy.optimize.{name}" for name in ("rosen", "rosen_der", "rosen_hess", "rosen_hess_prod")),
    *(f"scipy.signal.{name}" for name in (
        "envelope", "fftconvolve", "freqs", "freqz", "gauss_spline", "hilbert", "hilbert2", "oaconvolve",
        "resample")),
    *(f"scipy.special.{name}" for name in ("log_softmax", "logsumexp", "softmax")),
    *(f"scipy.stats.{name}" for name in (
        "boxcox_llf", "circmean", "circstd", "circvar", "describe", "differential_entropy", "gmean",
        "gzscore", "kstat", "kstatvar", "kurtosis", "mode", "sem", "skew", "tmax", "tmin", "zmap", "zscore")),
}  # fmt: skip

#: By subpackage, and name of a function or class.
INSTEAD_OF_SCIPY = {
    "integrate.cumulative_trapezoid": "np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(x))",
    "integrate.trapezoid": "np.trapezoid(y, x)",
    "ndimage.convolve": "indim.scipy.signal.convolve2d(np.pad(x, r, 'symmetric'), kernel, 'valid')",
    "ndimage.correlate": "indim.scipy.signal.correlate2d(np.pad(x, r, 'symmetric'), kernel, 'valid')",
    "ndimage.uniform_filter": "the means of np.lib.stride_tricks.sliding_window_view("
    "np.pad(x, k // 2, 'symmetric'), (k, k)) over the last two axes",
    "signal.medfilt": "np.median(np.lib.stride_tricks.sliding_window_view(np.pad(x, k // 2), k), axis=-1)",
    "spatial.cdist": "np.sqrt(np.sum((x[:, None] - y[None]) ** 2, axis=-1))",
    "stats.gmean": "np.exp(np.mean(np.log(x)))",
    "stats.hmean": "1 / np.mean(1 / x)",
    "stats.iqr": "np.percentile(x, 75) - np.percentile(x, 25)",
    "stats.kurtosis": "np.mean(((x - x.mean()) / x.std()) ** 4) - 3",
    "stats.pearsonr": "np.corrcoef(x, y)[0, 1]",
    "stats.sem": "np.std(x, ddof=1) / np.sqrt(x.shape[0])",
    "stats.skew": "np.mean(((x - x.mean()) / x.std()) ** 3)",
    "stats.zscore": "(x - x.mean()) / x.std()",
    **dict.fromkeys(("linalg.cho_factor", "linalg.cho_solve", "linalg.lu_factor"), "np.linalg.solve(a, b)"),
    **dict.fromkeys(("linalg.lu_solve", "linalg.solve_triangular"), "np.linalg.solve(a, b)"),
    **{
        f"linalg.{name}": f"np.linalg.{name}"
        for name in (
            *("det", "eig", "eigvals", "eigh", "eigvalsh", "inv", "lstsq", "norm", "pinv", "qr", "solve"),
            "svd",
        )
    },
    "linalg.cholesky": "np.linalg.cholesky(a).T",
    "linalg.circulant": f"c[{_OUTER} % n]",
    "linalg.svdvals": "np.linalg.svd(a, compute_uv=False)",
    "linalg.toeplitz": f"c[np.abs({_OUTER})]",
    **dict.fromkeys(("signal.csd", "signal.coherence", "signal.spectrogram"), _FRAMES),
    **dict.fromkeys(("signal.stft", "signal.welch"), _FRAMES),
    **dict.fromkeys(("signal.filtfilt", "signal.lfilter", "signal.sosfilt"), _SCAN),
    "signal.detrend": "x - np.polyval(np.polyfit(np.arange(x.size), x, 1), np.arange(x.size))",
    "signal.find_peaks": "np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:])) + 1",
    "signal.periodogram": "np.abs(np.fft.rfft(x - x.mean())) ** 2, whose scale is yours",
    "signal.savgol_filter": "np.convolve(x, scipy.signal.savgol_coeffs(n, degree), 'valid')",
    "ndimage.gaussian_filter": "indim.scipy.signal.convolve2d(np.pad(x, r, 'symmetric'), np.outer(k, k), "
    "'valid') with k = np.exp(-0.5 * (np.arange(-r, r + 1) / sigma) ** 2) divided by its sum",
    "ndimage.median_filter": "np.median(np.lib.stride_tricks.sliding_window_view("
    "np.pad(x, k // 2, 'symmetric'), (k, k)), axis=(-2, -1))",
    "interpolate.interp1d": "np.interp(new, x, y)",
    "integrate.simpson": "h / 3 * (y[0] + 4 * np.sum(y[1:-1:2]) + 2 * np.sum(y[2:-1:2]) + y[-1]) for an odd "
    "number of points at the distance h",
    "special.comb": "np.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)) of indim.scipy.special",
    "ndimage.gaussian_filter1d": "np.convolve(np.pad(x, r, 'symmetric'), k, 'valid') with " + _KERNEL,
    "ndimage.label": "indim.fori_loop of np.maximum over neighbours, or call it before",
    "ndimage.maximum_filter": _WINDOWS.format("np.pad(x, k // 2, 'symmetric')", "(k, k)")
    + ".max(axis=(-2, -1))",
    "ndimage.minimum_filter": _WINDOWS.format("np.pad(x, k // 2, 'symmetric')", "(k, k)")
    + ".min(axis=(-2, -1))",
    "ndimage.shift": "indim.scipy.ndimage.map_coordinates(x, places, order=1)",
    "ndimage.sobel": f"indim.scipy.signal.convolve2d({_RADIUS}, kernel, 'valid') with r = 1",
    "ndimage.uniform_filter1d": "np.convolve(np.pad(x, k // 2, 'symmetric'), np.ones(k) / k, 'valid')",
    "ndimage.zoom": "indim.image.resize(x, shape, 'linear')",
    "linalg.expm": "np.linalg.eigh of a symmetric a, as in (v * np.exp(w)) @ v.T",
    "linalg.ishermitian": "np.all(a == a.conj().T)",
    "linalg.issymmetric": "np.all(a == a.T)",
    "linalg.logm": "np.linalg.eigh of a symmetric a, as in (v * np.log(w)) @ v.T",
    "linalg.pinvh": "np.linalg.pinv(a)",
    "linalg.polar": "u @ vt with u, s, vt = np.linalg.svd(a)",
    "linalg.solve_toeplitz": f"np.linalg.solve(c[np.abs({_OUTER})], b)",
    "linalg.sqrtm": "np.linalg.eigh of a symmetric a, as in (v * np.sqrt(w)) @ v.T",
    "linalg.kron": "np.kron(a, b)",
    "linalg.block_diag": "np.block([[a, np.zeros(...)], [np.zeros(...), b]])",
    "linalg.hankel": "np.concatenate([c, r[1:]])[np.add.outer(np.arange(c.size), np.arange(r.size))]",
    **dict.fromkeys(
        ("optimize.minimize", "optimize.fmin", "optimize.fmin_bfgs", "optimize.fmin_l_bfgs_b"),
        "indim.grad(f) within indim.fori_loop, or call it outside with jac=indim.grad(f)",
    ),
    **dict.fromkeys(
        ("optimize.brentq", "optimize.bisect", "optimize.newton", "optimize.root_scalar", "optimize.root"),
        "indim.while_loop of Newton's step x - f(x) / indim.grad(f)(x)",
    ),
    "optimize.curve_fit": "np.polyfit, np.linalg.lstsq, or call it outside with jac=indim.jacobian(f)",
    "optimize.nnls": "indim.fori_loop of np.maximum(x - step * a.T @ (a @ x - b), 0)",
    **dict.fromkeys(
        ("interpolate.CubicSpline", "interpolate.PchipInterpolator", "interpolate.UnivariateSpline"),
        "np.interp(new, x, y) for straight lines",
    ),
    **dict.fromkeys(
        ("interpolate.griddata", "interpolate.interpn", "interpolate.RegularGridInterpolator"),
        "indim.scipy.ndimage.map_coordinates(values, places, order=1) of a regular grid",
    ),
    **dict.fromkeys(
        ("integrate.quad", "integrate.fixed_quad", "integrate.romberg"),
        "np.sum(weights * f(points)) with points, weights = np.polynomial.legendre.leggauss(n)",
    ),
    **dict.fromkeys(
        ("integrate.odeint", "integrate.solve_ivp"), "indim.scan of Runge-Kutta steps over the times"
    ),
    **{
        f"sparse.{name}": "indim.segment_sum(values * x[columns], rows, n) for the product of a sparse "
        "matrix and x"
        for name in ("bsr_array", "coo_array", "coo_matrix", "csc_array", "csc_matrix", "csr_array",
                     "csr_matrix")
    },
    **{
        f"spatial.{name}": code
        for name, code in {
            "pdist": "the distances of all pairs, np.sqrt(np.sum((x[:, None] - x[None]) ** 2, axis=-1))",
            "cityblock": "np.sum(np.abs(x - y))",
            "chebyshev": "np.max(np.abs(x - y))",
            "cosine": "1 - x @ y / np.sqrt((x @ x) * (y @ y))",
            "euclidean": "np.sqrt(np.sum((x - y) ** 2))",
            "distance_matrix": "np.sqrt(np.sum((x[:, None] - y[None]) ** 2, axis=-1))",
            "sqeuclidean": "np.sum((x - y) ** 2)",
        }.items()
    },
    **dict.fromkeys(
        ("spatial.KDTree", "spatial.cKDTree"),
        "np.argmin(np.sum((x[:, None] - y[None]) ** 2, axis=-1), axis=1) for the nearest point of y",
    ),
    "cluster.vq": "np.argmin(np.sum((x[:, None] - centres) ** 2, axis=-1), axis=1)",
    "cluster.kmeans": "indim.fori_loop of argmin of the distances and indim.segment_sum of the points",
    "fft.dct": "np.fft.rfft of np.concatenate([x, x[::-1]]), whose real part times a phase is the DCT-II",
    "signal.decimate": "indim.scipy.signal.convolve(x, filter, 'same')[::step]",
    "signal.find_peaks_cwt": "np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:])) + 1",
    "signal.medfilt2d": "np.median(np.lib.stride_tricks.sliding_window_view("
    "np.pad(x, k // 2), (k, k)), axis=(-2, -1))",
    "signal.sawtooth": "t % (2 * np.pi) / np.pi - 1",
    "signal.square": "np.where(t % (2 * np.pi) < np.pi, 1.0, -1.0)",
    "signal.wiener": "means and variances of np.lib.stride_tricks.sliding_window_view(x, n)",
    "stats.cumfreq": "np.cumsum(np.histogram(x, bins)[0])",
    "stats.binned_statistic": "indim.segment_sum(values, np.searchsorted(edges, x) - 1, n)",
    "stats.boxcox": "(x**lmbda - 1) / lmbda",
    "stats.gaussian_kde": "np.mean(indim.scipy.stats.norm.pdf(places[:, None], x, width), axis=1)",
    "stats.gstd": "np.exp(np.std(np.log(x), ddof=1))",
    "stats.kendalltau": "np.mean(np.sign(x[:, None] - x) * np.sign(y[:, None] - y)) of pairs that differ",
    "stats.mode": "values, counts = np.unique(x, return_counts=True), and values[np.argmax(counts)]",
    "stats.moment": "np.mean((x - x.mean()) ** order)",
    "stats.variation": "x.std() / x.mean()",
    "stats.median_abs_deviation": "np.median(np.abs(x - np.median(x)))",
    "stats.percentileofscore": "100 * np.mean(x < score)",
    "stats.tmean": "np.mean(x)",
    "stats.tstd": "np.std(x, ddof=1)",
    "stats.ttest_ind": "(x.mean() - y.mean()) / np.sqrt(x.var(ddof=1) / x.size + y.var(ddof=1) / y.size) for "
    "the statistic of equal_var=False",
    "stats.wasserstein_distance": "np.mean(np.abs(np.sort(x) - np.sort(y))) for as many points",
    "stats.winsorize": "np.clip(x, *np.quantile(x, [low, high]))",
    "stats.entropy": "-np.sum(p * np.log(p)) of p = x / np.sum(x)",
    "stats.linregress": "np.polyfit(x, y, 1)",
    "stats.rankdata": _RANKS.format("x") + " + 1 for elements that differ",
    "stats.spearmanr": f"np.corrcoef({_RANKS.format('x')}, {_RANKS.format('y')})[0, 1] for elements that "
    "differ",
    "stats.trim_mean": "np.mean(np.sort(x)[k:-k])",
    "stats.ttest_1samp": "(x.mean() - mean) / (np.std(x, ddof=1) / np.sqrt(x.size)) for the statistic",
}
