"""The code to write instead of functions of SciPy that need the elements of a traced value."""

from __future__ import annotations

_FRAMES = (
    "np.fft.rfft(window * frames) of frames = np.lib.stride_tricks.sliding_window_view(x, n)[::step]"
)
_SCAN = "indim.scan over the samples, whose carry are the delayed ones"
_OUTER = "np.subtract.outer(np.arange(n), np.arange(n))"
_RANKS = "np.argsort(np.argsort({}))"

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
        for name in ("det", "eigh", "eigvalsh", "inv", "lstsq", "norm", "pinv", "qr", "solve", "svd")
    },
    "linalg.cholesky": "np.linalg.cholesky(a).T",
    "linalg.circulant": f"c[{_OUTER} % n]",
    "linalg.expm": "(v * np.exp(w)) @ v.T of w, v = np.linalg.eigh(a) for a symmetric matrix",
    "linalg.sqrtm": "(v * np.sqrt(w)) @ v.T of w, v = np.linalg.eigh(a) for a symmetric matrix",
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
    "stats.entropy": "-np.sum(p * np.log(p)) of p = x / np.sum(x)",
    "stats.linregress": "np.polyfit(x, y, 1)",
    "stats.rankdata": _RANKS.format("x") + " + 1 for elements that differ",
    "stats.spearmanr": f"np.corrcoef({_RANKS.format('x')}, {_RANKS.format('y')})[0, 1] for elements that "
    "differ",
    "stats.trim_mean": "np.mean(np.sort(x)[k:-k])",
    "stats.ttest_1samp": "(x.mean() - mean) / (np.std(x, ddof=1) / np.sqrt(x.size)) for the statistic",
}
