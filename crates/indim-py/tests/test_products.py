"""Matrix products and other sums of products, compared with NumPy."""

import inspect

import numpy as np
import pytest

import indim

DTYPES = ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]

rng = np.random.default_rng(20)


def array(shape, dtype, scale=1.0):
    """Random elements; integers are small, so that sums of narrow types wrap now and then only."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.3
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    x = rng.standard_normal(shape) * scale
    return (x + 1j * rng.standard_normal(shape) if dtype.kind == "c" else x).astype(dtype)


def check(result, expected, bound):
    """Equality of integers; for floats the bound of the error, in units of `bound`, the sum of |x y|."""
    expected = np.asarray(expected)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(result, expected)
        return
    real = np.dtype(expected.real.dtype)
    # NumPy rounds after every step, indim at the end.
    unit = {2: 2.0**-7, 4: 72 * 2.0**-24, 8: 72 * 2.0**-53}[real.itemsize]
    difference = np.abs(np.asarray(result, "c16") - np.asarray(expected, "c16"))
    assert (difference <= 4 * unit * np.asarray(bound, "f8") + 2.0**-24).all()


def absolute(x):
    """The bound's operand: |x| in double precision."""
    return np.abs(np.asarray(x, "c16")).real


#: The functions, with shapes that they take.
PAIRS = {
    "matmul": [((3,), (3,)), ((4, 3), (3,)), ((3,), (3, 5)), ((4, 3), (3, 5)), ((2, 1, 4, 3), (5, 3, 6))],
    "dot": [
        *[((3,), (3,)), ((4, 3), (3, 5)), ((2, 4, 3), (5, 3, 6))],
        *[((), (2, 3)), ((2, 3), ()), ((4, 3), (3,))],
    ],
    "inner": [((3,), (3,)), ((4, 3), (5, 3)), ((2, 4, 3), (3,)), ((), (2,))],
    "outer": [((3,), (4,)), ((2, 3), (2, 2)), ((), (3,))],
    "vdot": [((3,), (3,)), ((2, 6), (3, 4)), ((), ())],
    "vecdot": [((3,), (3,)), ((4, 1, 3), (2, 3))],
    "matvec": [((4, 3), (3,)), ((2, 4, 3), (5, 1, 3))],
    "vecmat": [((3,), (3, 4)), ((2, 3), (5, 1, 3, 4))],
    "tensordot": [((2, 3, 4), (3, 4, 5)), ((3, 4), (3, 4))],
}

CASES = [(name, *shapes) for name, all_shapes in PAIRS.items() for shapes in all_shapes]


def of_numpy(name):
    function = getattr(np, name, None)
    if function is None:
        pytest.skip(f"this NumPy has no {name}")
    return function


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "of_x", "of_y"), CASES)
def test_functions_are_numpys(name, of_x, of_y, dtype):
    function, x, y = of_numpy(name), array(of_x, dtype), array(of_y, dtype)
    expected, bound = function(x, y), function(absolute(x), absolute(y))
    check(getattr(indim, name)(x, y), expected, bound)
    check(getattr(indim.numpy, name)(x, y), expected, bound)
    check(indim.jit(lambda x, y: function(x, y))(x, y), expected, bound)
    check(indim.jit(lambda x: function(x, y))(x), expected, bound)
    check(indim.jit(lambda y: function(x, y))(y), expected, bound)


def test_random_shapes_of_matmul():
    compiled = indim.jit(lambda x, y: x @ y)
    for _ in range(60):
        batch = rng.integers(1, 4, rng.integers(0, 3)).tolist()
        rows, inner, columns = rng.choice([0, 1, 2, 3, 7, 16, 33, 70], 3).tolist()
        dtype = rng.choice(DTYPES)
        x = array([*batch, rows, inner], dtype)
        y = array([*[1 if rng.random() < 0.3 else size for size in batch], inner, columns], dtype)
        expected, bound = x @ y, absolute(x) @ absolute(y)
        check(indim.matmul(x, y), expected, bound)
        check(compiled(x, y), expected, bound)


