"""Times of calls: alone, after pauses, and of engines that take turns."""

import time

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


def best_in_turns(calls, first, clock, seconds):
    """The shortest time of each call in seconds. The calls take turns, so other work slows all alike.

    `first` has the time of a call of each that was made before. A call has turns until it has taken
    `seconds`, so one that is longer is not repeated.
    """
    shortest, repeats, left = dict(first), {}, {}
    for name, call in calls.items():
        repeats[name], left[name] = 1, 0
        if first[name] < seconds:
            before = time.perf_counter()
            call()
            taken = time.perf_counter() - before
            repeats[name], left[name] = max(1, round(MEASURED / taken)), seconds - taken
    while any(rest > 0 for rest in left.values()):
        for name in [name for name, rest in left.items() if rest > 0]:
            begin = time.perf_counter()
            while time.perf_counter() - begin < min(TURN, left[name]):
                start = clock()
                for _ in range(repeats[name]):
                    calls[name]()
                shortest[name] = min(shortest[name], (clock() - start) / repeats[name])
            left[name] -= time.perf_counter() - begin
    return shortest
