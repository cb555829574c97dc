"""Profiles: where compiled functions and expressions spend their time, by loop nests."""

from __future__ import annotations

import functools
import time

import numpy as np

from ._indim import _end_profile, _start_profile, get_num_threads

#: Bytes of each array of the measurement of the bandwidth: more than the caches hold.
_BANDWIDTH_BYTES = 64 << 20

_RUNS = 4

#: The profile that ended last, whose times explanations show.
_LAST = []


class Profile:
    """The runs between ``__enter__`` and ``__exit__``, of all threads of this process; see ``profile``."""

    def __init__(self, bandwidth=None):
        self._bandwidth = bandwidth
        self._started = None
        #: Seconds between the begin and the end.
        self.seconds = None
        #: The programs, the longest first.
        self.programs = []

    def __enter__(self):
        try:
            _start_profile()
        except RuntimeError as error:
            raise RuntimeError(
                f"{error}: leave out the inner `with indim.profile()`, as the outer one counts its runs too"
            ) from None
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self._started
        programs = [ProfiledProgram(*description) for description in _end_profile()]
        self.programs = sorted(programs, key=lambda program: -program.seconds)
        _LAST[:] = [self]

    @property
    def bandwidth(self):
        """The memory bandwidth in bytes a second: that given to ``profile``, or one that indim measures by
        a copy with all its threads."""
        return _measured_bandwidth(get_num_threads()) if self._bandwidth is None else self._bandwidth

    @property
    def json(self):
        """The profile as a dict."""
        return {
            "seconds": self.seconds,
            "bandwidth": self.bandwidth,
            "programs": [program.json for program in self.programs],
        }

    def __str__(self):
        if self.seconds is None:
            return "a profile that has no end yet"
        within = sum(program.seconds for program in self.programs)
        lines = [
            f"{_time(within)} in programs of indim, {_time(self.seconds)} in all; memory bandwidth "
            f"{_rate(self.bandwidth)}"
        ]
        for program in self.programs:
            lines += ["", program.title]
            lines += self._lines(program)
        return "\n".join(lines)

    def _lines(self, program):
        lines = []
        for nest in program.nests:
            lines.append("  " + "  ".join(self._cells(program, nest)))
            lines += [f"      {line}" for line in nest.text.splitlines()]
        return lines

    __repr__ = __str__

    def _repr_html_(self):
        # `import indim` is faster without this module.
        import html

        if self.seconds is None:
            return html.escape(str(self))
        head = "".join(f"<th>{cell}</th>" for cell in ("time", "share", "bytes", "rate", "of memory", "nest"))
        rows = []
        for program in self.programs:
            rows.append(f'<tr><th colspan="6" style="text-align:left">{html.escape(program.title)}</th></tr>')
            for nest in program.nests:
                cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in self._cells(program, nest))
                text = f'<td style="text-align:left"><pre>{html.escape(nest.text)}</pre></td>'
                rows.append(f"<tr>{cells}{text}</tr>")
        title = html.escape(str(self).splitlines()[0])
        return f"<p>{title}</p><table><tr>{head}</tr>{''.join(rows)}</table>"

    def _cells(self, program, nest):
        """Time, share of the program's time, bytes of a run, bytes a second, share of the bandwidth."""
        share = nest.seconds / program.seconds if program.seconds else 0.0
        cells = f"{_time(nest.seconds):>9}", f"{share:4.0%}"
        if nest.bytes is None:
            return *cells, f"{'-':>9}", f"{'-':>10}", f"{'-':>4}"
        rate = nest.bytes * program.runs / nest.seconds if nest.seconds else 0.0
        return *cells, f"{_size(nest.bytes):>9}", f"{_rate(rate):>10}", f"{rate / self.bandwidth:4.0%}"


class ProfiledProgram:
    """The runs of a program: of a function or an expression, for types and sizes of its inputs."""

    def __init__(self, name, inputs, runs, seconds, nests):
        self.name, self.inputs, self.runs, self.seconds = name, inputs, runs, seconds
        #: The loop nests, and groups of nests that run tile by tile together, in their order.
        self.nests = [ProfiledNest(*nest) for nest in nests]

    @property
    def title(self):
        runs = f"{self.runs} runs" if self.runs > 1 else "1 run"
        return f"{self.name}({', '.join(self.inputs)}): {_time(self.seconds)}, {runs}"

    @property
    def json(self):
        nests = [vars(nest) for nest in self.nests]
        parts = {"name": self.name, "inputs": self.inputs, "runs": self.runs, "seconds": self.seconds}
        return {**parts, "nests": nests}


class ProfiledNest:
    """A loop nest, or a group of nests that run tile by tile together."""

    def __init__(self, text, size, seconds):
        #: Its pseudocode; the bytes that one run reads and writes, None for a loop or branch; the seconds of
        #: all runs.
        self.text, self.bytes, self.seconds = text, size, seconds


def times_of(text, json_text):
    """The section of an explanation with the times of its program in the last profile, and the same as data;
    None if the program did not run in it. ``text`` and ``json_text`` are the explanation."""
    if not _LAST:
        return None
    import json

    parameters = json.loads(json_text).get("parameters", ())
    inputs = [f"{of['name']}: {of['dtype']}{of['shape']}" for of in parameters]
    lines = {line.strip() for line in text.splitlines()}
    for profile in _LAST:
        for program in profile.programs:
            loops = {line.strip() for nest in program.nests for line in nest.text.splitlines()}
            if loops and program.inputs == inputs and loops <= lines:
                listed = [f"times\n   {program.title}", *(f" {line}" for line in profile._lines(program))]
                return "\n".join(listed) + "\n", program.json
    return None


@functools.lru_cache(maxsize=8)
def _measured_bandwidth(threads):
    """Bytes a second of a copy, read and written, with this number of threads."""
    from ._functions import apply

    x = np.ones(_BANDWIDTH_BYTES // 8)
    y = np.empty_like(x)
    seconds = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        apply("negative", (x,), out=y)
        seconds.append(time.perf_counter() - started)
    return 2 * x.nbytes / min(seconds)


def _time(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"


def _size(count):
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= power:
            return f"{count / power:.3g} {unit}"
    return f"{count} B"


def _rate(rate):
    return f"{_size(int(rate))}/s"


def profile(*, bandwidth=None):
    """A context in which indim measures where its programs spend their time: by loop nests, with the bytes of
    each and its share of the memory bandwidth (``bandwidth`` in bytes a second; measured if it is omitted).

    The profile is a text, and a table in a notebook; ``.programs`` and ``.json`` have the same as data.
    Explanations of its programs, such as those of ``f.explain()``, then have a section with the times. It
    counts the runs of all threads of this process. Outside of such a context runs read no clock.

    >>> import indim, numpy as np
    >>> f = indim.jit(lambda x: np.sqrt(x).sum())
    >>> with indim.profile() as profile:
    ...     value = f(np.ones(1000))
    >>> [program.name for program in profile.programs], profile.programs[0].runs
    (['<lambda>'], 1)
    """
    if bandwidth is not None and not bandwidth > 0:
        raise ValueError(f"bandwidth={bandwidth!r}: a number of bytes a second above 0")
    return Profile(bandwidth)