@pytest.mark.parametrize("x_dtype", DTYPES)
@pytest.mark.parametrize("y_dtype", DTYPES)
def test_types_are_promoted(x_dtype, y_dtype):
    x, y = array((3, 4), x_dtype), array((4, 2), y_dtype)
    expected = x @ y
    check(indim.matmul(x, y), expected, absolute(x) @ absolute(y))
    assert indim.jit(lambda x, y: np.matmul(x, y))(x, y).dtype == expected.dtype
    assert indim.einsum("ij,jk", x, y).dtype == np.einsum("ij,jk", x, y).dtype


def test_operators_take_arrays_and_lists_on_both_sides():
    x, y = array((2, 3), "f4"), array((3, 2), "f4")
    expected = x @ y
    for function, argument in [
        (lambda x: x @ y, x),
        (lambda y: x @ y, y),
        (lambda x: x @ y.tolist(), x),
        (lambda y: x.tolist() @ y, y),
        (lambda x: np.matmul(x, y.tolist()), x),
    ]:
        np.testing.assert_allclose(indim.jit(function)(argument), expected, rtol=1e-5)

    def in_place(x):
        x @= y
        return x

    np.testing.assert_allclose(indim.jit(in_place)(x), expected, rtol=1e-5)
    np.testing.assert_allclose(indim.jit(lambda x: x.T.dot(x))(x), x.T @ x, rtol=1e-5)
    np.testing.assert_allclose(indim.jit(lambda x: x.mT @ x)(x), x.T @ x, rtol=1e-5)
    if hasattr(np, "matrix_transpose"):
        transposed = indim.jit(lambda x: np.matrix_transpose(x) @ np.linalg.matrix_transpose(y))(x)
        np.testing.assert_allclose(transposed, x.T @ y.T, rtol=1e-5)
    np.testing.assert_allclose(indim.matmul(x.tolist(), y.tolist()), expected, rtol=1e-5)
    # Numbers scale, as in NumPy's dot.
    np.testing.assert_array_equal(indim.jit(lambda x, k: np.dot(x, k))(x, 2), x * 2)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("ij,jk", [(3, 4), (4, 5)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("...ij,...j->...i", [(2, 6, 3, 4), (6, 4)]),
        ("ii->i", [(4, 4)]),
        ("ii", [(4, 4)]),
        ("ij->ji", [(3, 4)]),
        ("ba", [(3, 4)]),
        ("ij->", [(3, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("ij,ij->", [(3, 4), (3, 4)]),
        ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
        ("i,ij,j", [(3,), (3, 4), (4,)]),
        ("a B , B c -> a c", [(3, 4), (4, 2)]),
        ("iji,j->i", [(3, 2, 3), (2,)]),
    ],
)
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c16", "?"])
def test_einsum(equation, shapes, dtype):
    operands = [array(shape, dtype) for shape in shapes]
    expected = np.einsum(equation, *operands)
    bound = np.einsum(equation, *map(absolute, operands))
    check(indim.einsum(equation, *operands), expected, bound)
    check(indim.numpy.einsum(equation, *operands, optimize="optimal"), expected, bound)
    compiled = indim.jit(lambda *operands: np.einsum(equation, *operands, optimize=True))
    check(compiled(*operands), expected, bound)


def test_random_equations():
    letters = "abcde"
    for _ in range(80):
        sizes = dict(zip(letters, rng.integers(1, 5, len(letters)).tolist()))
        terms = ["".join(rng.choice(list(letters), rng.integers(0, 4))) for _ in range(rng.integers(1, 5))]
        used = sorted(set("".join(terms)))
        result = "".join(rng.permutation(used)[: rng.integers(0, len(used) + 1)])
        equation = ",".join(terms) + "->" + result
        operands = [array([sizes[letter] for letter in term], "i8") for term in terms]
        expected = np.einsum(equation, *operands)
        check(indim.einsum(equation, *operands), expected, 0)
        compiled = indim.jit(lambda *operands: np.einsum(equation, *operands))
        check(compiled(*operands), expected, 0)
        check(indim.einsum(",".join(terms), *operands), np.einsum(",".join(terms), *operands), 0)


def test_random_axes_of_tensordot():
    for _ in range(60):
        x_rank, y_rank = rng.integers(0, 5, 2).tolist()
        count = int(rng.integers(0, min(x_rank, y_rank) + 1))
        x_axes, y_axes = (rng.permutation(rank)[:count].tolist() for rank in (x_rank, y_rank))
        x_shape, y_shape = (rng.integers(1, 4, rank).tolist() for rank in (x_rank, y_rank))
        for left, right in zip(x_axes, y_axes):
            y_shape[right] = x_shape[left]
        x_axes = [axis - x_rank if rng.random() < 0.3 else axis for axis in x_axes]
        x, y = array(x_shape, "i4"), array(y_shape, "i4")
        expected = np.tensordot(x, y, (x_axes, y_axes))
        check(indim.tensordot(x, y, (x_axes, y_axes)), expected, 0)
        check(indim.jit(lambda x, y: np.tensordot(x, y, (x_axes, y_axes)))(x, y), expected, 0)
        check(indim.tensordot(x, y, 0), np.tensordot(x, y, 0), 0)


def test_einsum_of_lists_and_types():
    x, y = array((2, 3, 4), "i4"), array((2, 4, 5), "i4")
    forms = [
        lambda e, x, y: e(x, [0, 1, 2], y, [0, 2, 3], [0, 1, 3]),
        lambda e, x, y: e(x, [0, 1, 2], y, [0, 2, 3]),
        lambda e, x, y: e(x, [..., 1, 27], y, [..., 27, 0]),
        lambda e, x, y: e(x, [..., 0, 1], [1, ..., 0]),
    ]
    for form in forms:
        expected = form(np.einsum, x, y)
        check(form(indim.einsum, x, y), expected, 0)
        check(indim.jit(lambda x, y: form(np.einsum, x, y))(x, y), expected, 0)
    function = lambda x, y: np.einsum("bij,bjk->ik", x, y, dtype=np.float64)  # noqa: E731
    np.testing.assert_allclose(indim.jit(function)(x, y), function(x, y))
    assert indim.jit(function)(x, y).dtype == np.float64
    with pytest.raises(TypeError):
        indim.jit(lambda x: np.einsum("i,i", x, x, dtype="i4"))(np.ones(3))


@pytest.mark.parametrize(
    "axes",
    [0, 1, 2, ([1, 2], [0, 1]), (2, 1), ([-1], [-2]), ((0,), [2]), ([0], 1), (2, [1]), (np.array([0]), 2)],
)
def test_tensordot(axes):
    shapes = {0: ((2, 3), (4,)), 1: ((2, 3, 4), (4, 3))}.get(axes if isinstance(axes, int) else -1)
    shapes = shapes or (((4, 3, 5), (3, 5, 2)) if isinstance(axes, int) else ((4, 3, 4), (3, 4, 4)))
    x, y = (array(shape, "i8") for shape in shapes)
    expected = np.tensordot(x, y, axes)
    check(indim.tensordot(x, y, axes), expected, 0)
    check(indim.jit(lambda x, y: np.tensordot(x, y, axes=axes))(x, y), expected, 0)


@pytest.mark.parametrize("axes", [([0, 1], [0]), ((0,), (0, 1)), ([0, 1], 0), (0, []), ([], [0])])
def test_lists_of_axes_of_unequal_lengths_are_errors(axes):
    x = np.ones((3, 3))
    for function in (
        lambda x: indim.tensordot(x, x, axes),
        indim.jit(lambda x: np.tensordot(x, x, axes)),
        indim.jit(lambda x: indim.tensordot(x, x, axes=axes)),
    ):
        with pytest.raises(indim.ShapeError) as raised:
            function(x)
        assert isinstance(raised.value, ValueError)
        assert raised.value.code == "axis-count-mismatch"


@pytest.mark.skipif(not hasattr(np.linalg, "matmul"), reason="this NumPy has no products in linalg")
def test_functions_of_linalg():
    x, y, v = array((3, 4), "i8"), array((4, 2), "i8"), array((4,), "i8")
    of = np.linalg
    for function, arguments in [
        (lambda x, y: of.matmul(x, y), (x, y)),
        (lambda x, y: of.tensordot(x, y, axes=1), (x, y)),
        (lambda x, y: of.outer(x, y), (v, v)),
        (lambda x, y: of.vecdot(x, y), (x, v)),
        (lambda x, y: of.vecdot(x, y, axis=0), (y, v[:, None])),
    ]:
        check(indim.jit(function)(*arguments), function(*arguments), 0)
    with pytest.raises(ValueError):
        indim.jit(lambda x: of.outer(x, x))(x)


def test_vecdot_along_an_axis():
    x, y = array((3, 4, 5), "c16"), array((4, 1), "c16")
    for axis in (0, 1):
        z = x if axis == 1 else np.moveaxis(x, 1, 0)
        for keepdims in (False, True):
            expected = (z.conj() * (y if axis == 1 else y[:, None])).sum(axis=axis, keepdims=keepdims)
            given = np.broadcast_to(y if axis == 1 else y[:, None], z.shape)
            result = indim.vecdot(z, given, axis=axis, keepdims=keepdims)
            np.testing.assert_allclose(result, expected, rtol=1e-12)
    np.testing.assert_allclose(indim.vecdot(x, x, axis=(0, 2)), (x.conj() * x).sum(axis=(0, 2)), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "c8"])
@pytest.mark.parametrize("shape", [(5, 7, 3), (64, 300, 40), (1, 1000, 1), (130, 17, 2)])
def test_bits_do_not_depend_on_the_layout_or_the_other_rows(dtype, shape):
    rows, inner, columns = shape
    x, y = array((rows, inner), dtype), array((inner, columns), dtype)
    expected = indim.matmul(x, y)
    for i in (0, rows // 2, rows - 1):
        np.testing.assert_array_equal(indim.matmul(x[i], y), expected[i])
    for j in (0, columns // 2):
        np.testing.assert_array_equal(indim.matmul(x, y[:, j]), expected[:, j])
        np.testing.assert_array_equal(indim.matmul(x[0], y[:, j]), expected[0, j])
    np.testing.assert_array_equal(indim.matmul(np.asfortranarray(x), np.asfortranarray(y)), expected)
    np.testing.assert_array_equal(indim.matmul(y.T, x.T), expected.T)
    np.testing.assert_array_equal(indim.jit(lambda x, y: (y.T @ x.T).T)(x, y), expected)
    wide = np.zeros((2 * rows, 3 * inner), dtype)
    wide[::2, ::3] = x
    np.testing.assert_array_equal(indim.matmul(wide[::2, ::3], y), expected)
    np.testing.assert_array_equal(indim.jit(lambda x, y: x[::2, ::3] @ y)(wide, y), expected)
    np.testing.assert_array_equal(indim.matmul(x[::-1], y), expected[::-1])
    np.testing.assert_array_equal(indim.einsum("ij,jk->ki", x, y), expected.T)
    np.testing.assert_array_equal(indim.tensordot(x, y, 1), expected)
    np.testing.assert_array_equal(indim.dot(x, y), expected)
    np.testing.assert_array_equal(indim.inner(x, y.T), expected)


def test_the_number_of_threads_does_not_change_bits():
    x, y = array((150, 400), "f4"), array((400, 90), "f4")
    threads = indim.get_num_threads()
    try:
        results = []
        for count in (1, 2, 5):
            indim.set_num_threads(count)
            results.append(indim.matmul(x, y))
    finally:
        indim.set_num_threads(threads)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_a_preferred_element_type():
    x, y = np.full((2, 300), 100, "i1"), np.full((300, 2), 100, "i1")
    for product in (indim.matmul, indim.numpy.matmul, indim.dot, indim.numpy.inner, indim.tensordot):
        given = y.T if product is indim.numpy.inner else y
        axes = {"axes": 1} if product is indim.tensordot else {}
        result = product(x, given, preferred_element_type="int32", **axes)
        assert result.dtype == np.int32 and (result == 3_000_000).all()
    assert indim.einsum("ij,jk", x, y, preferred_element_type=np.float32).dtype == np.float32
    traced = indim.jit(lambda x, y: indim.numpy.matmul(x, y, preferred_element_type=np.int64))
    assert traced(x, y).tolist() == [[3_000_000] * 2] * 2
    with pytest.raises(TypeError, match=r"x.astype\(dtype\)"):
        indim.vecdot(x, x, keepdims=True, preferred_element_type="i4")


def test_results_into_out():
    x, y = array((4, 3), "f8"), array((3, 2), "f8")
    out = np.zeros((4, 2))
    assert indim.matmul(x, y, out=out) is out
    np.testing.assert_allclose(out, x @ y)
    indim.einsum("ij,jk->ik", x, y, out=out)
    np.testing.assert_allclose(out, x @ y)
    assert indim.jit(lambda x, y: x @ y + 1)(x, y, out=out) is out
    np.testing.assert_allclose(out, x @ y + 1)


def test_one_program_serves_several_sizes():
    compiled = indim.jit(lambda x, y: np.tanh(x @ y) + x.sum(axis=1)[:, None])
    for rows, inner, columns in [(3, 4, 5), (7, 2, 6), (1, 1, 1), (40, 33, 2), (0, 3, 2)]:
        x, y = array((rows, inner), "f8"), array((inner, columns), "f8")
        expected = np.tanh(x @ y) + x.sum(axis=1)[:, None]
        np.testing.assert_allclose(compiled(x, y), expected, rtol=1e-9, atol=1e-9)


REFUSED = [
    ("matmul", (2, 3), (2, 3)),
    ("matmul", (), (2, 3)),
    ("matmul", (3,), ()),
    ("matmul", (2, 3), (4,)),
    ("matmul", (2, 4, 3), (3, 3, 2)),
    ("dot", (2, 3), (2, 3)),
    ("dot", (3,), (4,)),
    ("inner", (2, 3), (2, 4)),
    ("vdot", (3,), (2, 2)),
    ("vecdot", (3,), (4,)),
    ("vecdot", (), (4,)),
    ("matvec", (3,), (3,)),
    ("matvec", (2, 3), (2,)),
    ("vecmat", (3,), (3,)),
    ("tensordot", (2, 3), (3, 2)),
    ("tensordot", (3,), (3, 2)),
]


@pytest.mark.parametrize(("name", "of_x", "of_y"), REFUSED)
def test_shapes_that_numpy_refuses_are_refused(name, of_x, of_y):
    function, x, y = of_numpy(name), np.ones(of_x), np.ones(of_y)
    with pytest.raises((ValueError, IndexError)):
        function(x, y)
    with pytest.raises(indim.ShapeError):
        getattr(indim, name)(x, y)
    with pytest.raises(indim.ShapeError) as raised:
        indim.jit(lambda weights, y: function(weights, y))(x, y)
    assert "weights" in str(raised.value)


def test_errors_name_the_operands():
    x, w = np.ones((2, 3)), np.ones((2, 3))
    with pytest.raises(indim.ShapeError, match="axis 1 of `x` has size 3, but axis 0 of `w`") as raised:
        indim.jit(lambda x, w: x @ w)(x, w)
    assert raised.value.code == "size-mismatch"
    assert "exchange the last two axes of `x`" in str(raised.value)
    with pytest.raises(indim.ShapeError, match="multiply by a scalar with"):
        indim.jit(lambda x: x @ 2)(x)
    for equation, code in [("ij,jk->il", "einsum-equation"), ("i,jk->i", "einsum-rank"), ("ij,ji", None)]:
        with pytest.raises(ValueError) as raised:
            indim.jit(lambda x, w: np.einsum(equation, x, w))(x, w)
        assert code is None or raised.value.code == code
    for equation in ("ij", "ij,ij,ij"):
        with pytest.raises(ValueError):
            indim.einsum(equation, x, w)


OUTSIDE = np.ones((2, 2))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.matmul(x, x, out=np.ones((2, 2))),
        lambda x: np.dot(x, x, out=np.ones((2, 2))),
        lambda x: np.einsum("ij,jk", x, x, out=np.ones((2, 2))),
        lambda x: np.vecdot(x, x, out=np.ones(2)),
        lambda x: np.matmul(x, x, dtype="f4"),
        lambda x: np.vecdot(x, x, dtype="f4"),
    ],
)
def test_products_into_an_array_that_the_function_made_or_of_another_type(function):
    x = np.arange(4.0).reshape(2, 2)
    expected, found = function(x), indim.jit(function)(x)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    assert OUTSIDE.sum() == 4


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.matmul(x, x, out=OUTSIDE), "without `out=`"),
        (lambda x: np.dot(x, x, np.ones((2, 2))), r"write y = np.dot\(...\) without `out=`"),
        (lambda x: np.matmul(x, x, axes=[(0, 1), (1, 0), (0, 1)]), "np.moveaxis"),
        (lambda x: indim.einsum(x, "ij"), "takes the equation first"),
        (lambda x: np.tensordot(x, x, axes=x), "which are known while a function is traced"),
        (lambda x: np.tensordot(x, x, axes=[1, 0, 1]), r"two lists of axes"),
        (lambda x: np.einsum(x, [0, 99]), "from 0 to 51"),
        (lambda x: indim.einsum("ij"), "takes operands"),
        (lambda x: indim.matmul(x, x, out=np.ones(3)), "shape mismatch.*\\(2, 2\\)"),
    ],
)
def test_arguments_that_are_refused_say_what_to_write(function, message):
    with pytest.raises((TypeError, ValueError), match=message):
        indim.jit(function)(np.ones((2, 2)))


