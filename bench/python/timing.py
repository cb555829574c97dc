"""Times of calls, and tables of jobs whose engines take turns."""

import argparse
import gc
import os
import sys
import time

import numpy as np

#: Pause before a call that is timed after a pause.
PAUSE = 0.005
#: Seconds of one turn of an engine: long enough for its threads to wake.
TURN = 0.03
#: Seconds of one measurement; shorter calls are repeated.
MEASURED = 0.002


def best(call, seconds=0.2):
    """The shortest mean of 20 calls, in microseconds."""
    shortest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(20):
            call()
        shortest = min(shortest, (time.perf_counter() - start) / 20)
    return shortest * 1e6


def rested(call, calls=40):
    """The median of calls after pauses, in microseconds."""
    times = []
    for _ in range(calls):
        time.sleep(PAUSE)
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[calls // 2] * 1e6


def best_in_turns(calls, clock, seconds):
    """The shortest time of each call in milliseconds. The calls take turns, so other work slows all alike.

    A call has turns until it has taken `seconds`, so one that is longer has a single turn.
    """
    shortest, repeats, left = {}, {}, {}
    for name, call in calls.items():
        start, before = clock(), time.perf_counter()
        call()
        taken = time.perf_counter() - before
        shortest[name], left[name] = clock() - start, seconds - taken
        repeats[name] = max(1, round(MEASURED / taken))
    while any(rest > 0 for rest in left.values()):
        for name in [name for name, rest in left.items() if rest > 0]:
            begin = time.perf_counter()
            while time.perf_counter() - begin < TURN:
                start = clock()
                for _ in range(repeats[name]):
                    calls[name]()
                shortest[name] = min(shortest[name], (clock() - start) / repeats[name])
            left[name] -= time.perf_counter() - begin
    return {name: 1e3 * taken for name, taken in shortest.items()}


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


def leaves(result):
    return [np.asarray(part) for part in (result if isinstance(result, (tuple, list)) else [result])]


def check(job, engine, expected, found, tolerance):
    """Ends the program if an engine's results differ from those of indim."""
    for left, right in zip(leaves(expected), leaves(found), strict=True):
        wide = np.complex128 if left.dtype.kind == "c" else np.float64
        left, right = left.astype(wide).ravel(), right.astype(wide).ravel()
        if left.shape != right.shape:
            sys.exit(f"{job}: {engine} has {right.size} elements, indim {left.size}")
        scale = np.abs(left[np.isfinite(left)]).max(initial=0)
        if not np.allclose(left, right, rtol=0, atol=tolerance * scale, equal_nan=True):
            sys.exit(f"{job}: {engine} differs from indim by {np.nanmax(np.abs(left - right))} of {scale}")


def number(value):
    if value is None:
        return "–"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def run(jobs, engines, options):
    clock = time.process_time if options.processor_time else time.perf_counter
    print(f"| job | {' | '.join(engines)} | to the fastest peer | aim |")
    print("|---" * (len(engines) + 3) + "|")
    for name, (function, aim, checked, tolerance) in jobs.made.items():
        if options.job and not any(part in name for part in options.job):
            continue
        calls = {engine: call for engine, call in function().items() if call is not None}
        expected = checked(calls["indim"]())
        for engine, call in calls.items():
            check(name, engine, expected, checked(call()), tolerance)
        times = best_in_turns(calls, clock, options.seconds)
        own, peers = times["indim"], {engine: taken for engine, taken in times.items() if engine != "indim"}
        fastest = min(peers, key=peers.get) if peers else None
        ratio = f"{own / peers[fastest]:.2f} {fastest}" if peers else "–"
        cells = " | ".join(number(times.get(engine)) for engine in engines)
        print(f"| {name} | {cells} | {ratio} | {number(aim)} |", flush=True)
        del calls, expected
        gc.collect()


def options(text):
    """The options of a program that prints a table."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="threads of each engine (2)")
    parser.add_argument("--job", action="append", metavar="NAME", help="only jobs with this part of a name")
    parser.add_argument("--processor-time", action="store_true", help="measures processor time")
    parser.add_argument("--seconds", type=float, default=0.5, help="time of each engine for a job (0.5)")
    chosen = parser.parse_args()
    limit_processors(chosen.threads)
    return chosen


def limit_processors(threads):
    """Starts this program again on as many processors: libraries count them when they are loaded."""
    if not hasattr(os, "sched_setaffinity"):
        print(f"this system sets no processors: some engines may have more than {threads} threads")
        return
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) > threads:
        os.sched_setaffinity(0, processors[:threads])
        os.execv(sys.executable, [sys.executable, *sys.argv])
