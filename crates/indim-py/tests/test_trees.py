"""Trees as arguments and results: nested containers, None, named tuples, dataclasses, registered classes."""

import collections
import dataclasses
import pickle
from typing import ClassVar

import indim
import numpy as np
import pytest

X = np.array([1.0, 2.0, 3.0])
Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Layer:
    weights: object
    bias: object = None
    activation: str = dataclasses.field(default="relu", metadata={"static": True})


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object


def same(tree, expected):
    """Whether two trees have the same containers, types included, and equal arrays."""
    assert indim.tree.structure(tree) == indim.tree.structure(expected)
    for leaf, of_expected in zip(indim.tree.leaves(tree), indim.tree.leaves(expected)):
        np.testing.assert_array_equal(leaf, of_expected)


TREES = [
    {"a": X, "b": [X, (X + 1, None)]},
    Point(X, {"z": X * 2}),
    [None, Point(X, None)],
    Layer(X, X + 1, "tanh"),
    Frozen((X, [X])),
    collections.OrderedDict(b=X, a=(X, X)),
    (X, [], {}, ()),
]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: type(tree).__name__)
def test_trees_are_arguments_and_results(tree):
    double = lambda tree: indim.tree.map(lambda leaf: leaf * 2, tree)
    expected = double(tree)
    same(indim.jit(double)(tree), expected)
    same(indim.jit(lambda tree: [double(tree), None])(tree), [expected, None])
    rows = indim.tree.map(lambda leaf: np.stack([leaf, -leaf]), tree)
    same(indim.vmap(double)(rows), double(rows))
    total = lambda tree: sum(np.sum(leaf**2) for leaf in indim.tree.leaves(tree))
    same(indim.grad(total)(tree), expected)
    value, gradient = indim.jit(lambda tree: indim.value_and_grad(total)(tree))(tree)
    same(gradient, expected)
    assert value == total(tree)
    _, pullback = indim.vjp(double, tree)
    same(pullback(tree)[0], expected)
    same(indim.jvp(double, (tree,), (tree,))[1], expected)
    same(indim.fori_loop(0, 3, lambda i, tree: double(tree), tree), double(double(double(tree))))
    last, ys = indim.scan(lambda carry, row: (double(carry), row), tree, rows)
    same(last, double(double(tree)))
    same(ys, rows)
    same(indim.cond(True, double, lambda tree: tree, tree), expected)
    state = indim.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, double(s[1])), (0, tree))
    same(state[1], double(double(tree)))


def test_none_is_an_argument():
    def f(x, w=None, *, mask=None):
        y = x if w is None else x * w
        return y if mask is None else np.where(mask, y, 0)

    g = indim.jit(f)
    calls = [((X,), {}), ((X, None), {}), ((X, X), {}), ((X,), {"mask": X > 1}), ((X, X), {"mask": None})]
    for args, kwargs in calls:
        np.testing.assert_array_equal(g(*args, **kwargs), f(*args, **kwargs))
    assert g.trace_count == 3
    gradient = indim.grad(lambda x, w=None: np.sum(f(x, w)))
    np.testing.assert_array_equal(gradient(X), np.ones(3))
    np.testing.assert_array_equal(gradient(X, None), np.ones(3))
    np.testing.assert_array_equal(gradient(X, X), X)
    np.testing.assert_array_equal(indim.vmap(f, in_axes=(0, None))(X, None), X)
    np.testing.assert_array_equal(indim.vmap(f)(X, None), X)
    h = indim.jit(lambda parts: parts["x"] if parts["w"] is None else parts["x"] * parts["w"])
    np.testing.assert_array_equal(h({"x": X, "w": None}), X)
    np.testing.assert_array_equal(h({"x": X, "w": X}), X * X)
    np.testing.assert_array_equal(h({"x": X, "w": None}), X)
    assert indim.grad(lambda p: np.sum(p["x"] ** 2))({"x": X, "w": None})["w"] is None


def test_static_fields_have_a_program_for_each_value():
    @indim.jit
    def apply(layer, x):
        y = layer.weights * x
        y = y if layer.bias is None else y + layer.bias
        return np.maximum(y, 0) if layer.activation == "relu" else np.tanh(y)

    np.testing.assert_array_equal(apply(Layer(-X), X), np.zeros(3))
    np.testing.assert_allclose(apply(Layer(-X, None, "tanh"), X), np.tanh(-X * X))
    np.testing.assert_array_equal(apply(Layer(-X, X * X + 1), X), np.ones(3))
    np.testing.assert_array_equal(apply(Layer(-X), X), np.zeros(3))
    assert apply.trace_count == 3
    gradient = indim.grad(lambda layer, x: np.sum(apply(layer, x)))(Layer(X), X)
    assert isinstance(gradient, Layer) and gradient.activation == "relu" and gradient.bias is None
    np.testing.assert_array_equal(gradient.weights, X)