def test_gradients():
    def loss(w, x):
        return np.sum(np.tanh(x @ w) ** 2)

    x, w = array((6, 3), "f8"), array((3, 4), "f8")
    y = np.tanh(x @ w)
    np.testing.assert_allclose(indim.grad(loss)(w, x), x.T @ (2 * y * (1 - y**2)), rtol=1e-9)
    by_x = indim.grad(loss, argnums=1)(w, x)
    np.testing.assert_allclose(by_x, (2 * y * (1 - y**2)) @ w.T, rtol=1e-9)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x, y: x @ y, [(3,), (3,)]),
        (lambda x, y: x @ y, [(2, 4, 3), (3, 5)]),
        (lambda x, y: np.dot(x, y), [(2, 4, 3), (2, 3, 5)]),
        (lambda x, y: np.inner(x, y), [(2, 3), (4, 3)]),
        (lambda x, y: np.outer(x, y), [(2, 3), (4,)]),
        (lambda x, y: np.vdot(x, y), [(2, 3), (3, 2)]),
        (lambda x, y: np.tensordot(x, y, axes=([0, 2], [1, 0])), [(2, 3, 4), (4, 2, 5)]),
        (lambda x, y: np.einsum("iij,jk->k", x, y), [(3, 3, 2), (2, 4)]),
        (lambda x, y: np.einsum("ij,jk,il->kl", x, y, x), [(2, 3), (3, 4)]),
    ],
)
def test_gradients_against_finite_differences(function, shapes):
    x, y = (array(shape, "f8") for shape in shapes)
    weights = array(function(x, y).shape, "f8")

    def loss(x, y):
        return np.sum(function(x, y) * weights)

    gradients = indim.grad(loss, argnums=(0, 1))(x, y)
    for position, gradient in enumerate(gradients):
        step = 1e-5
        for index in np.ndindex(shapes[position]):
            near = [[of.copy() for of in (x, y)] for _ in range(2)]
            near[0][position][index] += step
            near[1][position][index] -= step
            slope = (loss(*near[0]) - loss(*near[1])) / (2 * step)
            np.testing.assert_allclose(gradient[index], slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["dot", "vdot", "matmul"])
