"""Functions of labelled arrays that cannot be traced, run as plain xarray.

A method of xarray may need the elements of an array, as ``interp`` does. indim then calls the function on
copies of its arguments, and warns once. xarray computes everything except compiled functions that the
function calls. Dask arrays stay lazy: while the function runs, Dask computes nothing in its thread.
"""

from __future__ import annotations

import contextlib
import sysconfig
import threading
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

from ._engines import name_of
from ._foreign import ForeignArrayError, package_of


class PlainProgram:
    """A function that is called on its arguments, in place of a traced program."""

    takes_coordinates, untraceable = False, None

    def __init__(self, function, name, called):
        self._function, self.name = function, name
        #: The call that cannot be traced, as a text.
        self.called = called

    def is_current(self):
        return True

    def __call__(self, arguments):
        if any(_holds(leaf, "cubed") for leaf in arguments.leaves):
            # Nothing keeps Cubed from computing in this thread alone.
            raise TypeError(
                f"`{self.name}` runs {self.called}, which cannot be traced, and plain xarray might load "
                "arrays of Cubed: call it outside of the compiled function, or pass arrays of Dask"
            )
        # The function may write into its arguments. A copy of a Dask array is lazy.
        leaves = [_copied(leaf) for leaf in arguments.leaves]
        with _without_loading(any(_holds(leaf, "dask") for leaf in leaves)):
            return self._function(*arguments.with_leaves(leaves))


def call(compiled, function, arguments, error):
    """Calls a function that ``error`` kept from being traced, and warns once; returns its results and its
    program."""
    program = PlainProgram(function, name_of(compiled), _untraceable_call(error))
    try:
        results = program(arguments)
    except ForeignArrayError as failure:
        # A function of indim takes neither labelled arrays nor traced ones, and says what to write instead.
        raise error from failure
    except Exception as failure:
        # A mistake of the function fails in both runs: the user sees it once.
        if type(failure) is type(error) and str(failure) == str(error):
            raise
        raise failure from error
    if not compiled._has_warned:
        compiled._has_warned = True
        # The caller of the compiled function.
        warnings.warn(_warning(program, arguments), RuntimeWarning, stacklevel=5)
    return results, program


def _copied(leaf):
    if isinstance(leaf, (xr.DataArray, xr.Dataset, xr.Variable)):
        return leaf.copy(deep=True)
    return np.array(leaf) if isinstance(leaf, (np.ndarray, list, tuple)) else leaf


def _holds(leaf, package):
    """Whether elements of an argument, or of its coordinates, are an array of this package."""
    if isinstance(leaf, xr.Dataset):
        return any(_holds(variable, package) for variable in leaf.variables.values())
    if isinstance(leaf, xr.DataArray):
        return _holds(leaf._to_temp_dataset(), package)
    return package_of(leaf._data if isinstance(leaf, xr.Variable) else leaf) == package


@contextlib.contextmanager
def _without_loading(is_chunked):
    """The context in which Dask computes nothing in this thread, if arguments are in chunks."""
    if not is_chunked:
        yield
        return
    import dask.config

    settings, lock = dask.config.config, dask.config.config_lock
    with lock:
        scheduler = settings.get("scheduler")
        if not isinstance(scheduler, _RefusingScheduler):
            scheduler = settings["scheduler"] = _RefusingScheduler(scheduler)
        scheduler.running += 1
    _calls.depth = _depth() + 1
    try:
        yield
    finally:
        _calls.depth -= 1
        with lock:
            scheduler.running -= 1
            # Another thread may have configured a scheduler meanwhile, which stays.
            if not scheduler.running and settings.get("scheduler") is scheduler:
                if scheduler.configured is None:
                    settings.pop("scheduler", None)
                else:
                    settings["scheduler"] = scheduler.configured


#: The depth of nested functions that run as plain xarray over Dask, for each thread.
_calls = threading.local()


def _depth():
    return getattr(_calls, "depth", 0)


class _RefusingScheduler:
    """A scheduler of Dask that computes nothing in threads that run a function as plain xarray.

    All threads share Dask's configuration. In the other threads this scheduler delegates to the one that it
    replaces. A thread that enters ``dask.config.set(scheduler=...)`` while the function runs restores this
    scheduler later, maybe after the function: then no thread is refused.
    """

    def __init__(self, configured):
        #: The configured scheduler, or None.
        self.configured = configured
        #: The number of functions that run under this scheduler.
        self.running = 0

    def __bool__(self):
        # Dask ignores a false scheduler and takes the client, or else the default of each collection.
        # `persist` keeps results on workers only if it finds the client itself.
        return _depth() > 0 or self.configured not in (None, "", "distributed", "dask.distributed")

    def __call__(self, graph, keys, **options):
        if _depth():
            raise TypeError(
                "the function loads an array of Dask, and a compiled function returns lazy arrays: compute "
                "what it needs before the call and pass it as an argument, or leave the function to xarray"
            )
        import dask.threaded

        scheduler = dask.base.get_scheduler(scheduler=self.configured or None) or dask.threaded.get
        return scheduler(graph, keys, **options)


# The warning.


def _warning(program, arguments):
    is_chunked = any(_holds(leaf, "dask") for leaf in arguments.leaves)
    engine = "xarray and Dask compute" if is_chunked else "xarray computes"
    return (
        f"`{program.name}` runs as plain xarray, because {program.called} cannot be traced. "
        f"{engine} all of it, except compiled functions that it calls: to compile the operations around this "
        "call, give them functions of their own with `indim.jit`"
    )


def _untraceable_call(error):
    """The method that the function called, and the line of that call, as a text."""
    frames, traceback = [], error.__traceback__
    while traceback is not None:
        frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    own = [position for position, (frame, _) in enumerate(frames) if not _is_of(frame, _LIBRARIES)]
    if not own:
        return "a call in it"
    frame, line = frames[own[-1]]
    place = f"line {line} of {Path(frame.f_code.co_filename).name}"
    called = next((called for called, _ in frames[own[-1] + 1 :]), None)
    if called is not None and _is_of(called, [_XARRAY]):
        name = called.f_code.co_name
        # Since Python 3.11 code knows its class.
        name = getattr(called.f_code, "co_qualname", f"{type(called.f_locals.get('self')).__name__}.{name}")
        # The wrappers of several methods, and special methods, have no name that a user knows.
        if "<" not in name and "__" not in name:
            return f"`{name}` ({place})"
    return f"the call in {place}"


def _is_of(frame, folders):
    parents = Path(frame.f_code.co_filename).parents
    return any(folder in parents for folder in folders)


_XARRAY = Path(xr.__file__).parent

#: The folders of indim, of installed packages, and of Python's own modules.
_LIBRARIES = (
    *(Path(__file__).parent, _XARRAY, Path(np.__file__).parent),
    *(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib")),
)