def test_attributes_beside_the_fields_are_not_seen():
    layer = Layer(X)
    layer.scale = 2.0
    with pytest.raises(AttributeError, match="scale"):
        indim.jit(lambda layer: layer.weights * layer.scale)(layer)


def test_a_function_in_a_static_field_is_searched_for_captured_values():
    factor = 2.0
    layer = Layer(X, None, lambda x: x * factor)
    f = indim.jit(lambda layer: layer.activation(layer.weights))
    np.testing.assert_array_equal(f(layer), X * 2)
    factor = 3.0
    np.testing.assert_array_equal(f(layer), X * 3)


def test_out_has_the_containers_of_nested_results():
    f = indim.jit(lambda x: {"a": (x, x + 1), "p": Point(x * 2, None)})
    a, p = np.empty(3), np.empty(3)
    out = {"a": (a, None), "p": Point(p, None)}
    result = f(X, out=out)
    assert result["a"][0] is a and result["p"].x is p
    np.testing.assert_array_equal(a, X)
    np.testing.assert_array_equal(result["a"][1], X + 1)
    with pytest.raises(TypeError, match="has the containers of the results"):
        f(X, out={"a": a, "p": Point(p, None)})


def test_registered_classes():
    class Pair:
        def __init__(self, first, second, name):
            self.first, self.second, self.name = first, second, name

        def tree_flatten(self):
            return (self.first, self.second), self.name

        @classmethod
        def tree_unflatten(cls, name, items):
            return cls(*items, name)

    assert indim.tree.register_pytree_node_class(Pair) is Pair
    swap = indim.jit(lambda pair: Pair(pair.second, pair.first * len(pair.name), pair.name))
    result = swap(Pair(X, X + 1, "ab"))
    assert isinstance(result, Pair) and result.name == "ab"
    np.testing.assert_array_equal(result.first, X + 1)
    np.testing.assert_array_equal(result.second, X * 2)
    np.testing.assert_array_equal(swap(Pair(X, X, "abc")).second, X * 3)
    with pytest.raises(ValueError, match="a tree already"):
        indim.tree.register_pytree_node_class(Pair)


def test_register_dataclass_makes_fields_static():
    @dataclasses.dataclass
    class Power:
        x: object
        exponent: int

    indim.tree.register_dataclass(Power, data_fields=["x"], meta_fields=["exponent"])
    assert indim.tree.leaves(Power(X, 2)) == [X] or len(indim.tree.leaves(Power(X, 2))) == 1
    f = indim.jit(lambda p: p.x**p.exponent)
    np.testing.assert_array_equal(f(Power(X, 2)), X**2)
    np.testing.assert_array_equal(f(Power(X, 3)), X**3)
    with pytest.raises(ValueError, match="the fields of .* but meta_fields"):
        indim.tree.register_dataclass(Power, data_fields=["y"], meta_fields=["exponent"])


def test_register_dataclass_changes_no_other_class():
    @dataclasses.dataclass
    class Base:
        made: ClassVar[int] = 0
        x: object
        exponent: object = 2.0

    @dataclasses.dataclass
    class Derived(Base):
        pass

    class Plain(Base):
        pass

    trees = Base(X), Derived(X), Plain(X)
    assert [len(indim.tree.leaves(tree)) for tree in trees] == [2, 2, 2]
    indim.tree.register_dataclass(Derived, data_fields=["x"], meta_fields=["exponent"])
    assert [len(indim.tree.leaves(tree)) for tree in trees] == [2, 1, 2]
    f = indim.jit(lambda p: p.x**p.exponent)
    for tree in trees:
        np.testing.assert_array_equal(f(tree), X**2)
    indim.tree.register_dataclass(Plain, data_fields=["x"], meta_fields=["exponent"])
    assert [len(indim.tree.leaves(tree)) for tree in trees] == [2, 1, 1]


