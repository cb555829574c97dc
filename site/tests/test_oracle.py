"""Random rules: what the page says of each is what `indim oracle` says."""

import json
import random
import subprocess
import urllib.parse

from conftest import ROOT

CASES = 240
RULES = {
    "as-written": ["dims", "axis"],
    "none": [],
    "numpy": [],
    "xla": ["dims"],
    "stablehlo": [],
    "pdpd": ["axis"],
    "onnx-legacy": ["axis", "broadcast"],
    "unidirectional": ["target"],
    "bidirectional": ["target"],
    "explicit": ["dims", "target"],
    "pdpd-broadcast": ["axis", "target"],
    "xla-broadcast": ["target"],
    "xla-broadcast-in-dim": ["dims", "target"],
    "stablehlo-broadcast-in-dim": ["dims", "target"],
    "hlo-broadcast": ["dims", "target"],
}


def sizes(chance, rank):
    return [chance.choice([1, 1, 2, 3, 5, 0]) for _ in range(rank)]


def random_case(chance):
    """A case, legal about half of the time: an operand takes some axes of another, some as 1."""
    rule = chance.choice(list(RULES))
    large = sizes(chance, chance.randint(0, 4))
    axes = sorted(chance.sample(range(len(large)), chance.randint(0, len(large))))
    small = [chance.choice([large[axis]] * 3 + [1]) for axis in axes]
    if chance.random() < 0.15:
        small = sizes(chance, chance.randint(0, 3))
    case = {"rule": rule}
    taken = RULES[rule]
    if "target" in taken:
        case["target"] = large
        shapes = [small]
    else:
        shapes = [large, small] if chance.random() < 0.8 else [small, large]
        if rule in ("numpy", "none", "pdpd") and chance.random() < 0.2:
            shapes.append(sizes(chance, 1))
    if "dims" in taken and chance.random() < 0.85:
        case["dims"] = axes if chance.random() < 0.8 else [chance.randint(-1, 4) for _ in small]
    if "axis" in taken and "dims" not in case and chance.random() < 0.7:
        case["axis"] = axes[0] if axes and chance.random() < 0.8 else chance.randint(-2, 4)
    if "broadcast" in taken and chance.random() < 0.3:
        case["broadcast"] = chance.randint(0, 1)
    case["operands"] = [{"shape": shape} for shape in shapes]
    return case


def fields(case):
    """The case as the page has it in its address."""

    def listed(numbers):
        return ",".join(map(str, numbers))

    pairs = [("rule", case["rule"])]
    names = "xvw"
    for name, operand in zip(names, case["operands"]):
        pairs.append(("o", f"{name}:[{listed(operand['shape'])}]"))
    if "dims" in case:
        pairs.append(("dims", listed(case["dims"])))
    if "target" in case:
        pairs.append(("target", f"[{listed(case['target'])}]"))
    pairs += [(name, str(case[name])) for name in ("axis", "broadcast") if name in case]
    return urllib.parse.urlencode(pairs)


def verdicts(cases):
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    command = [ROOT / "target/debug/indim", "oracle"]
    answered = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in answered.stdout.splitlines()]


def test_the_page_agrees_with_the_oracle(pages):
    chance = random.Random(7)
    cases = [random_case(chance) for _ in range(CASES)]
    expected = verdicts(cases)
    legal = sum(verdict["ok"] for verdict in expected)
    assert CASES / 4 < legal < CASES * 3 / 4
    assert {case["rule"] for case in cases} == set(RULES)
    pages.open("index.html")
    for case, verdict in zip(cases, expected):
        pages.script(
            "document.getElementById('answer').removeAttribute('data-answer'); location.hash = arguments[0]",
            fields(case),
        )
        pages.wait(lambda: pages.find("#answer").get_attribute("data-answer"))
        answer = pages.answer()
        assert answer["ok"] == verdict["ok"], (case, answer, verdict)
        if verdict["ok"]:
            assert (answer["shape"], answer["maps"]) == (verdict["shape"], verdict["maps"]), case
        else:
            assert (answer["code"], answer["label"]) == (verdict["code"], verdict["rule"]), (case, verdict)
    print(f"\n{CASES} cases, {legal} of them legal")
