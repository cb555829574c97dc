"""Rules, the eager functions of each rule set, and errors."""

import builtins
import pickle

import numpy as np
import pytest

import indim


def test_shapes_of_the_seed_examples():
    assert indim.broadcast_shapes((2, 3), (1,)) == (2, 3)
    assert indim.broadcast_shapes((3, 2, 1, 4), (5, 4)) == (3, 2, 5, 4)
    assert indim.broadcast_shapes((2, 1, 4), (2, 3), rule="xla", broadcast_dimensions=[0, 1]) == (2, 3, 4)
    assert indim.broadcast_shapes((2, 3, 4, 5), (3, 4), rule="pdpd", axis=1) == (2, 3, 4, 5)
    assert indim.broadcast_shapes((3, 1), rule="bidirectional", target=(2, 1, 6)) == (2, 3, 6)
    assert indim.broadcast_shapes((3,), rule="explicit", broadcast_dimensions=[1], target=(2, 3)) == (2, 3)


@pytest.mark.parametrize(
    ("shapes", "attributes", "code", "rule", "operand", "axis"),
    [
        (((3,), (2,)), {}, "size-mismatch", "N2", 1, 0),
        (((4, 3), (3,)), {"rule": "xla"}, "rank-mismatch-without-dims", "X4", None, None),
        (((8, 1, 6, 1), (7, 1, 5)), {"rule": "pdpd", "axis": 1}, "size-mismatch", "P5", 1, 0),
        (((2,), (3,)), {"rule": "none"}, "shapes-differ", "O1", 1, 0),
    ],
)
def test_errors_say_what_is_wrong(shapes, attributes, code, rule, operand, axis):
    with pytest.raises(indim.ShapeError) as info:
        indim.broadcast_shapes(*shapes, **attributes)
    error = info.value
    assert isinstance(error, ValueError)
    assert (error.code, error.rule) == (code, rule)
    if operand is not None:
        assert (error.operand, error.axis) == (operand, axis)
    assert f"error[{code}]" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.axis) == (str(error), error.code, error.axis)


def test_attributes_that_a_rule_does_not_have_are_refused():
    foreign = {"broadcast_dimensions": [0]}, {"rule": "xla", "axis": 0}, {"target": (2,)}, {"rule": "nothing"}
    for attributes in foreign:
        with pytest.raises(ValueError):
            indim.broadcast_shapes((2,), (2,), **attributes)
    with pytest.raises(ValueError, match="target"):
        indim.broadcast_shapes((2,), (3,), rule="bidirectional")
    with pytest.raises(ValueError, match=r"foreign-attribute.* numpy takes no `axis`.* pdpd"):
        indim.broadcast_shapes((2, 3), (2,), rule="numpy", axis=0)


def test_as_written_the_attributes_say_the_rule():
    assert indim.broadcast_shapes((2, 3), (2,), rule="as-written", broadcast_dimensions=[0]) == (2, 3)
    assert indim.convert((2, 3), (2,), rule="as-written", axis=0, to="xla") == "xla broadcast_dimensions=[0]"
    assert "pdpd axis=0" in indim.explain((2, 3), (2,), axis=0)
    assert indim.broadcast_shapes((3,), target=(2, 3)) == (2, 3)
    with pytest.raises(ValueError, match="conflicting-attributes"):
        indim.broadcast_shapes((2, 3), (2,), rule="as-written", broadcast_dimensions=[0], axis=0)
    with pytest.raises(ValueError, match="as-written"):
        indim.convert((2, 3), (2,), rule="xla", broadcast_dimensions=[0], to="as-written")


def test_conversion_between_rules():
    assert indim.convert((2, 3), (3,), to="xla") == "xla broadcast_dimensions=[1]"
    assert indim.convert((2, 3), (2,), rule="xla", broadcast_dimensions=[0], to="pdpd") == "pdpd axis=0"
    with pytest.raises(ValueError, match="inexpressible"):
        indim.convert((2, 1), (1, 3), to="pdpd")


def test_explanations_of_rules_and_expressions():
    explained = indim.explain((2, 3), (3,))
    assert "xla broadcast_dimensions=[1]" in explained
    assert explained.json["result"] == [2, 3] and explained._repr_svg_().startswith("<svg")
    explained = indim.explain("add(x, v, broadcast_dimensions=[1])", x="f32[2, 3]", v=np.ones(3, np.float32))
    assert explained.json["bytes_written"] == 24
    with pytest.raises(KeyError):
        indim.explain("x + y", x="f32[2]")
    with pytest.raises(ValueError, match="not a type"):
        indim.explain("x", x="f32(2)")