def test_functions_of_trees():
    tree = {"a": 1, "b": (2, None, [3])}
    assert indim.tree.leaves(tree) == [1, 2, 3]
    assert indim.tree.map(lambda x, y: x + y, tree, tree) == {"a": 2, "b": (4, None, [6])}
    leaves, treedef = indim.tree.flatten(tree)
    assert treedef.num_leaves == 3
    assert indim.tree.unflatten(treedef, [4, 5, 6]) == {"a": 4, "b": (5, None, [6])}
    assert indim.tree.reduce(lambda x, y: x + y, tree) == 6 and indim.tree.reduce(max, tree, 10) == 10
    assert indim.tree.all({"a": True, "b": 1}) and not indim.tree.all([True, 0])
    assert indim.tree.map(len, {"a": (1, 2)}, is_leaf=lambda x: isinstance(x, tuple)) == {"a": 2}
    assert indim.tree.leaves([None, 1], is_leaf=lambda x: x is None) == [None, 1]
    assert indim.tree.map(lambda x, y: (x, y), {"a": 1}, {"a": [2, 3]}) == {"a": (1, [2, 3])}
    assert indim.tree.map(lambda x, y: y, Layer(1, 2), Layer({"w": 3}, None)) == Layer({"w": 3}, None)
    assert indim.tree.map(lambda x, y: y, {"a": 1, "b": 2}, {"b": [3], "a": 4}) == {"a": 4, "b": [3]}
    assert indim.tree.structure([1, 2]) != indim.tree.structure((1, 2))
    for other in ([1, 2], {"a": 1}, {"a": 1, "b": [2, None, [3]]}, {"a": 1, "b": (2, 5, [3])}):
        with pytest.raises(ValueError, match="trees of the same containers"):
            indim.tree.map(lambda x, y: x, tree, other)
    with pytest.raises(ValueError, match="has 3 leaves, not 2"):
        treedef.unflatten([1, 2])


def test_trees_of_batches():
    params, rows = {"w": X, "b": np.float64(2)}, np.stack([X, 2 * X])
    predict = lambda params, x: {"y": np.sum(params["w"] * x) + params["b"], "parts": (x, params["w"])}
    result = indim.vmap(predict, in_axes=(None, 0))(params, rows)
    np.testing.assert_allclose(result["y"], rows @ X + 2)
    np.testing.assert_array_equal(result["parts"][1], np.stack([X, X]))
    result = indim.vmap(predict, in_axes=(None, 0), out_axes={"y": 0, "parts": (1, None)})(params, rows)
    np.testing.assert_array_equal(result["parts"][0], rows.T)
    np.testing.assert_array_equal(result["parts"][1], X)
    with pytest.raises(ValueError, match="out_axes"):
        indim.vmap(predict, in_axes=(None, 0), out_axes={"y": 0, "parts": (1,)})(params, rows)


def test_a_text_is_an_argument_only_by_name():
    f = indim.jit(lambda x, mode: x * 2 if mode == "double" else x)
    with pytest.raises(TypeError, match="static='mode'.*static_argnames"):
        f(X, "double")
    with pytest.raises(TypeError, match="metadata"):
        indim.jit(lambda p: p.x)(Frozen("text"))
    g = indim.jit(lambda x, mode: x * 2 if mode == "double" else x, static_argnames=["mode"])
    np.testing.assert_array_equal(g(X, "double"), X * 2)
    np.testing.assert_array_equal(g(X, mode="single"), X)
    h = indim.jit(lambda x, mode: x * 2 if mode == "double" else x, static_argnums=1)
    np.testing.assert_array_equal(h(X, "double"), X * 2)


def auxiliary_loss(p, x):
    return np.sum(p["w"] * x), {"inner": p["w"] + 1, "index": np.argmax(x), "none": None}


def test_has_aux():
    p = {"w": X}
    expected = {"inner": X + 1, "index": 2, "none": None}
    for wrapped in (lambda f: f, indim.jit):
        (value, aux), gradient = wrapped(indim.value_and_grad(auxiliary_loss, has_aux=True))(p, X)
        assert value == np.sum(X * X)
        same(aux, expected)
        np.testing.assert_array_equal(gradient["w"], X)
        gradient, aux = wrapped(indim.grad(auxiliary_loss, argnums=(0, 1), has_aux=True))(p, X)
        same(aux, expected)
        np.testing.assert_array_equal(gradient[1], X)
        for jacobian in (indim.jacrev, indim.jacfwd):
            matrix, aux = wrapped(jacobian(lambda x: (x**2, {"y": x + 1}), has_aux=True))(X)
            np.testing.assert_allclose(matrix, np.diag(2 * X))
            np.testing.assert_array_equal(aux["y"], X + 1)
        matrix, aux = wrapped(indim.hessian(lambda x: (np.sum(x**3), x), has_aux=True))(X)
        np.testing.assert_allclose(matrix, np.diag(6 * X))
        np.testing.assert_array_equal(aux, X)
    again = pickle.loads(pickle.dumps(indim.grad(auxiliary_loss, has_aux=True)))
    same(again(p, X)[1], expected)
    with pytest.raises(TypeError, match="has_aux=True"):
        indim.grad(lambda x: (np.sum(x), x))(X)
    with pytest.raises(TypeError, match="returns a pair"):
        indim.grad(lambda x: np.sum(x), has_aux=True)(X)


