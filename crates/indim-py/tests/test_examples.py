"""The examples run, and code in the documentation has the results that it shows."""

import doctest
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import indim._jit

HERE = Path(__file__).parent
CLUSTER = "docs/from-one-core-to-a-cluster.md"
EXAMPLES = sorted((HERE.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path, monkeypatch, capsys):
    for package in ("matplotlib", "distributed", "xarray", "zarr"):
        if package in path.read_text():
            pytest.importorskip(package)
    monkeypatch.setattr("sys.argv", [str(path), str(tmp_path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


def test_examples_of_docstrings():
    assert doctest.testmod(indim._jit).failed == 0


PAGES = {
    "docs/python.md": (5, ()),
    "docs/lint.md": (1, ()),
    "README.md": (2, ()),
    CLUSTER: (6, ("dask.array", "xarray", "pandas", "cubed")),
}


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_the_documentation(page):
    min_blocks, packages = PAGES[page]
    for package in packages:
        pytest.importorskip(package)
    path = HERE.parents[2] / page
    if not path.exists():
        pytest.skip("the package is tested without the repository")
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= min_blocks
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=options)
    names = {"np": np, "indim": indim}
    for number, block in enumerate(blocks):
        test = parser.get_doctest(block, {}, f"{page}, block {number}", str(path), 0)
        # The blocks are one session, in the order of reading.
        test.globs = names
        runner.run(test, clear_globs=False)
    assert runner.summarize().failed == 0
