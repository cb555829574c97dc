"""Compiled functions sent to other processes, as Ray and Beam send them: functions of the main program and
lambdas, by cloudpickle, with what they capture."""

import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import indim

cloudpickle = pytest.importorskip("cloudpickle")

#: Defines functions in `__main__`, which other processes cannot import, and sends each with a call.
SENDER = """
import sys
import cloudpickle
import numpy as np
import indim

weights = np.linspace(1, 2, 4)
x = np.arange(12.0).reshape(3, 4)

@indim.jit
def captured(x):
    return x * weights + offset

offset = 3.0

@indim.jit(static=("how", "power"))
def chosen(x, how, power=2):
    return np.mean(x, axis=0) ** power if how == "mean" else np.max(x, axis=0)

class Model:
    def __init__(self):
        self.weights = weights * 2

    @indim.jit(static="self")
    def predict(self, x):
        return x @ self.weights

    def score(self, x):
        return jitted(x) - self.predict(x)[:, None]

def loss(w, x):
    return np.sum((x @ w - 1) ** 2)

def nested(k):
    @indim.jit
    def inner(x):
        return captured(x) * k
    return inner

def tree(pair, k):
    return {"sum": pair["a"] + pair["b"], "scaled": [pair["a"] * k]}

jitted = indim.jit(lambda x: np.exp(-x) + weights)
model = Model()
calls = {
    "captured array and number": (captured, (x,)),
    "lambda": (jitted, (x,)),
    "static arguments": (chosen, (x, "mean")),
    "static argument by default": (chosen, (x, "max", 3)),
    "method": (model.predict, (x,)),
    "object with compiled functions": (model.score, (x,)),
    "grad": (indim.grad(loss), (weights, x)),
    "grad of lambda": (indim.grad(lambda w: np.sum(w * weights * w)), (weights,)),
    "value_and_grad": (indim.value_and_grad(loss), (weights, x)),
    "jit of grad": (indim.jit(indim.grad(loss, argnums=1)), (weights, x)),
    "vmap": (indim.vmap(loss, in_axes=(None, 0)), (weights, x)),
    "vmap of lambda": (indim.vmap(lambda row: row / np.sum(row * weights)), (x,)),
    "jit of vmap of grad": (indim.jit(indim.vmap(indim.grad(loss), in_axes=(None, 0))), (weights, x)),
    "hessian": (indim.hessian(loss), (weights, x)),
    "closure": (nested(5.0), (x,)),
    "containers": (indim.jit(tree), ({"a": x, "b": x + 1}, 2)),
    "vectorised loop": (indim.jit(lambda x: indim.fori_loop(0, 3, lambda i, y: y * weights, x)), (x,)),
}
# Some were called, and have programs; others have none yet.
expected = {name: function(*arguments) for name, (function, arguments) in calls.items()}
fresh = indim.jit(lambda x: x * weights)
calls["not called before"], expected["not called before"] = (fresh, (x,)), x * weights
with open(sys.argv[1], "wb") as file:
    cloudpickle.dump({name: (*call, expected[name]) for name, call in calls.items()}, file)
"""

RECEIVER = """
import pickle
import sys
import numpy as np

def leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else [value]

with open(sys.argv[1], "rb") as file:
    calls = pickle.load(file)
for name, (function, arguments, expected) in calls.items():
    for result, of_sender in zip(leaves(function(*arguments)), leaves(expected), strict=True):
        assert np.asarray(result).tobytes() == np.asarray(of_sender).tobytes(), name
    again = pickle.loads(__import__("cloudpickle").dumps(function))
    assert np.array_equal(leaves(again(*arguments))[0], leaves(expected)[0]), name
print(len(calls))
"""


def run(program, *arguments):
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_functions_of_the_main_program_run_in_a_fresh_process(tmp_path):
    path = tmp_path / "functions.pickle"
    run(SENDER, str(path))
    assert run(RECEIVER, str(path)) == "18"


def test_functions_of_labelled_arrays(tmp_path):
    xr = pytest.importorskip("xarray")
    x = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("a", "b"), coords={"b": [1, 2, 3]})
    y = x.sel(b=2)
    for function in (indim.jit(lambda x: x - x.mean("a") * y), indim.jit(lambda x: x.idxmax("b") + y)):
        again = pickle.loads(cloudpickle.dumps(function))
        xr.testing.assert_identical(again(x), function(x))
        # Programs of earlier calls are not sent.
        assert len(cloudpickle.dumps(function)) < 20_000


def test_a_pickle_has_the_captured_elements_of_its_time():
    weights = np.ones(3)
    f = indim.jit(lambda x: x * weights)
    f(np.ones(3))
    sent = cloudpickle.dumps(f)
    weights[:] = 7
    assert pickle.loads(sent)(np.ones(3)).tolist() == [1, 1, 1]
    assert f(np.ones(3)).tolist() == [7, 7, 7]


def test_the_code_of_a_function_is_that_of_the_function_as_beam_reads_it():
    for function in (square := lambda x: x * x, run):
        for compiled in (indim.jit(function), indim.vmap(function), indim.jit(indim.jit(function))):
            assert compiled.__code__ is function.__code__
    assert not hasattr(indim.jit(np.exp), "__code__")
    assert square(2) == 4


#: The examples of the page with other frameworks, by a line of each, and what they print.
EXAMPLES = {
    "import apache_beam as beam": ["1.0", "1.3"],
    "import ray": ["[0.4, 0.6, 1.0]"],
}


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_of_the_page(line):
    pytest.importorskip(line.split()[1])
    path = Path(__file__).parents[3] / "docs/from-one-core-to-a-cluster.md"
    if not path.exists():
        pytest.skip("the package is tested without the repository")
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    (block,) = [block for block in blocks if line in block.splitlines()]
    assert sorted(run(block).splitlines()) == EXAMPLES[line]