def test_jacobians_of_containers():
    f = lambda p: {"product": p["a"] * p["b"][0], "sum": np.sum(p["a"])}
    for jacobian in (indim.jacrev, indim.jacfwd):
        found = jacobian(f)({"a": X, "b": (X + 1,)})
        np.testing.assert_allclose(found["product"]["a"], np.diag(X + 1))
        np.testing.assert_allclose(found["product"]["b"][0], np.diag(X))
        np.testing.assert_allclose(found["sum"]["a"], np.ones(3))
        np.testing.assert_allclose(found["sum"]["b"][0], np.zeros(3))
        by_x, by_y = jacobian(lambda x, y: (x * y, x), argnums=(0, 1))(X, X + 1)[0]
        np.testing.assert_allclose(by_x, np.diag(X + 1))
        np.testing.assert_allclose(by_y, np.diag(X))
    found = indim.hessian(lambda x, y: np.sum(x**2 * y), argnums=(0, 1))(X, X + 1)
    np.testing.assert_allclose(found[0][0], np.diag(2 * (X + 1)))
    np.testing.assert_allclose(found[1][0], np.diag(2 * X))
    np.testing.assert_allclose(found[1][1], np.zeros((3, 3)))


def test_keys_of_the_caller_are_their_own_text():
    # The text that JAX gives.
    assert indim.tree_util.keystr(("a", 1), simple=True, separator="/") == "a/1"


@pytest.mark.parametrize("package", ["xarray", "pandas", "dask"])
def test_trees_of_arrays_of_other_packages(package):
    library = pytest.importorskip("dask.array" if package == "dask" else package)
    make = {
        "xarray": lambda: library.DataArray(X, dims="t", coords={"t": [1, 2, 3]}),
        "pandas": lambda: library.Series(X, index=[1, 2, 3]),
        "dask": lambda: library.from_array(X, chunks=2),
    }[package]
    x = make()
    f = indim.jit(lambda layer, w=None: {"y": (layer.weights * 2 if w is None else layer.weights * w, None)})
    for args, expected in [((Layer(x),), X * 2), ((Layer(x), None), X * 2), ((Layer(x), x), X * X)]:
        result = f(*args)
        assert type(result["y"][0]) is type(x) and result["y"][1] is None
        np.testing.assert_array_equal(np.asarray(result["y"][0]), expected)


class Gas(collections.namedtuple("Gas", "T size")):
    """Its fields have the names of attributes of arrays."""


def test_tuples_of_numbers_are_trees():
    assert indim.jit(lambda gas: gas.T * 2)(Gas(300.0, 5.0)) == 600
    assert indim.jit(lambda gas: gas.size * 2)(Gas(300.0, 5.0)) == 10
    found = indim.jit(lambda pair: (pair[0] // 2, pair[1]))((7, 2.0))
    assert found == (3, 2.0) and np.asarray(found[0]).dtype == np.int64
    slopes = indim.grad(lambda gas: gas.T * gas.size)(Gas(3.0, 5.0))
    assert type(slopes) is Gas and slopes == (5, 3)
    stepped = indim.tree.map(lambda p, g: p - g, (2.0, 3.0), indim.grad(lambda p: p[0] * p[1])((2.0, 3.0)))
    assert stepped == (-1, 1)
    batch = indim.vmap(lambda pair, x: pair[0] * x, in_axes=((None, None), 0))
    np.testing.assert_array_equal(batch((2.0, 3.0), np.arange(3.0)), [0, 2, 4])
    _, pullback = indim.vjp(lambda x, y: (x * y, x + y), 2.0, 3.0)
    assert pullback((1.0, 10.0)) == (13, 12)
    nested = indim.jit(lambda points: [point.x + point.y for point in points])([Point(1, 2), Point(3.0, 4)])
    assert nested == [3, 7]


def test_lists_of_numbers_are_arrays():
    for numbers in ([1, 2, 3], [[1, 2], [3, 4]], [(1, 2), (3, 4)], []):
        found = indim.jit(lambda x: x * 2)(numbers)
        np.testing.assert_array_equal(found, np.asarray(numbers) * 2)


def test_lists_of_tuples_are_arrays_in_gradients_too():
    for points in ([(1.0, 2.0), (3.0, 4.0)], [[1.0, 2.0], [3.0, 4.0]]):
        slopes = indim.grad(lambda p: (p * p).sum())(points)
        np.testing.assert_array_equal(slopes, 2 * np.asarray(points))
