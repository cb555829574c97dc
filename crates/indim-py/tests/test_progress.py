"""Progress of long runs: `indim.set_progress`."""

import io
import signal

import numpy as np
import pytest

import indim
from indim import _progress


class Stop(Exception):
    """Ends a run."""


def long_run():
    """A run of minutes on any machine, which the tests end."""
    x = np.linspace(0.1, 1, 2_000_000)
    indim.evaluate("sum(lgamma(x) ** y)", x=x[:, None], y=x + 0.5)


def long_loop():
    indim.fori_loop(0, 10**9, lambda i, s: np.sin(s) + i, np.ones(1000))


@pytest.fixture
def progress():
    """`set_progress`, whose setting ends with the test."""
    yield indim.set_progress
    indim.set_progress(True)


@pytest.mark.parametrize("run, has_total", [(long_run, True), (long_loop, False)])
def test_a_function_receives_the_progress_and_may_end_the_run(run, has_total, progress):
    calls = []

    def note(done, total):
        calls.append((done, total))
        if len(calls) == 3:
            raise Stop

    progress(note)
    with pytest.raises(Stop):
        run()
    (first, total), *_, (last, _) = calls
    assert len(calls) == 3 and 0 < first < last and (total is not None) == has_total
    assert not has_total or last < total


class Terminal(io.StringIO):
    """A terminal that ends the run at its second line."""

    def isatty(self):
        return True

    def write(self, text):
        super().write(text)
        if self.getvalue().count("\r") >= 2:
            raise Stop


@pytest.mark.parametrize("run, line", [(long_run, "% of "), (long_loop, " elements in ")])
def test_a_line_on_the_terminal(run, line, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with pytest.raises(Stop):
        run()
    _, first, second, *_ = terminal.getvalue().split("\r")
    assert line in first and line in second and "\n" not in terminal.getvalue() and len(first) == 79


def test_the_line_is_removed(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    _progress.report(5, 10, 2.0)
    assert "[####################                    ]  50% of 10 elements, 2 s left" in terminal.getvalue()
    with pytest.raises(Stop):
        _progress.finish()
    assert terminal.getvalue().endswith("\r" + " " * 79 + "\r")


@pytest.mark.parametrize("setting", [True, False])
def test_nothing_elsewhere(setting, capfd, progress, monkeypatch):
    def stop(number, frame):
        raise Stop

    progress(setting)
    if not setting:
        monkeypatch.setattr("sys.stderr", Terminal())
    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    try:
        with pytest.raises(Stop):
            long_run()
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert tuple(capfd.readouterr()) == ("", "")


def test_short_runs_report_nothing(progress):
    progress(lambda done, total: pytest.fail("a report"))
    indim.evaluate("x + 1", x=np.ones(100_000))


def test_computations_of_dask_report_the_tasks_of_indim(progress, monkeypatch):
    dask_array = pytest.importorskip("dask.array")
    calls = []
    monkeypatch.setattr(_progress, "_DELAY", 0)
    progress(lambda done, total: calls.append((done, total)))
    x = dask_array.ones((8, 100), chunks=(2, 100))
    result = indim.sqrt(x).compute(scheduler="threads")
    assert result.shape == x.shape and calls == [(1, 4), (2, 4), (3, 4), (4, 4)]
    calls.clear()
    (x + 1).compute()
    assert calls == []
    # Dask fuses later operations into the tasks of indim.
    for later in (lambda y: y + 1, lambda y: (y * 2).sum(), lambda y: indim.exp(y + 1) - 1):
        calls.clear()
        later(indim.sqrt(x)).compute(scheduler="threads")
        assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


class Broken:
    """A stream as programs make it, which may raise an error."""

    def __init__(self, error):
        self.error = error

    def isatty(self):
        return True

    def write(self, text):
        raise self.error


class Plain:
    """A stream that only writes, without `isatty` and `closed`."""

    def write(self, text):
        pass


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize(
    "stream",
    [None, Plain(), closed(), Broken(OSError(5, "the terminal is gone")), Broken(ValueError("closed"))],
    ids=["none", "plain", "closed", "gone", "error"],
)
def test_a_run_does_not_end_for_a_stream_that_cannot_be_written(stream, monkeypatch):
    monkeypatch.setattr("sys.stderr", stream)
    _progress.report(5, 10, 2.0)
    _progress.finish()


def test_runs_within_tasks_of_dask_leave_the_progress_to_the_tasks(progress, monkeypatch):
    dask_array = pytest.importorskip("dask.array")
    calls = []
    monkeypatch.setattr(_progress, "_DELAY", 0)
    progress(lambda done, total: calls.append((done, total)))
    states = [{name: [] for name in ("ready", "waiting", "running", "finished")} for _ in range(2)]
    for state in states:
        state["ready"] = ["indim-1", "indim-2"]
        _progress._start({}, state)
    _progress.report(5, 10, 2.0)
    _progress._advance("indim-1", None, {}, states[0], 0)
    _progress._advance("indim-1", None, {}, states[1], 0)
    # The end of one computation does not end the other.
    _progress._end({}, states[0], False)
    _progress._advance("indim-2", None, {}, states[1], 0)
    _progress._end({}, states[1], False)
    assert calls == [(1, 2), (1, 2), (2, 2)]
    _progress.report(5, 10, 2.0)
    assert calls[3:] == [(5, 10)]
    indim.sqrt(dask_array.ones(4)).compute()
    assert not _progress._computations


def test_processes_of_a_pool_draw_no_line(monkeypatch):
    import multiprocessing

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: "the parent")
    _progress.report(5, 10, 2.0)
    assert terminal.getvalue() == ""


def test_settings():
    assert indim.set_progress(False) is True and indim.set_progress(True) is False
    with pytest.raises(TypeError, match="progress=1: True, False, or a function"):
        indim.set_progress(1)


@pytest.mark.parametrize("call", ["evaluate", "re_evaluate", "compiled"])
def test_a_call_has_a_setting_of_its_own(call, progress):
    def stop(done, total):
        raise Stop

    progress(False)
    x = np.linspace(0.1, 1, 2_000_000)
    names = {"x": x[:, None], "y": x + 0.5}
    with pytest.raises(Stop):
        if call == "evaluate":
            indim.evaluate("sum(lgamma(x) ** y)", names, progress=stop)
        elif call == "re_evaluate":
            indim.evaluate("sum(lgamma(x) ** y)", {"x": x[:1], "y": x[:1]})
            indim.re_evaluate(names, progress=stop)
        else:
            indim.jit(lambda x, y: np.sum(indim.lgamma(x) ** y))(x[:, None], x + 0.5, progress=stop)
    # The setting ends with the call.
    assert _progress._of_call.progress is None and indim.set_progress(False) is False


def test_names_and_values_of_the_argument():
    x = np.array([1.0, 2.0])
    assert indim.evaluate("sum(x)", progress=False) == indim.jit(np.sum)(x, progress=None) == 3
    assert indim.evaluate("sum(x * progress)", progress=x) == 5
    progress = 3.0
    assert indim.evaluate("sum(x * progress)", progress=None) == 9
    assert indim.re_evaluate(progress=lambda done, total: None) == 9
    assert indim.jit(lambda x, progress: x[0] * progress)(x, progress=progress) == 3
    for call in (lambda: indim.evaluate("x", x=x, progress="no"), lambda: indim.jit(np.sum)(x, progress=1)):
        with pytest.raises(TypeError, match="True, False, or a function of two numbers"):
            call()