def test_gradients_of_complex_products(name):
    function, z, w = getattr(np, name), array(3, "c16"), array(3, "c16")

    def loss(z):
        return np.abs(function(z, w)) ** 2

    step = 1e-6
    slopes = [(loss(z + step * e) - loss(z - step * e)) / (2 * step) for e in [*np.eye(3), *(1j * np.eye(3))]]
    expected = np.array(slopes[:3]) + 1j * np.array(slopes[3:])
    np.testing.assert_allclose(indim.grad(loss)(z), expected, rtol=1e-6, atol=1e-7)


def test_a_gradient_of_a_gradient():
    a = array((3, 3), "f8")
    inner = indim.grad(lambda x: x @ a @ x)
    outer = indim.grad(lambda x: np.sum(inner(x) * x))
    x = array(3, "f8")
    np.testing.assert_allclose(outer(x), 2 * (a + a.T) @ x, rtol=1e-9)


def test_products_in_texts():
    x, y = array((3, 4), "f4"), array((4, 2), "f4")
    texts = ["x @ y", "matmul(x, y)", "tensordot(x, y, axes=1)", 'einsum("ij,jk->ik", x, y)']
    for text in texts:
        np.testing.assert_array_equal(indim.evaluate(text), indim.matmul(x, y))
        np.testing.assert_array_equal(indim.numexpr.evaluate(text), indim.matmul(x, y))
    assert indim.evaluate("matmul(x, y, dtype=f64)").dtype == np.float64
    with pytest.raises(indim.ShapeError, match="axis 1 of `y` has size 2, but axis 0 of `x`"):
        indim.evaluate("y @ x")


