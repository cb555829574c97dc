"""numexpr's own tests with `indim.numexpr` in its place: `python -m indim.numexpr_tests`.

It needs numexpr and pytest. Arguments go to pytest: `-k "not moderate and not aggressive"` omits repetitions
that differ in an option without effect here. The status is 1 if a test fails for an unknown reason.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

#: Reasons of failures, with the names of the tests; docs/python.md explains them.
REASONS = {
    "strings are not supported": r"test_str_contains_\w+|test_null_chars|test_empty_string\d|test_compare_\w+"
    r"|test_add_(string|numeric)_array",
    "reductions: negative axes are axes": "test_axis",
    "the virtual machine's instructions and constants": "test_disassemble|test_r0_reuse"
    "|test_constant_deduplication|test_nan_constant|test_reductions",
    "types: small integers stay small": "test_small_(int|uint32)",
    "errors: other classes": "test_validate_syntax|test_no_sanitize",
    "text: quotes, `and`, `or`, `not` and calls such as `fmod(a)` are errors": "test_sanitize"
    "|test_boolean_operator|test_ex_uses_vml",
    "threads: numexpr's environment variables": r"test_(omp_num|numexpr_num|numexpr_max|max)_threads\w*",
}

#: A package `numexpr` that is `indim.numexpr`.
STAND_IN = """
import sys

from indim import numexpr
from indim.numexpr import expressions, necompiler, utils

sys.modules.update({
    "numexpr": numexpr,
    "numexpr.expressions": expressions,
    "numexpr.necompiler": necompiler,
    "numexpr.utils": utils,
})
"""

#: The test that is repeated for every expression, type and option.
REPEATED = "test_expressions"


class Outcome:
    """The outcome of the tests."""

    def __init__(self, report):
        cases = xml.etree.ElementTree.parse(report).iter("testcase")
        #: ``(name without parameters, whether it failed)`` of each test.
        self.tests = [
            (
                case.get("name").partition("[")[0],
                case.find("failure") is not None or case.find("error") is not None,
            )
            for case in cases
            if case.find("skipped") is None
        ]

    def count(self, *, is_repeated=None, has_failed=None):
        """The number of tests that are so; ``None`` means either."""
        return sum(
            (is_repeated is None or (name == REPEATED) is is_repeated)
            and (has_failed is None or failed is has_failed)
            for name, failed in self.tests
        )

    def failures(self):
        """The names of the failed tests by reason; ``None`` is an unknown reason."""
        found = {}
        for name, failed in self.tests:
            if failed:
                reasons = [reason for reason, names in REASONS.items() if re.fullmatch(names, name)]
                found.setdefault(reasons[0] if reasons else None, []).append(name)
        return found

    def __str__(self):
        lines = [
            f"{len(self.tests)} tests: {self.count(has_failed=False)} pass, {self.count(has_failed=True)} "
            f"fail",
            f"  {REPEATED}, repeated for {self.count(is_repeated=True)} expressions, types and options: "
            f"{self.count(is_repeated=True, has_failed=True)} fail",
            f"  {self.count(is_repeated=False)} others: {self.count(is_repeated=False, has_failed=True)} "
            f"fail",
        ]
        for reason, names in self.failures().items():
            lines.append(f"{reason or 'for no known reason'} ({len(names)})")
            lines.extend(f"  {name}" for name in sorted(set(names)))
        return "\n".join(lines)


def run(arguments=()):
    """Runs the tests; returns their outcome and the output of pytest."""
    tests = Path(importlib.util.find_spec("numexpr").origin).parent / "tests" / "test_numexpr.py"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "numexpr").mkdir()
        (Path(folder) / "numexpr" / "__init__.py").write_text(STAND_IN)
        (Path(folder) / "test_theirs.py").write_bytes(tests.read_bytes())
        path = os.pathsep.join([folder, *filter(None, sys.path)])
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--junitxml",
            "report.xml",
            *arguments,
        ]
        ran = subprocess.run(
            [*command, "test_theirs.py"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Outcome(Path(folder) / "report.xml"), ran.stdout


def main():
    """Prints the outcome."""
    missing = [name for name in ("numexpr", "pytest") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{' and '.join(missing)} must be installed: pip install numexpr pytest", file=sys.stderr)
        return 2
    outcome, printed = run(sys.argv[1:])
    unknown = outcome.failures().get(None)
    if unknown or not outcome.tests:
        print(printed)
    print(outcome)
    return 1 if unknown or not outcome.tests else 0


if __name__ == "__main__":
    sys.exit(main())
