"""The public names of the package, and their signatures, are those that `api.txt` records."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_public_api_is_the_recorded_one():
    ran = subprocess.run([sys.executable, ROOT / "make_api.py", "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_record_has_functions_classes_and_their_parameters():
    lines = (ROOT / "tests" / "api.txt").read_text().splitlines()
    assert "[indim]" in lines and "[indim.numexpr]" in lines
    assert any(line.startswith("evaluate(") and "out=None" in line for line in lines)
    assert any(line.startswith("class IndimError(") for line in lines)
    assert len(lines) > 500


def test_indim_is_imported_without_docstrings():
    ran = subprocess.run([sys.executable, "-OO", "-c", "import indim"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