def test_dask_arrays():
    da = pytest.importorskip("dask.array")
    x, y = array((12, 10), "f8"), array((10, 6), "f8")
    compiled = indim.jit(lambda x, y: x @ y + 1)
    lazy = compiled(da.from_array(x, chunks=(5, 10)), da.from_array(y, chunks=(10, 3)))
    np.testing.assert_array_equal(lazy.compute(), compiled(x, y))
    # The summed axis is cut too.
    lazy = compiled(da.from_array(x, chunks=(5, 4)), y)
    np.testing.assert_array_equal(lazy.compute(), compiled(x, y))


def test_labelled_arrays():
    xr = pytest.importorskip("xarray")
    x = xr.DataArray(array((4, 3), "f8"), dims=("time", "lat"))
    y = xr.DataArray(array((3, 5), "f8"), dims=("lat", "lon"))
    for function in (lambda x, y: xr.dot(x, y), lambda x, y: x @ y, lambda x, y: x.dot(y, dim="lat")):
        result = indim.jit(function)(x, y)
        assert result.dims == ("time", "lon")
        np.testing.assert_allclose(result.values, x.values @ y.values, rtol=1e-12)
    with pytest.raises(TypeError, match=r"xr.dot\(x, y, dim=\[...\]\)"):
        indim.matmul(x, y)
    for text in ("x @ y", "matmul(x, y)", 'einsum("ij,jk->ik", x, y)', "1 + inner(x, x)"):
        for rule in ("numpy", "named"):
            with pytest.raises(TypeError, match=r"xr.dot\(x, y, dim=\[...\]\)"):
                indim.evaluate(text, rule=rule)


def test_labels_of_pandas():
    pd = pytest.importorskip("pandas")
    d = pd.DataFrame(array((3, 2), "f8"), index=list("abc"), columns=["u", "v"])
    gram = indim.jit(lambda d: d.T @ d)(d)
    pd.testing.assert_frame_equal(gram, d.T @ d)
    total = indim.jit(lambda d, s: d @ s)(d, pd.Series([1.0, 2.0], index=["u", "v"]))
    pd.testing.assert_series_equal(total, d @ pd.Series([1.0, 2.0], index=["u", "v"]))
    with pytest.raises(ValueError, match="the labels of `s` differ"):
        indim.jit(lambda d, s: d @ s)(d, pd.Series([1.0, 2.0], index=["v", "u"]))


def test_functions_have_numpys_names_and_documentation():
    for name in PAIRS:
        for module in (indim, indim.numpy):
            function = getattr(module, name)
            assert function.__module__ == module.__name__ and function.__name__ == name
            assert function.__doc__.startswith("NumPy's")
            assert next(iter(inspect.signature(function).parameters)) == "x"
    assert not hasattr(indim.xla, "matmul")
