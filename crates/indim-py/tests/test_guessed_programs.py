"""Programs that a user guesses from the front page, without reading further."""

import functools
import importlib.util
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import indim


@pytest.fixture(autouse=True)
def no_warnings():
    """Deprecated names are errors: the programs use the current ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        yield


def test_numpy_in_and_out():
    x = np.arange(12.0).reshape(3, 4)
    bias = np.array([1.0, 2.0, 3.0])
    result = indim.add(x[:, ::2], bias, broadcast_dimensions=(0,))
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, x[:, ::2] + bias[:, None])
    out = np.empty((4, 3))
    assert indim.evaluate("2 * t + bias", t=x.T, out=out) is out
    np.testing.assert_array_equal(out, 2 * x.T + bias)
    np.testing.assert_array_equal(indim.xla.mul(x, bias, broadcast_dimensions=[0]), x * bias[:, None])
    np.testing.assert_array_equal(indim.pdpd.add(x, bias, axis=0), x + bias[:, None])
    np.testing.assert_array_equal(indim.max(x, axis=1), x.max(axis=1))
    np.testing.assert_array_equal(
        indim.evaluate("add(x, bias, broadcast_dimensions=[0])"), indim.evaluate("add(x, bias, dims=[0])")
    )


def test_jit_with_a_static_argument():
    @functools.partial(indim.jit, static_argnames=("axis", "mode"))
    def normalise(x, axis, mode="std"):
        centred = x - x.mean(axis=axis, keepdims=True)
        return centred / x.std(axis=axis, keepdims=True) if mode == "std" else centred

    @indim.jit(static_argnames="mode")
    def by_mode(x, mode):
        return x * 2 if mode == "double" else -x

    x = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(normalise(x, 0), (x - x.mean(0)) / x.std(0))
    np.testing.assert_allclose(normalise(x, axis=1, mode="none"), x - x.mean(1, keepdims=True))
    np.testing.assert_array_equal(by_mode(x, "double"), 2 * x)
    np.testing.assert_array_equal(by_mode(x, mode="other"), -x)
    np.testing.assert_array_equal(indim.jit(by_mode.__wrapped__, static_argnums=1)(x, "double"), 2 * x)
    np.testing.assert_array_equal(indim.jit(by_mode.__wrapped__, static="mode")(x, "other"), -x)


def test_gradients():
    def loss(parameters, x, y):
        return np.mean((x @ parameters["w"] + parameters["b"] - y) ** 2)

    x, y = np.array([1.0, 2.0, 4.0]), 3.0
    parameters = {"w": np.zeros(3), "b": 1.0}
    value, gradient = indim.value_and_grad(loss)(parameters, x, y)
    assert float(value) == 4.0
    np.testing.assert_array_equal(gradient["w"], -4 * x)
    assert float(gradient["b"]) == -4.0
    np.testing.assert_array_equal(indim.grad(lambda v: np.sum(v**3))(x), 3 * x**2)
    np.testing.assert_array_equal(indim.jit(indim.grad(lambda v: np.sum(v**3)))(x), 3 * x**2)


@pytest.mark.parametrize("time", ["time", "time (days)", "Zeit, in Tagen", "1st"])
def test_xarray_with_named_axes(time):
    xr = pytest.importorskip("xarray")
    data = np.random.default_rng(1).normal(size=(4, 3))
    t = xr.DataArray(data, dims=(time, "lat"), coords={"lat": [10.0, 20.0, 30.0]}, name="t")
    mean = indim.mean(t, axis=time)
    assert mean.dims == ("lat",)
    xr.testing.assert_allclose(mean, t.mean(time))
    xr.testing.assert_allclose(indim.max(t, axis=[time, "lat"]), t.max())
    xr.testing.assert_allclose(indim.softmax(t, axis=time).sum(time), xr.ones_like(t[0]))
    xr.testing.assert_allclose(indim.sub(t, mean), t - t.mean(time))
    xr.testing.assert_allclose(indim.jit(lambda t: t - t.mean(time))(t), t - t.mean(time))
    xr.testing.assert_allclose(indim.jit(lambda t: t - indim.mean(t, axis=time))(t), t - t.mean(time))
    chunked = t.chunk({"lat": 1}) if importlib.util.find_spec("dask") else t
    xr.testing.assert_allclose(indim.mean(chunked, axis=time).compute(), t.mean(time))
    with pytest.raises(indim.ShapeError, match="depth"):
        indim.mean(t, axis="depth")


def test_a_program_for_numexpr():
    import indim.numexpr as ne

    a, b = np.arange(1e4), np.arange(1e4) + 1
    np.testing.assert_array_equal(ne.evaluate("a*b - 4.1*a > 2.5*b"), a * b - 4.1 * a > 2.5 * b)
    np.testing.assert_array_equal(ne.evaluate("2*a + 3*b"), 2 * a + 3 * b)
    a = a[:10]
    b = b[:10]
    np.testing.assert_array_equal(ne.re_evaluate(), 2 * a + 3 * b)
    assert ne.validate("a + b") is None and ne.validate("a + c") is not None
    before = ne.set_num_threads(ne.detect_number_of_cores())
    assert ne.set_num_threads(before) == ne.nthreads or ne.nthreads == before
    assert ne.ncores == ne.detect_number_of_cores() and ne.get_num_threads() == before
    f = ne.NumExpr("2*a + 3*b", signature=[("a", np.float64), ("b", np.float64)])
    np.testing.assert_array_equal(f(a, b), 2 * a + 3 * b)
    np.testing.assert_array_equal(ne.NumExpr(ne.E.a + 2 * ne.E.b)(a, b), a + 2 * b)
    assert not ne.use_vml and ne.get_vml_version() is None
    from indim.numexpr.necompiler import getExprNames
    from indim.numexpr.utils import detect_number_of_threads

    assert getExprNames("b + sin(a)", {})[0] == ["a", "b"] and detect_number_of_threads() == before


def test_dask():
    da = pytest.importorskip("dask.array")
    x = da.random.default_rng(2).normal(size=(1000, 4), chunks=(256, 2))
    lazy = indim.evaluate("(x - mean(x, axis=0)) / std(x, axis=0)")
    assert isinstance(lazy, da.Array) and lazy.shape == x.shape
    y = x.compute()
    np.testing.assert_allclose(lazy.compute(), (y - y.mean(0)) / y.std(0))
    np.testing.assert_allclose(indim.jit(lambda x: np.exp(-x) + 1)(x).compute(), np.exp(-y) + 1)
    np.testing.assert_allclose(indim.sum(x, axis=0).compute(), y.sum(0))
    np.testing.assert_allclose(indim.add(x, y[0]).compute(), y + y[0])


def test_a_model_file(tmp_path):
    @indim.jit
    def scaled(x, v):
        return np.maximum(x * v, 0)

    x, v = np.float32([[1, -2, 3], [4, 5, -6]]), np.float32([1, 10, 100])
    path = tmp_path / "scaled.onnx"
    scaled.export("onnx", x, v, path=path)
    model = indim.load(path)
    assert [given.name for given in model.inputs] == ["x", "v"]
    np.testing.assert_array_equal(model(x, v), scaled(x, v))
    np.testing.assert_array_equal(model(x=x, v=v), scaled(x, v))
    assert "mul" in str(model.explain(x, v))


def test_an_error_that_is_caught():
    x, w = np.ones((2, 3)), np.ones(2)
    calls = (
        lambda: indim.evaluate("x + w", x=x, w=w),
        lambda: indim.add(x, w),
        lambda: indim.jit(lambda x, w: x + w)(x, w),
        lambda: indim.broadcast_shapes(x.shape, w.shape),
    )
    for call in calls:
        with pytest.raises(indim.ShapeError) as caught:
            call()
        error = caught.value
        assert (error.code, error.rule, error.operand, error.axis) == ("size-mismatch", "N2", 1, 0)
        assert isinstance(error, ValueError) and "broadcast_dimensions=[0]" in str(error)
    # The repair that the message offers works.
    assert indim.add(x, w, broadcast_dimensions=[0]).shape == (2, 3)
    assert indim.broadcast_shapes(x.shape, w.shape, rule="xla", broadcast_dimensions=[0]) == (2, 3)
    assert "size-mismatch" in indim.explain_error(error.code)


def test_explain():
    x, v = np.ones((2, 3)), np.ones(3)
    assert "add" in indim.explain("x + v", x=x, v=v)
    assert "add" in indim.explain("add(x, v, broadcast_dimensions=[1])", x="f64[2, 3]", v="f64[3]")
    explained = indim.explain((2, 3), (2,), broadcast_dimensions=[0])
    assert explained.svg.startswith("<svg") and explained.json
    assert str(indim.explain((2, 3), (2,), rule="pdpd", axis=0))

    @indim.jit
    def f(x, v):
        return x * v + 1

    assert "mul" in f.explain(x, v)
    f(x, v)
    assert f.explain().json["peak_bytes"] >= 0
    assert indim.explain(f, x, v) == f.explain(x, v) == indim.explain(f, x, v="f64[3]")
    with pytest.raises(TypeError, match="rules of its operations"):
        indim.explain(f, x, v, rule="xla")


def test_options():
    before = indim.set_num_threads(2)
    try:
        assert indim.get_num_threads() == 2
        x = np.ones(1 << 18)
        np.testing.assert_array_equal(indim.evaluate("x + 1"), x + 1)
    finally:
        indim.set_num_threads(before)
    indim.limit_memory(1 << 20)
    try:
        with pytest.raises(MemoryError, match="limit"):
            indim.evaluate("x + 1")
    finally:
        indim.limit_memory(None)
    program = "import indim; print(indim.get_num_threads())"
    environment = os.environ | {"INDIM_NUM_THREADS": "3", "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True)
    assert ran.stdout.split() == [b"3"], ran.stderr


# Former spellings warn.


@pytest.mark.parametrize("name", indim._NUMEXPR_NAMES)
def test_names_of_numexpr_warn_at_the_top(name):
    with pytest.warns(DeprecationWarning, match=rf"indim\.{name} is now indim\.numexpr\.{name}"):
        assert getattr(indim, name) is getattr(indim.numexpr, name)
    assert name not in indim.__all__ and name not in dir(indim)


def test_former_keywords_warn():
    x, w = np.ones((2, 3)), np.ones(2)
    shapes = x.shape, w.shape
    with pytest.warns(DeprecationWarning, match=r"now `broadcast_dimensions=`"):
        assert indim.broadcast_shapes(*shapes, rule="xla", dims=[0]) == (2, 3)
    with pytest.warns(DeprecationWarning, match=r"now `broadcast_dimensions=`"):
        assert indim.convert(*shapes, rule="xla", dims=[0], to="pdpd") == "pdpd axis=0"
    with pytest.warns(DeprecationWarning, match=r"now `broadcast_dimensions=`") as warned:
        indim.explain(*shapes, dims=[0])
    assert warned[0].filename == __file__
    for function in (indim.add, indim.max, indim.heaviside):
        with pytest.warns(DeprecationWarning, match=r"now indim\.pdpd\.\w+\(x, y, axis=\.\.\.\)") as warned:
            assert function(x, w, axis=0).shape == (2, 3)
        assert warned[0].filename == __file__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        indim.nothing
