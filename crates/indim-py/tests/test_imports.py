"""First imports of the package by several threads."""

import subprocess
import sys
from pathlib import Path

import pytest

import indim

PACKAGE = Path(indim.__file__).parent
PUBLIC = [path for path in PACKAGE.rglob("*.py") if path.stem == "__init__" or path.stem[0] != "_"]
#: The files of public modules, but for that of the package and of numexpr's tests.
FILES = [path for path in PUBLIC if path not in (PACKAGE / "__init__.py", PACKAGE / "numexpr_tests.py")]

#: Imports the package in one thread, and a module of it in another one as soon as the first one has begun.
PROGRAM = """
import importlib, sys, threading

failures = []

def load(name, waits):
    while waits and "indim" not in sys.modules:
        pass
    try:
        importlib.import_module(name)
    except BaseException as error:
        failures.append(error)

sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=load, args=given) for given in (("indim", False), (sys.argv[1], True))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
import indim
assert not failures and indim.evaluate("x + 1", x=1.0) == 2.0, failures
"""


@pytest.mark.parametrize("module", ["indim.scipy.special", "indim.fft", "indim.lax", "indim.numexpr"])
def test_two_threads_import_the_package_and_a_module(module):
    program = subprocess.run([sys.executable, "-c", PROGRAM, module], capture_output=True, text=True)
    assert program.returncode == 0, program.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_module_waits_for_the_package(path):
    imports = [line for line in path.read_text().splitlines() if line.startswith(("import ", "from ."))]
    assert imports[0].startswith("import indim as _package")
