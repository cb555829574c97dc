"""Tables of jobs: their engines take turns, their results are compared, their times can be recorded."""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
import traceback

import numpy as np

import timing

#: The least time in seconds that an engine has for a job.
MIN_SECONDS = 0.02
#: The share of the remaining time for turns; compilation and first calls take the rest.
SHARE_OF_TURNS = 0.5
#: Elements that are compared at a time.
PIECE = 1 << 20
BOTH = "elapsed time of two threads, then processor time of one: two tables"
RECORD = (
    "appends times to this file; jobs that it has, of as many threads and the same time, are not repeated"
)


class Jobs:
    """The jobs of a table. ``@jobs("name", aim)`` adds a function that returns a call for each engine.

    An engine that is not installed, or lacks the operation, has None in place of its call. ``checked`` maps
    a result to what the engines must agree about, within ``tolerance`` of its largest magnitude.
    """

    def __init__(self):
        self.made = {}

    def __call__(self, name, aim=None, checked=None, tolerance=1e-3):
        def add(function):
            self.made[name] = (function, aim, checked or (lambda result: result), tolerance)
            return function

        return add

    def chosen(self, parts):
        """The jobs whose names have one of the parts; all if there are none."""
        return {
            name: job for name, job in self.made.items() if not parts or any(part in name for part in parts)
        }


class DisagreementError(Exception):
    """Results of two engines differ."""


def leaves(result):
    return [np.asarray(part) for part in (result if isinstance(result, (tuple, list)) else [result])]


def pieces(array):
    """The elements in f64 or c128, some at a time: whole results would take gigabytes."""
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    return (array[at : at + PIECE].astype(wide) for at in range(0, array.size, PIECE))


def magnitude(array):
    """The largest finite magnitude."""
    return max((np.abs(piece[np.isfinite(piece)]).max(initial=0) for piece in pieces(array)), default=0)


def check(engine, expected, found, tolerance):
    """Compares an engine's results with those of indim."""
    for left, right in zip(leaves(expected), leaves(found), strict=True):
        left, right = left.ravel(), right.ravel()
        if left.shape != right.shape:
            raise DisagreementError(f"{engine} has {right.size} elements, indim {left.size}")
        scale = magnitude(left)
        for own, other in zip(pieces(left), pieces(right), strict=True):
            if not np.allclose(own, other, rtol=0, atol=tolerance * scale, equal_nan=True):
                difference = np.nanmax(np.abs(own - other))
                raise DisagreementError(f"{engine} differs from indim by {difference} of {scale}")


def measure(job, clock, seconds_of):
    """Milliseconds of each engine. ``seconds_of`` says how long each of so many engines is measured."""
    function, _, checked, tolerance = job
    calls = {engine: call for engine, call in function().items() if call is not None}
    first, expected = {}, None
    for engine, call in calls.items():
        start = clock()
        result = call()
        first[engine] = clock() - start
        if engine == "indim":
            expected = checked(result)
        else:
            check(engine, expected, checked(result), tolerance)
        del result
    del expected
    times = timing.best_in_turns(calls, first, clock, seconds_of(len(calls)))
    return {engine: 1e3 * taken for engine, taken in times.items()}


def number(value):
    if value is None:
        return ""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def row(name, times, aim):
    """A row of a table of ``bench/README.md``."""
    own, peers = (times["indim"], {engine: taken for engine, taken in times.items() if engine != "indim"})
    fastest = min(peers, key=peers.get) if peers else None
    peer, ratio = (
        (f"{number(peers[fastest])} {fastest}", f"{own / peers[fastest]:.2f}") if peers else ("", "")
    )
    cells = [name.replace("|", "\\|"), number(own), peer, ratio, number(aim)]
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


class Record:
    """Times of earlier runs, one line of JSON for each job; a run appends its own."""

    def __init__(self, path, **conditions):
        self.path, self.conditions, self.times = path, conditions, {}
        if path and os.path.exists(path):
            with open(path) as file:
                lines = [json.loads(line) for line in file]
            here = [line for line in lines if conditions.items() <= line.items()]
            self.times = {line["job"]: line["milliseconds"] for line in here}

    def add(self, name, times):
        if self.path:
            with open(self.path, "a") as file:
                file.write(json.dumps({**self.conditions, "job": name, "milliseconds": times}) + "\n")


def run(jobs, options):
    """Prints the table; returns what failed, by the names of the jobs."""
    clock = time.process_time if options.processor_time else time.perf_counter
    kind = "processor" if options.processor_time else "elapsed"
    record = Record(options.record, threads=options.threads, time=kind)
    chosen, failed = jobs.chosen(options.job), {}
    left = sum(name not in record.times for name in chosen)
    end = time.perf_counter() + 60 * (options.minutes or 0)
    print(f"Milliseconds of {kind} time, threads: {options.threads}\n")
    print("| job | indim | fastest peer | ratio | aim |\n|---|---|---|---|---|", flush=True)

    def seconds_of(engines):
        if not options.minutes:
            return options.seconds
        share = SHARE_OF_TURNS * (end - time.perf_counter()) / left / engines
        return max(MIN_SECONDS, min(options.seconds, share))

    for name, job in chosen.items():
        if name not in record.times:
            try:
                record.times[name] = measure(job, clock, seconds_of)
                record.add(name, record.times[name])
            except Exception:
                # One job that fails does not take the figures of the others.
                failed[name] = traceback.format_exc(limit=-1)
            left -= 1
            gc.collect()
        if name in record.times:
            print(row(name, record.times[name], job[1]), flush=True)
    return failed


def options(text):
    """The options of a program that prints a table."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="threads of each engine (2)")
    parser.add_argument("--job", action="append", metavar="NAME", help="only jobs with this part of a name")
    parser.add_argument("--processor-time", action="store_true", help="measures processor time")
    parser.add_argument("--both", action="store_true", help=BOTH)
    parser.add_argument("--seconds", type=float, default=0.5, help="time of each engine for a job (0.5)")
    parser.add_argument("--minutes", type=float, help="shortens --seconds so that the table takes about this")
    parser.add_argument("--record", metavar="FILE", help=RECORD)
    chosen = parser.parse_args()
    if chosen.both:
        run_both()
    limit_processors(chosen.threads)
    return chosen


def run_both():
    """Runs this program once for each kind of time, each in a process with its own number of threads."""
    rest = [argument for argument in sys.argv if argument != "--both"]
    kinds = (["--threads", "2"], ["--threads", "1", "--processor-time"])
    sys.exit(max(subprocess.run([sys.executable, *rest, *kind], check=False).returncode for kind in kinds))


def limit_processors(threads):
    """Starts this program again on as many processors: libraries count them when they are loaded."""
    if not hasattr(os, "sched_setaffinity"):
        print(f"this system sets no processors: some engines may have more than {threads} threads")
        return
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) > threads:
        os.sched_setaffinity(0, processors[:threads])
        os.execv(sys.executable, [sys.executable, *sys.argv])
