"""Helpers of the scripts that ask the real systems: writing a corpus, and values as JSON."""

import json
import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent


def operand(shape, dtype="f32", data=None):
    one = {"dtype": dtype, "shape": list(shape)}
    return one if data is None else {**one, "data": data}


def number(value, dtype):
    """One element as the oracle reads and writes it."""
    if dtype == "bool":
        return bool(value)
    if dtype[0] in "iu":
        return int(value)
    if dtype[0] == "c":
        part = {"c64": "f32", "c128": "f64"}[dtype]
        return [number(value.real, part), number(value.imag, part)]
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    # `str` of a NumPy float is the shortest decimal that reads back as that type.
    return float(str(value))


def numbers(array, dtype):
    return [number(value, dtype) for value in array.reshape(-1)]


def check_model(pairs):
    """Stops where the real system and `rules_model.py` differ: one of them must be explained first."""
    from rules_model import verdict

    for case, real in pairs:
        model = verdict(case)
        assert all(model.get(key) == value for key, value in real.items()), (case, real, model)


def merged(case, real):
    """The real system's answer, with the maps, code and label that the rules give."""
    from rules_model import verdict

    return {**verdict(case), **real}


def pick(pairs, count, seed=0):
    """A sample in which every kind of answer has its share."""
    kinds = {}
    for case, expected in pairs:
        kind = (case["rule"], case.get("op"), expected.get("code"), expected.get("rule"))
        kinds.setdefault(kind, []).append((case, expected))
    share = max(1, count // len(kinds))
    source = random.Random(seed)
    sample = []
    for _, members in sorted(kinds.items(), key=lambda item: str(item[0])):
        sample += source.sample(members, min(share, len(members)))
    return sample


def write(name, pairs):
    """One line a case: `{"case": ..., "expect": ...}`."""
    path = HERE / f"{name}.jsonl"
    with path.open("w") as file:
        for case, expected in pairs:
            expected = {key: value for key, value in expected.items() if value is not None}
            line = json.dumps({"case": case, "expect": expected}, separators=(",", ":"))
            file.write(line + "\n")
    print(path.name, len(pairs), "cases", path.stat().st_size, "bytes")
