"""The type stubs are up to date, and a type checker takes them."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_stubs_are_up_to_date():
    ran = subprocess.run([sys.executable, ROOT / "make_stubs.py", "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_mypy_takes_the_stubs(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import indim\n"
        "@indim.jit(static='k')\n"
        "def f(x: object, k: int) -> object:\n"
        "    return x\n"
        "f.explain('f32[2]', 1).svg.upper()\n"
        "indim.xla.add(np.ones(2), 1.0, broadcast_dimensions=(0,))\n"
        "indim.evaluate('a', order='K').shape\n"
    )
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    program.write_text("import indim\nindim.evaluate('a', order='Z')\n")
    ran = subprocess.run([sys.executable, "-m", "mypy", program], capture_output=True, text=True)
    assert ran.returncode != 0


def test_mypy_takes_the_examples():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    # Strict, but that the examples are scripts without annotations.
    command = [sys.executable, "-m", "mypy", "--check-untyped-defs", "--ignore-missing-imports", ROOT / "examples"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
