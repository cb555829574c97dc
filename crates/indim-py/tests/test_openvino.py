"""Written OpenVINO IR, read and run by OpenVINO if it is installed."""

import numpy as np
import pytest

import indim

openvino = pytest.importorskip("openvino")

X = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4)
V = np.array([0.5, -1.5, 2.0], dtype=np.float32)

FUNCTIONS = {
    "broadcasts": lambda x, v: x * v[:, None] + indim.maximum(x, 0.25) - v[None, :, None],
    "only repeated": lambda x, v: indim.broadcast_to(v[:, None], (2, 3, 4)) + x.transpose(2, 1, 0).sum(),
    "views": lambda x, v: indim.concatenate([x[:, ::-1, 1:3], x[:, :, ::-3]], axis=2) * v[:, None],
    "reductions": lambda x, v: x.max(axis=(0, 2)) + x.mean(axis=(0, 2)) * v + x.sum(axis=-1)[0],
    "softmax": lambda x, v: indim.softmax(x, axis=1) * v[:, None],
    "activations": lambda x, v: indim.gelu(x) + indim.elu(x) + indim.softplus(x) * indim.hard_swish(x),
    "composed": lambda x, v: (
        indim.expm1(x) + indim.log1p(x * x) + indim.hypot(x, v[:, None]) + indim.trunc(x)
    ),
    "products": lambda x, v: x @ x.transpose(0, 2, 1) @ v + indim.einsum("bij,i->bj", x, v)[:, :3],
    "conditions": lambda x, v: indim.where((x > v[:, None]) & ~(x == 0), x, indim.floor(x)),
}

I = np.array([1, -1, 9, 0, 1], dtype=np.int32)
U = np.linspace(2, -2, 5, dtype=np.float32)

INDEXED = {
    "gathers": lambda x, i, u: indim.take(x, i, 1, mode="clip") * u[:, None],
    "gathers modulo the size": lambda x, i, u: indim.take(x, i, 2, mode="wrap") + u,
    "sums": lambda x, i, u: indim.at(x[1, :, 0])[i].add(u, mode="drop"),
    "sums of rows": lambda x, i, u: indim.at(x[0])[i].add(u[:, None], mode="wrap"),
    "products": lambda x, i, u: indim.scatter_mul(x[0], i, u[None, :], axis=1, mode="clip"),
    "extremes": lambda x, i, u: indim.at(x[0])[i].max(u[:, None], mode="drop"),
    "replaced": lambda x, i, u: indim.at(x[0])[i[:2]].set(u[:2, None]),
    "dynamic slices": lambda x, i, u: indim.dynamic_update_slice(x, x[:1, :2] * 2, i[:3])
    + indim.dynamic_slice(u, i[2:3], [1]),
    "sorts": lambda x, i, u: np.sort(x, axis=1) + np.argsort(x, axis=-1).astype(np.float32),
    "descending": lambda x, i, u: indim.sort(x * x, axis=0, descending=True),
    "searches": lambda x, i, u: np.searchsorted(np.sort(u), x, side="right").astype(np.float32),
}


def run(model, *arrays):
    """The results of OpenVINO's reference, or of its CPU plugin if the reference lacks an operation."""
    results = [openvino.Tensor(r.get_element_type(), r.get_output_shape(0)) for r in model.get_results()]
    try:
        if model.evaluate(results, [openvino.Tensor(array) for array in arrays]):
            return [np.array(result.data) for result in results]
    except RuntimeError:
        pass
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    given = compiled(list(arrays))
    return [np.array(given[output]) for output in compiled.outputs]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_openvino_computes_what_was_written(name, tmp_path):
    function = indim.jit(FUNCTIONS[name])
    path = tmp_path / "model.xml"
    function.export("openvino", "f32[2, 3, 4]", "f32[3]", path=path)
    model = openvino.Core().read_model(path)
    (result,) = run(model, X, V)
    expected = function(X, V)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", INDEXED)
def test_openvino_finds_the_same_elements(name, tmp_path):
    function = indim.jit(INDEXED[name])
    path = tmp_path / "model.xml"
    function.export("openvino", "f32[2, 3, 4]", "i32[5]", "f32[5]", path=path)
    compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    result = np.array(compiled([X, I, U])[compiled.outputs[0]])
    expected = function(X, I, U)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