def test_the_oracle():
    case = {
        "rule": "xla",
        "op": "add",
        "dims": [1],
        "operands": [{"dtype": "f32", "shape": [2, 3]}, {"dtype": "f32", "shape": [3]}],
    }
    assert indim.oracle(case) == {"ok": True, "dtype": "f32", "shape": [2, 3], "maps": [[0, 1], [1]]}
    assert indim.oracle("nonsense")["code"] == "bad-request"


X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_eager_functions_follow_their_rule():
    np.testing.assert_array_equal(
        indim.xla.add(X, np.array([10.0, 20.0]), broadcast_dimensions=(0,)), X + [[10], [20]]
    )
    np.testing.assert_array_equal(indim.pdpd.mul(X, np.array([10.0, 20.0]), axis=0), X * [[10], [20]])
    np.testing.assert_array_equal(indim.numpy.add(X, [1, 2, 3]), X + [1, 2, 3])
    np.testing.assert_array_equal(indim.none.sub(X, X), X * 0)
    np.testing.assert_array_equal(indim.onnx_legacy.add(X, np.array([1.0, 2.0]), axis=0), X + [[1], [2]])
    np.testing.assert_array_equal(indim.where(X > 2, X, 0), np.where(X > 2, X, 0))
    np.testing.assert_array_equal(indim.numpy.clip(X, 2, 4), np.clip(X, 2, 4))
    for module in (indim.none, indim.stablehlo, indim.xla):
        with pytest.raises(indim.ShapeError):
            module.add(X, np.ones(3))
    with pytest.raises(indim.ElementTypeError) as info:
        indim.xla.add(X, X.astype(np.float32))
    assert info.value.code == "element-type-mismatch" and isinstance(info.value, TypeError)


def test_axes_are_whole_numbers():
    for call in (
        lambda: indim.xla.add(X, np.ones(3), broadcast_dimensions=(1.0,)),
        lambda: indim.pdpd.add(X, np.ones(2), axis=0.5),
        lambda: indim.broadcast_to(X, (2.5, 3)),
    ):
        with pytest.raises(TypeError, match="integer"):
            call()
    np.testing.assert_array_equal(indim.xla.add(X, np.ones(3), broadcast_dimensions=np.array([1])), X + 1)


def test_remainder_is_the_one_of_the_rule():
    x, y = np.array([-7.0]), np.array([3.0])
    assert indim.numpy.remainder(x, y)[0] == 2
    assert indim.xla.remainder(x, y)[0] == -1
    assert indim.remainder(x, y)[0] == 2


def test_eager_functions_write_to_out():
    out = np.empty((2, 3))
    assert indim.numpy.sqrt(X, out=out) is out
    assert indim.xla.add(X, 1.0, out=out) is out
    np.testing.assert_array_equal(out, X + 1)


def test_structure():
    np.testing.assert_array_equal(indim.transpose(X), X.T)
    np.testing.assert_array_equal(indim.transpose(X, (1, 0)), X.T)
    np.testing.assert_array_equal(indim.reshape(X, (3, -1)), X.reshape(3, 2))
    np.testing.assert_array_equal(indim.reshape(X.T, 6), X.T.reshape(6))
    np.testing.assert_array_equal(indim.broadcast_to([1, 2], (3, 2)), np.broadcast_to([1, 2], (3, 2)))
    np.testing.assert_array_equal(
        indim.broadcast_in_dim(X, (3, 4, 2), (2, 0)), np.broadcast_to(X.T[:, None], (3, 4, 2))
    )
    assert indim.convert_element_type(X, np.float32).dtype == np.float32


ARRAY_API = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
    bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor
    floor_divide greater
    greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and
    logical_not
    logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real reciprocal
    remainder
    round sign signbit sin sinh square sqrt subtract tan tanh trunc where astype broadcast_to expand_dims
    permute_dims
    reshape
""".split()


@pytest.mark.parametrize("name", ARRAY_API)
def test_the_names_of_the_array_api(name):
    """Compares eager and traced results with NumPy's function of the same name."""
    x, y = np.array([[0.25, 1.0], [0.5, 0.75]]), np.array([[2.0, 1.0], [0.5, 3.0]])
    if name in ("acosh",):
        x = x + 1
    if name == "atanh":
        x = x / 2
    if "bitwise" in name:
        x, y = x.astype(np.int32), y.astype(np.int32)
    arguments = {
        "astype": (x, np.float32),
        "broadcast_to": (x, (3, 2, 2)),
        "clip": (x, 0.3, 0.8),
        "expand_dims": (x, 1),
        "permute_dims": (x, (1, 0)),
        "reshape": (x, (4, 1)),
        "where": (x > y, x, y),
    }.get(name) or (x, y)[: getattr(getattr(np, name), "nin", 1)]
    expected = getattr(np, name)(*arguments)
    static = tuple("abc"[index] for index, value in enumerate(arguments) if not isinstance(value, np.ndarray))
    traced = {1: lambda a: getattr(indim, name)(a), 2: lambda a, b: getattr(indim, name)(a, b)}
    traced[3] = lambda a, b, c: getattr(indim, name)(a, b, c)
    for result in (
        getattr(indim, name)(*arguments),
        indim.jit(traced[len(arguments)], static=static)(*arguments),
    ):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-15)


