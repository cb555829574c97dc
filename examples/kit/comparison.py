"""Shared by the runners: each case of a kit is run, and its result is compared with the expected one."""

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np

Run = Callable[[Path, list[np.ndarray]], np.ndarray]


def compare_kit(kit: Path, run: Run) -> int:
    """Print counts and the cases that differ; 1 if there are any."""
    counts: Counter[str] = Counter()
    worker = Worker(run)
    for line in (kit / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        folder = kit / f"{case['case']['id']:04}"
        outcome, detail = compare_case(folder, case, worker)
        counts[outcome] += 1
        if not outcome.startswith("agrees"):
            print(f"{folder.name}: {outcome}{detail}\n    {described(case)}")
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return int(any(not outcome.startswith("agrees") for outcome in counts))


class Worker:
    """Runs cases in a child process, because a program may crash it."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.pool = ProcessPoolExecutor(1)

    def __call__(self, folder: Path, inputs: list[np.ndarray]) -> np.ndarray:
        try:
            return self.pool.submit(self.run, folder, inputs).result()
        except BrokenProcessPool:
            self.pool = ProcessPoolExecutor(1)
            raise


def compare_case(folder: Path, case: dict, run: Run) -> tuple[str, str]:
    """The outcome of a case, and its explanation."""
    is_legal = case["expected"]["ok"]
    # The operands of an illegal case are not in its folder.
    inputs = [array_of(operand) for operand in case["case"]["operands"]]
    try:
        found = run(folder, inputs)
    except BrokenProcessPool:
        return "crashes", f" on a {'legal' if is_legal else 'illegal'} case"
    except Exception as error:  # noqa: BLE001, each program has its own
        words = " ".join(str(error).split())[-300:]
        return ("refuses a legal case", f": {words}") if is_legal else ("agrees: refused", "")
    if not is_legal:
        label = case["expected"].get("rule") or case["expected"]["code"]
        return f"takes an illegal case ({label})", f", result {list(found.shape)}"
    expected = np.load(folder / "expected_0.npy")
    if found.shape != expected.shape:
        return "another shape", f": {list(found.shape)}, expected {list(expected.shape)}"
    if not np.array_equal(found, expected):
        return "other elements", f": {int((found != expected).sum())} of {expected.size}"
    return "agrees: equal", ""


def array_of(operand: dict) -> np.ndarray:
    dtype = {"f32": np.float32, "i32": np.int32, "bool": np.bool_}[operand["dtype"]]
    return np.array(operand["data"], dtype).reshape(operand["shape"])


def described(case: dict) -> str:
    """The case without its data."""
    words = {key: value for key, value in case["case"].items() if key not in ("id", "operands")}
    operands = [f"{operand['dtype']}{operand['shape']}" for operand in case["case"]["operands"]]
    return " ".join([*(f"{key}={value}" for key, value in words.items()), *operands])
