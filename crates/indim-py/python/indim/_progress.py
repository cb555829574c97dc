"""Progress of long runs: a line on the terminal or in the notebook, or calls of a function.

The compiled part calls :func:`report` of runs that take more than a second, within :func:`begin_call` and
:func:`end_call` if the call has an argument `progress`. Computations of Dask report the tasks of indim's
layers.
"""

from __future__ import annotations

import sys
import threading
import time

#: Characters of the bar.
_WIDTH = 40

#: Seconds between two drawings of the line.
_INTERVAL = 0.1

#: Seconds after which a computation of Dask reports its progress.
_DELAY = 1.0

#: True, False, or the function that receives the progress.
_progress = True

#: The setting of the call that runs in this thread, if it has one.
_of_call = threading.local()

#: When the line was drawn last, or 0.0 if there is no line.
_drawn = 0.0


def set_progress(progress):
    """Sets how runs of more than a second report their progress, and returns the previous setting.

    ``True``, the default, draws a line on standard error if that is a terminal, and in notebooks; ``False``
    draws nothing. A function receives the number of elements computed and the total, which is None for a
    program with loops or branches; for a computation of Dask, the number of tasks. An exception that it
    raises ends the run.

    >>> import indim
    >>> indim.set_progress(False)
    True
    >>> indim.set_progress(True)
    False
    """
    global _progress
    _check(progress)
    previous, _progress = _progress, progress
    return previous


def _check(progress):
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress={progress!r}: True, False, or a function of two numbers")


def begin_call(progress):
    """Sets how runs of this thread report their progress, and returns the previous setting, or None."""
    _check(progress)
    previous, _of_call.progress = getattr(_of_call, "progress", None), progress
    return previous


def end_call(previous):
    """Reverses ``begin_call``."""
    _of_call.progress = previous


def report(done, total, seconds, unit="elements"):
    """Reports a run; ``total`` is None if it is unknown."""
    progress = getattr(_of_call, "progress", None)
    progress = _progress if progress is None else progress
    if unit == "elements" and _computations:
        return
    if callable(progress):
        progress(done, total)
    elif progress and _has_line():
        _draw(_line(done, total, seconds, unit))


def finish():
    """Removes the line of a run that has ended."""
    global _drawn
    if _drawn and _has_line():
        _drawn = 0.0
        _write("\r" + " " * 79 + "\r")


def _has_line():
    """Whether this is the main thread of the main process: others would draw over its line."""
    if threading.current_thread() is not threading.main_thread():
        return False
    multiprocessing = sys.modules.get("multiprocessing")
    return multiprocessing is None or multiprocessing.parent_process() is None


def _line(done, total, seconds, unit):
    if not total:
        return f"{done:.3g} {unit} in {seconds:.0f} s"
    share = done / total
    left = f", {seconds / share - seconds:.0f} s left" if share > 0 else ""
    return f"[{'#' * int(share * _WIDTH):{_WIDTH}}] {share:4.0%} of {total:.3g} {unit}{left}"


def _draw(line):
    global _drawn
    now = time.monotonic()
    if now - _drawn >= _INTERVAL and _write(f"\r{line:79.79}"):
        _drawn = now


def _write(text):
    """Writes where a person looks; returns whether there is such a place."""
    try:
        out = sys.stderr if _is_terminal(sys.stderr) else sys.stdout if _is_notebook() else None
        if out is None:
            return False
        out.write(text)
        out.flush()
    except (AttributeError, OSError, ValueError):
        # The stream is closed, or a program's own object with fewer methods: a run does not end for that.
        return False
    return True


def _is_terminal(stream):
    # `stream` is None under pythonw.
    return stream is not None and stream.isatty()


def _is_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


_watches_dask = threading.Event()


def watch_dask():
    """Lets computations of Dask in this process report the tasks of indim's layers. Schedulers of other
    processes have displays of their own."""
    if _progress is False or _watches_dask.is_set():
        return
    from dask.callbacks import Callback

    Callback(start_state=_start, posttask=_advance, finish=_end).register()
    _watches_dask.set()


#: The computations of Dask with tasks of indim, by the identity of their state: when each started, the keys
#: of its tasks, and the number of those that are done. They have the progress, and not the runs of their
#: tasks.
_computations = {}


def _start(dsk, state):
    keys = (key for of in ("ready", "waiting", "running", "finished") for key in state[of])
    found = {key for key in keys if _is_task(key, dsk.get(key))}
    if found:
        _computations[id(state)] = [time.monotonic(), found, 0]


def _advance(key, result, dsk, state, worker):
    computation = _computations.get(id(state))
    if computation is None or key not in computation[1]:
        return
    computation[2] += 1
    started, keys, done = computation
    seconds = time.monotonic() - started
    if seconds >= _DELAY:
        report(done, len(keys), seconds, "tasks")


def _end(dsk, state, errored):
    if _computations.pop(id(state), None):
        finish()


def _is_task(key, task):
    """Whether a task is of indim, or has one among those that Dask has fused into it."""
    if str(key[0] if isinstance(key, tuple) else key).startswith("indim"):
        return True
    inner = next(iter(getattr(task, "args", None) or ()), None)
    return isinstance(inner, dict) and any(_is_task(*item) for item in inner.items())