NAMESPACES = {
    *("xla", "pdpd", "stablehlo", "none", "onnx_legacy", "E"),
    *("array_api", "fft", "lax", "nn", "ndarray", "ops", "tree", "tree_util"),
}

MODULES = [indim, indim.numpy, indim.xla, indim.pdpd, indim.stablehlo, indim.none, indim.onnx_legacy]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_function_of_every_rule_can_be_called(module):
    """A function has a result, or an error that names the type."""
    from indim._indim import _compositions, _operations

    # NumPy's `r_` and `c_` are indexed.
    others = {*NAMESPACES, "c_", "r_"}
    functions = [getattr(module, name) for name in module.__all__ if name not in others]
    assert all(callable(function) for function in functions if not isinstance(function, int))
    assert not any(hasattr(builtins, name) for name in module.__all__)
    samples = [np.array([True, False]), np.array([1, 2], np.int32), np.array([0.25, 0.5])]
    not_called = []
    compositions = [(name, count, "", aliases) for name, count, _, _, aliases in _compositions()]
    for name, count, _, aliases in _operations() + compositions:
        if count == 3 and module is indim.onnx_legacy:
            continue
        for known in [name, *aliases]:
            known = {"and": "and_", "or": "or_", "not": "not_"}.get(known, known)
            results = []
            for sample in samples:
                operands = [sample] * count
                if known in ("select", "where"):
                    operands[0] = samples[0]
                try:
                    # The number without a default is a number of bits.
                    numbers = (5, 2) if known == "reduce_precision" else ()
                    results.append(getattr(module, known)(*operands, *numbers))
                except indim.ElementTypeError:
                    pass
                except indim.ExprError as error:
                    assert error.code in ("not-defined-in-numpy", "unknown-function"), (known, error)
            if not results and known not in ("conj", "real", "imag"):
                not_called.append(known)
    assert not_called == []


def test_documentation_and_names():
    assert indim.xla.add.__name__ == "add" and indim.xla.add.__module__ == "indim.xla"
    assert "wrap" in indim.xla.add.__doc__


def test_importing_everything_hides_nothing_of_python_or_numpy():
    names = {"numpy": "mine"}
    before = set(dir(builtins))
    for module in MODULES:
        exec(f"from {module.__name__} import *", names)
    assert names["numpy"] == "mine" and not before & (set(names) - {"__builtins__"})
    # The array API's names exist in the module, but not in `__all__`.
    assert indim.abs(np.array([-1.0])) == indim.round(np.array([1.2])) == indim.pow(np.array([1.0]), 2)


@pytest.mark.parametrize("name", ["add", "where", "exp"])
def test_operations_take_so_many_operands(name):
    count = {"add": 2, "where": 3, "exp": 1}[name]
    for module in (indim, indim.numpy, indim.xla):
        for wrong in (count - 1, count + 1):
            with pytest.raises(TypeError, match=r"positional argument"):
                getattr(module, name)(*[np.ones(2)] * wrong)


def test_the_rank_is_limited():
    ones = [1] * 64
    assert indim.broadcast_shapes(ones, [2]) == (*ones[1:], 2)
    for shapes, attributes in [
        (([1] * 65, [2]), {}),
        ((ones,), {"rule": "unidirectional", "target": [1] * 65}),
        ((ones, [2]), {"rule": "xla", "broadcast_dimensions": range(65)}),
    ]:
        with pytest.raises(indim.ShapeError, match="at most 64 axes") as error:
            indim.broadcast_shapes(*shapes, **attributes)
        assert error.value.code == "rank-limit"
    with pytest.raises(indim.ExprError, match="at most 64 axes") as error:
        indim.evaluate(f"reshape(x, {[1] * 65})", x=1.0)
    assert error.value.code == "rank-limit"
    with pytest.raises(indim.ExprError, match="at most 64 axes"):
        indim.evaluate(f"broadcast(x, {ones})", x=np.ones(1))
