"""Programs written for JAX run with indim's modules in the place of JAX's, with JAX's results."""

import json
from pathlib import Path

import indim
import indim.numpy as jnp
import numpy as np
import pytest
from jax_programs import PROGRAMS, leaves

RECORDED = json.loads((Path(__file__).parent / "recorded_jax.json").read_text())
X = np.array([[1.0, 5.0, 2.0], [4.0, 0.5, 6.0]])


def check(found, expected):
    assert len(found) == len(expected)
    for array, (shape, values) in zip(found, expected):
        assert list(np.shape(array)) == list(shape)
        np.testing.assert_allclose(np.ravel(array), values, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_for_jax(program):
    found = leaves(program(indim, jnp, indim.lax))
    check(found, [(array["shape"], array["values"]) for array in RECORDED[program.__name__]])


def test_the_record_has_all_programs():
    assert set(RECORDED) == {"jax", *(program.__name__ for program in PROGRAMS)}


def test_asarray_copies_no_array():
    x = np.arange(3.0)
    assert jnp.asarray(x) is x and jnp.asarray(x, jnp.float64) is x and jnp.asarray(x, copy=True) is not x
    assert jnp.array(x) is not x
    assert jnp.asarray([1, 2], jnp.float32).dtype == np.float32
    f = indim.jit(lambda y: y + jnp.asarray(x).at[0].set(5))
    np.testing.assert_array_equal(f(np.zeros(3)), [5, 1, 2])
    x[1:] = 7
    np.testing.assert_array_equal(f(np.zeros(3)), [5, 7, 7])
    stacked = indim.jit(lambda x: jnp.asarray([x[0], 2.0, jnp.asarray(x)[2]]))
    np.testing.assert_array_equal(stacked(x), [0, 2, 7])


def test_select_by_name():
    found = jnp.select(condlist=[X > 4, X > 1], choicelist=[X, -X], default=7.0)
    np.testing.assert_array_equal(found, np.select([X > 4, X > 1], [X, -X], 7.0))
    np.testing.assert_array_equal(jnp.select(X > 1, X, -X), np.where(X > 1, X, -X))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_record_is_that_of_the_installed_jax(program):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    found = leaves(program(jax, jax.numpy, jax.lax))
    check(found, [(array["shape"], array["values"]) for array in RECORDED[program.__name__]])


CALLS = [
    lambda np, x: np.max(x, 1),
    lambda np, x: np.min(x, 0),
    lambda np, x: np.max(x, axis=0, keepdims=True),
    lambda np, x: np.sum(x, 0, np.float32),
    lambda np, x: np.sum(a=x, axis=1),
    lambda np, x: np.std(x, ddof=1),
    lambda np, x: np.var(x, 0, None, None, 1),
    lambda np, x: np.mean(x, 0, keepdims=True),
    lambda np, x: np.clip(x, 1, None),
    lambda np, x: np.clip(x, None, 2),
    lambda np, x: np.clip(x, max=2),
    lambda np, x: np.select([x > 4, x > 1], [x, -x], 7.0),
    lambda np, x: np.average(x, axis=0, weights=np.array([1.0, 3.0])),
    lambda np, x: np.nan_to_num(np.where(x > 4, np.nan, x), True, -1.0),
    lambda np, x: np.argsort(x, axis=1, kind="stable"),
    lambda np, x: np.concatenate([x, x], -1),
    lambda np, x: np.stack((x, x), 1),
    lambda np, x: np.einsum("ij,kj->ik", x, x),
    lambda np, x: np.linalg.norm(x, axis=1),
    lambda np, x: np.tril(x) + np.triu(x, 1),
    lambda np, x: np.array([x[0, 0], 2.0, x[1].sum()]),
    lambda np, x: np.array([[x[0, 0], 1.0], [x[1, 1], 2.0]], dtype=np.float32),
    lambda np, x: np.asarray(x, dtype=np.float32),
    lambda np, x: x.astype(np.float16),
    lambda np, x: np.arange(3) * x,
    lambda np, x: np.eye(3)[0] + x,
    lambda np, x: np.zeros((2, 3), np.int32) + np.ones(3, dtype=np.int32) + np.full((2, 1), 7, np.int32),
    lambda np, x: np.linspace(0.0, 1.0, 3) + x,
    lambda np, x: np.cumsum(x, 1, np.float32),
    lambda np, x: np.take(x, np.array([2, 0]), axis=1),
    lambda np, x: np.searchsorted(np.array([1.0, 2.0, 5.0]), x),
    lambda np, x: np.dot(x, x.T),
    lambda np, x: np.round(x / 3, 1),
    lambda np, x: np.full_like(x, np.pi),
    lambda np, x: np.expand_dims(x, (0, 2)),
    lambda np, x: np.finfo(np.float32).eps * x,
    lambda np, x: x * (np.dtype(np.float32).itemsize + np.iinfo(np.int8).max),
    lambda np, x: np.logical_and(x > 1, x < 5),
    lambda np, x: np.median(x, axis=0),
    lambda np, x: np.repeat(x, 2, axis=0),
    lambda np, x: np.tile(x, (1, 2)),
    lambda np, x: np.diff(x, axis=1),
    lambda np, x: np.meshgrid(x[0], x[1])[0],
    lambda np, x: np.hstack([x, x]),
    lambda np, x: np.float32(3.0) * np.float32(2.0) + np.zeros(2, np.float32),
]


@pytest.mark.parametrize("call", CALLS)
def test_numpys_spellings(call):
    expected = call(np, X)
    for found in (call(jnp, X), indim.jit(lambda x: call(jnp, x))(X)):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert np.asarray(found).dtype == expected.dtype


def test_element_types():
    assert jnp.float32 == np.dtype("float32") and np.dtype(jnp.int8) == np.int8
    assert X.dtype == jnp.float64 and hash(jnp.bool_) == hash(np.dtype(bool))
    assert indim.jit(lambda x: jnp.float32(x))(X).dtype == np.float32
    assert indim.jit(lambda x: x if x.dtype == jnp.float64 else -x)(X)[0, 0] == 1
    assert jnp.issubdtype(jnp.float32, jnp.floating) and jnp.result_type(jnp.int8, jnp.float32) == np.float32
    assert isinstance(X, jnp.ndarray) and not isinstance(1.0, jnp.ndarray)
    assert indim.jit(lambda x: x + isinstance(x, jnp.ndarray))(X)[0, 0] == 2


def test_arrays_made_in_a_compiled_function_have_at():
    def f(x):
        table = jnp.zeros((3, 2)).at[1].set(x[0, :2]).at[0, 0].add(7)
        return table + jnp.arange(2).at[1].multiply(5) + jnp.full((2,), x[0, 0]).at[0].min(-1)

    expected = np.zeros((3, 2)) + [0, 5] + [-1, 1]
    expected[1] += X[0, :2]
    expected[0, 0] += 7
    np.testing.assert_array_equal(indim.jit(f)(X), expected)
    np.testing.assert_array_equal(indim.vmap(f)(np.stack([X, X]))[1], expected)
    gradient = indim.grad(lambda x: np.sum(f(x)))(X)
    np.testing.assert_array_equal(gradient, [[4.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    state = indim.fori_loop(0, 2, lambda i, x: x + jnp.zeros(3).at[i].set(1), X)
    np.testing.assert_array_equal(state, X + [1, 1, 0])


def test_stop_gradient():
    f = lambda x: np.sum(indim.lax.stop_gradient({"x": x})["x"] * x)
    np.testing.assert_array_equal(indim.grad(f)(X), X)
    np.testing.assert_array_equal(indim.lax.stop_gradient(X), X)
    np.testing.assert_array_equal(indim.jvp(lambda x: indim.lax.stop_gradient(x) * x, (X,), (X,))[1], X * X)


def test_names_of_lax_and_nn():
    np.testing.assert_array_equal(indim.lax.map(lambda row: row.sum(), X), X.sum(axis=1))
    np.testing.assert_array_equal(indim.lax.select(X > 2, X, -X), np.where(X > 2, X, -X))
    np.testing.assert_array_equal(indim.lax.concatenate([X, X], 1), np.concatenate([X, X], 1))
    np.testing.assert_allclose(indim.lax.rsqrt(X), 1 / np.sqrt(X))
    assert indim.lax.iota(jnp.int32, 3).dtype == np.int32
    np.testing.assert_allclose(indim.nn.softmax(X).sum(axis=-1), 1)
    np.testing.assert_allclose(indim.nn.leaky_relu(-X), -0.01 * X)
    np.testing.assert_allclose(indim.nn.log_sigmoid(X), np.log(1 / (1 + np.exp(-X))))
    np.testing.assert_allclose(indim.nn.standardize(X).mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(indim.nn.glu(X[:, :2]), (X[:, 0] / (1 + np.exp(-X[:, 1])))[:, None])
    with pytest.raises(AttributeError, match="indim.lax has no 'pmap'"):
        indim.lax.pmap
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        jnp.nothing


@pytest.mark.parametrize("name", sorted(set(indim.nn.__all__) - {"dot_product_attention", "one_hot", "glu"}))
def test_activations_of_jax(name):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    x = np.concatenate([X - 3, [[0.0, -8.0, 9.0]]])
    np.testing.assert_allclose(getattr(indim.nn, name)(x), getattr(jax.nn, name)(x), rtol=1e-6, atol=1e-12)


def test_errors_of_lax():
    lax, x = indim.lax, np.ones((2, 3))
    for call, error, message in (
        (lambda: lax.dot(x[None], x), TypeError, "see dot_general"),
        (lambda: lax.index_in_dim(x, 2), IndexError, "index 2 is out of range for axis 0 of size 2"),
        (lambda: lax.split(x, (1, 3)), ValueError, "do not make up axis 0 of 2"),
        (lambda: lax.sort([x, x], num_keys=3), ValueError, "takes 1 to 2 keys"),
        (lambda: lax.pad(x, 0.0, ((0, 0, -1), (0, 0, 0))), ValueError, "-1 elements between"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_names_of_jax_that_need_little_here():
    x = np.array([0.5, 2.0])
    value, tangent = indim.linearize(lambda x: x**3, x)
    np.testing.assert_array_equal(value, x**3)
    np.testing.assert_allclose(tangent(np.ones(2)), 3 * x**2)
    np.testing.assert_array_equal(indim.grad(indim.checkpoint(lambda x: np.sum(x * x)))(x), 2 * x)
    assert indim.remat is indim.checkpoint and isinstance(x, indim.Array) and not isinstance(2, indim.Array)
    tree = indim.device_get(indim.block_until_ready(indim.device_put({"a": [1.0, 2.0], "b": x})))
    assert tree["b"] is x and tree["a"][0] == 1
    with pytest.raises(ValueError, match="memory of the host"):
        indim.device_put(x, "gpu:0")
    f = indim.jit(lambda s, x: s + x, donate_argnums=0, inline=True)
    np.testing.assert_array_equal(f(x, x), 2 * x)
    decorated = indim.jit(donate_argnames="s", static_argnames="n")(lambda s, n: s[:n])
    np.testing.assert_array_equal(decorated(x, n=1), x[:1])
    with pytest.raises(TypeError, match="jit.. takes no backend"):
        indim.jit(lambda x: x, backend="gpu")
    last, sums = indim.lax.scan(lambda s, x: (s + x, s), 0.0, x, unroll=2)
    assert last == 2.5 and sums.tolist() == [0, 0.5]
    np.testing.assert_array_equal(indim.lax.optimization_barrier(x), x)
    np.testing.assert_allclose(indim.nn.squareplus(x, 3), (x + np.sqrt(x * x + 3)) / 2)


def test_types_of_results_without_a_run():
    Struct = indim.ShapeDtypeStruct

    def function(x, n):
        return {"a": x @ x.T, "b": (n * x.sum(axis=0), None)}

    found = indim.eval_shape(function, Struct((3, 4), np.float32), n=2)
    assert found == {"a": Struct((3, 3), "f4"), "b": (Struct((4,), jnp.float32), None)}
    assert found["a"].ndim == 2 and found["a"].size == 9 and len({found["a"], Struct((3, 3), "f4")}) == 1
    assert indim.eval_shape(function, X, 2)["a"].dtype == np.float64
    # An array of this size would not fit into memory.
    assert indim.eval_shape(lambda x: x + 1, Struct((1 << 40,), "f8")).shape == (1 << 40,)
    nested = indim.jit(lambda x: x[0, 0] * 0 + indim.eval_shape(lambda y: y.T, x).shape[0])
    assert int(nested(X)) == X.shape[1]
    assert indim.typeof(2.0) == Struct((), "f8")
    assert "f64" in str(indim.make_jaxpr(lambda x: x * 2)(X))


def test_auxiliary_results_of_directional_derivatives():
    def function(x):
        return x**2, {"double": 2 * x}

    value, tangent, aux = indim.jvp(function, (X,), (X,), has_aux=True)
    np.testing.assert_allclose(tangent, 2 * X * X)
    np.testing.assert_array_equal(aux["double"], 2 * X)
    value, pullback, aux = indim.vjp(function, X, has_aux=True)
    np.testing.assert_array_equal(value, X**2)
    np.testing.assert_allclose(pullback(np.ones_like(X))[0], 2 * X)
    np.testing.assert_array_equal(aux["double"], 2 * X)
    with pytest.raises(TypeError, match="indim.jvp"):
        indim.grad(lambda x: np.sum(x), holomorphic=True)
    with pytest.raises(TypeError, match="argnums"):
        indim.grad(lambda x: np.sum(x), allow_int=True)


def test_small_names_of_jax(capsys):
    flat, tree_of = indim.flatten_util.ravel_pytree({"w": X, "b": [np.arange(3)]})
    np.testing.assert_array_equal(flat, np.concatenate([X.ravel(), [0, 1, 2]]))
    assert tree_of(flat)["b"][0].dtype == np.int64 and tree_of(flat)["w"].shape == X.shape
    with pytest.raises(ValueError, match=f"the tree has {X.size + 3} elements"):
        tree_of(flat[1:])
    structure = indim.tree.structure
    assert indim.tree.transpose(structure([0, 0]), structure((0, 0)), [(1, 2), (3, 4)]) == ([1, 3], [2, 4])
    assert indim.devices()[0].platform == indim.default_backend() == "cpu" and indim.device_count() == 1
    indim.debug.print("x is {x}", x=3)
    assert capsys.readouterr().out == "x is 3\n"
    with pytest.raises(TypeError, match="return the value"):
        indim.jit(lambda x: indim.debug.print("{}", x))(X)
    np.testing.assert_array_equal(jnp.dot(X, X.T, precision=indim.lax.Precision.HIGHEST), X @ X.T)
    np.testing.assert_array_equal(indim.lax.fori_loop(0, 3, lambda i, s: s + i, 0, unroll=True), 3)
    np.testing.assert_array_equal(indim.lax.map(lambda x: 2 * x, X, batch_size=2), 2 * X)
