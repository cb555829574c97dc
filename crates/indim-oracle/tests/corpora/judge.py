"""Sends cases to `indim oracle` and compares the verdicts. `INDIM` names the binary."""

import json
import math
import os
import struct
import subprocess


def ask(cases):
    """The verdicts on the cases, in order."""
    binary = os.environ.get("INDIM", "target/release/indim")
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([binary, "oracle"], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def same_shapes(expected, verdict):
    """Whether a verdict says what was expected; what is None in the expectation is open."""
    for key, value in expected.items():
        if key in ("data", "ulp") or value is None:
            continue
        given = verdict.get(key)
        if key == "maps" and given is not None:
            if not all(m is None or m == g for m, g in zip(value, given)):
                return False
        elif given != value:
            return False
    return True


def bits(value, dtype):
    """An integer that orders the floats of the type; None for a NaN."""
    value = float(value)
    if math.isnan(value):
        return None
    if dtype == "bf16":
        import ml_dtypes  # Only who compares such values needs it.

        raw, width = int(ml_dtypes.bfloat16(value).view("uint16")), 16
    else:
        form, width = {"f32": ("f", 32), "f64": ("d", 64), "f16": ("e", 16)}[dtype]
        raw = int.from_bytes(struct.pack(">" + form, value), "big")
    top = 1 << (width - 1)
    return raw if raw < top else top - raw - 1


def same_element(expected, given, dtype, ulp):
    if isinstance(expected, list):
        part = {"c64": "f32", "c128": "f64"}[dtype]
        return all(same_element(e, g, part, ulp) for e, g in zip(expected, given, strict=True))
    if dtype not in ("f16", "bf16", "f32", "f64"):
        return type(expected) is type(given) and expected == given
    a, b = bits(expected, dtype), bits(given, dtype)
    if a is None or b is None:
        return a is b
    return abs(a - b) <= ulp


def same_data(expected, verdict):
    """For each element whether it is as expected."""
    given, ulp = verdict.get("data", []), expected.get("ulp", 0)
    if len(given) != len(expected["data"]):
        return [False]
    return [same_element(e, g, verdict["dtype"], ulp) for e, g in zip(expected["data"], given)]


def differences(pairs):
    """The (case, expected, verdict) of all that disagree."""
    pairs = list(pairs)
    wrong = []
    for (case, expected), verdict in zip(pairs, ask(c for c, _ in pairs), strict=True):
        same = same_shapes(expected, verdict)
        if same and "data" in expected:
            same = all(same_data(expected, verdict))
        if not same:
            wrong.append((case, expected, verdict))
    return wrong


def known(pairs):
    """The pairs whose operation and element types the oracle evaluates; prints the others' names."""
    pairs = list(pairs)
    empty = ([{**one, "data": [], "shape": [0]} for one in case["operands"]] for case, _ in pairs)
    verdicts = ask({**case, "operands": operands} for (case, _), operands in zip(pairs, empty))
    refused = [verdict["ok"] is False for verdict in verdicts]
    names = {f"{case['op']} {case['operands'][-1]['dtype']}" for (case, _), no in zip(pairs, refused) if no}
    if names:
        print("  the oracle does not evaluate", *sorted(names), sep=", ")
    return [pair for pair, no in zip(pairs, refused) if not no]


def report(system, pairs):
    """Prints how many values agree and, of each case that differs, the first elements."""
    pairs = list(pairs)
    elements = sum(len(expected["data"]) for _, expected in pairs)
    wrong = differences(pairs)
    print(f"{system}: {len(pairs)} cases, {elements} elements, {len(wrong)} cases differ")
    for case, expected, verdict in wrong:
        print(
            "  ",
            case["op"],
            [one["dtype"] for one in case["operands"]],
            verdict.get("code"),
            verdict.get("message"),
        )
        print(
            "     ",
            json.dumps(case)[:300],
            "\n      expected",
            expected["shape"],
            "given",
            verdict.get("shape"),
        )
        places = (
            [i for i, same in enumerate(same_data(expected, verdict)) if not same]
            if "data" in verdict
            else []
        )
        is_dense = all(one["shape"] == expected["shape"] for one in case["operands"])
        for index in places[:5]:
            elements = [one["data"][index] for one in case["operands"]] if is_dense else "several shapes"
            print("      of", elements, "expected", expected["data"][index], "given", verdict["data"][index])
