"""The type stubs are up to date, and type checkers accept and refuse the right programs."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "tests" / "typing"


def test_stubs_are_up_to_date():
    ran = subprocess.run([sys.executable, ROOT / "make_stubs.py", "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def mypy(*arguments):
    """The lines with errors by file name, and the output."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments], capture_output=True, text=True, cwd=PROGRAMS
    )
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    found = re.findall(r"^(.+?):(\d+): error", ran.stdout, flags=re.MULTILINE)
    return {(Path(name).name, int(line)) for name, line in found}, ran.stdout


def pyright(*arguments):
    """The same for pyright."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", *arguments]
    # Its first run downloads its parts, which needs a network.
    ran = subprocess.run(command, capture_output=True, text=True, cwd=PROGRAMS, timeout=600)
    if ran.returncode not in (0, 1) or not ran.stdout.startswith("{"):
        pytest.skip(f"pyright cannot be run: {ran.stderr[-300:]}")
    found = json.loads(ran.stdout)["generalDiagnostics"]
    errors = [problem for problem in found if problem["severity"] == "error"]
    return {(Path(p["file"]).name, p["range"]["start"]["line"] + 1) for p in errors}, ran.stdout


CHECKERS = [lambda *names: mypy("--strict", *names), pyright]


@pytest.mark.parametrize("check", CHECKERS, ids=["mypy", "pyright"])
def test_type_checkers_take_what_is_right_and_refuse_the_rest(check):
    marked = (PROGRAMS / "refused.py").read_text().splitlines()
    expected = {("refused.py", number) for number, line in enumerate(marked, 1) if "# refused" in line}
    assert len(expected) > 20
    found, printed = check("accepted.py", "refused.py")
    assert found == expected, (
        f"missing {sorted(expected - found)}, wrong {sorted(found - expected)}\n{printed}"
    )


def test_mypy_takes_the_stubs_themselves():
    # The stubs of the source: mypy refuses the installed ones, which are in a folder with modules of its own.
    stubs = sorted(str(path) for path in (ROOT / "python" / "indim").glob("*.pyi"))
    assert len(stubs) > 5
    found, printed = mypy("--strict", *stubs)
    assert not found, printed


def test_mypy_takes_the_examples():
    # Strict, except that the examples have no annotations.
    found, printed = mypy("--check-untyped-defs", "--ignore-missing-imports", str(ROOT / "examples"))
    assert not found, printed
