"""Series and DataFrames of pandas: labels of axes that meet are compared, and results have labels."""

import numpy as np
import pytest

import indim

pd = pytest.importorskip("pandas")

frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]}, index=["x", "y", "z"])
a, b = frame["a"], frame["b"]


def test_labels_are_kept():
    pd.testing.assert_series_equal(indim.evaluate("a * 2 + b"), a * 2 + b)
    pd.testing.assert_series_equal(indim.evaluate("a * 2"), a * 2)
    pd.testing.assert_series_equal(indim.jit(np.sqrt)(a), np.sqrt(a))
    pd.testing.assert_series_equal(indim.add(a, 1), a + 1)
    pd.testing.assert_frame_equal(indim.jit(lambda f: np.exp(f) / 2)(frame), np.exp(frame) / 2)
    pd.testing.assert_series_equal(indim.evaluate("a + b", frame), a + b)
    single = frame[["a"]]
    pd.testing.assert_frame_equal(indim.evaluate("single * 2"), single * 2)
    pd.testing.assert_frame_equal(indim.evaluate("row * 2", row=frame[:1]), frame[:1] * 2)


def test_a_series_meets_the_columns():
    means = frame.mean()
    pd.testing.assert_frame_equal(indim.evaluate("frame - means"), frame - means)
    with pytest.raises(ValueError, match="labels of `rows` differ from those of `columns`"):
        square = pd.DataFrame(np.eye(2), index=["x", "y"], columns=["a", "b"])
        indim.evaluate("columns - rows", columns=square, rows=pd.Series([1.0, 2.0], index=["x", "y"]))


def test_reductions_keep_the_labels_that_are_left():
    pd.testing.assert_series_equal(indim.sum(frame, axis=0), frame.sum())
    pd.testing.assert_series_equal(indim.evaluate("max(frame, axis=1)"), frame.max(axis=1))
    assert indim.sum(frame).shape == ()
    standardised = indim.jit(lambda f: (f - f.mean(axis=0)) / f.std(axis=0, ddof=0))(frame)
    pd.testing.assert_frame_equal(standardised, (frame - frame.mean()) / frame.std(ddof=0))
    low, high = indim.evaluate("min(frame, axis=0), max(frame, axis=0)")
    assert list(low.index) == list(high.index) == ["a", "b"]


def test_results_of_other_axes_have_no_labels():
    steps = indim.jit(lambda f: f[1:] - f[:-1])(frame)
    assert isinstance(steps, np.ndarray) and steps.shape == (2, 2)
    assert isinstance(indim.jit(lambda f: f[::-1])(frame), np.ndarray)
    pd.testing.assert_frame_equal(indim.jit(lambda f: f.T)(frame), frame.T)
    assert list(indim.jit(lambda x, w: x[:, None] * w)(a, np.ones(5)).shape) == [3, 5]


def test_labels_of_an_axis_of_size_1_are_compared_too():
    one, other = pd.Series([10.0], index=["w"]), pd.Series([5.0], index=["x"])
    row, column = frame[:1], frame[["a"]]
    for x, y in ((a, one), (one, a), (one, other), (frame, row), (column, frame), (row, column)):
        for call in (lambda: indim.evaluate("x + y", x=x, y=y), lambda: indim.jit(lambda x, y: x + y)(x, y)):
            with pytest.raises(ValueError, match="labels of .* differ from those of"):
                call()
    pd.testing.assert_series_equal(indim.add(other, a[:1]), other + a[:1])
    # Axes that do not meet are not compared, and arrays without labels expand.
    difference = indim.evaluate("mean(x) - mean(y)", x=a, y=one)
    assert difference == a.mean() - 10
    pd.testing.assert_frame_equal(indim.evaluate("x - mean(y)", x=frame, y=one), frame - 10)
    pd.testing.assert_frame_equal(indim.evaluate("row - m", m=frame.mean()), row - frame.mean())
    pd.testing.assert_frame_equal(indim.add(frame, np.ones((1, 2))), frame + 1)
    assert isinstance(indim.add(column, np.ones((3, 2))), np.ndarray)


def test_columns_have_one_type():
    mixed = pd.DataFrame({"i": [1, 2], "f": [0.5, 1.5]})
    pd.testing.assert_frame_equal(indim.evaluate("mixed * 2"), mixed.astype("f8") * 2)
    for table, expected in (
        (pd.DataFrame({"i": [1, 2], "s": ["u", "v"]}), r"columns that hold no numbers: 's' \(.*select_d"),
        (pd.DataFrame({"i": [1, 2], "b": [True, False]}), "columns of `t` are numbers and bool: convert"),
        (pd.Series(["u", "v"], dtype="category"), "`t` is a Series of category"),
    ):
        with pytest.raises(TypeError, match=expected):
            indim.evaluate("t + 1", t=table)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "int64[pyarrow]", "bool[pyarrow]"])
def test_missing_values_of_pandas_own_types_are_an_error(dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    series = pd.Series([1, None, 0], dtype=dtype, index=list("xyz"))
    for call in (
        lambda: indim.evaluate("s * 2", s=series),
        lambda: indim.jit(lambda s: s * 2)(series),
        lambda: indim.evaluate("s * 2", s=series.array),
        lambda: indim.evaluate("s * 2", s=pd.Index(series)),
    ):
        with pytest.raises(TypeError, match="with 1 missing"):
            call()
    advice = r"`s` is a pandas Series .*`s.fillna\(value\)`.*`s.dropna\(\)`.*`s.astype\(\"float64\"\)`"
    with pytest.raises(TypeError, match=advice):
        indim.jit(lambda s: s + 2)(series)
    f = indim.jit(lambda s: s + s)
    for mended in (series.fillna(series.iloc[2]), series.dropna(), series.astype("float64")):
        elements = mended.to_numpy()
        np.testing.assert_array_equal(f(mended), elements + elements)
    with pytest.raises(TypeError, match="with 1 missing"):
        indim.jit(lambda x: x + pd.Series([1, None], dtype=dtype))(np.ones(2))
    # NaN of NumPy's own floats is a number.
    pd.testing.assert_series_equal(f(pd.Series([1.0, np.nan])), pd.Series([2.0, np.nan]))


def test_differing_labels_are_an_error():
    for x, y in ((a, b[::-1]), (a, b.rename({"x": "w"})), (frame, frame[["b", "a"]])):
        for call in (lambda: indim.evaluate("x + y", x=x, y=y), lambda: indim.jit(lambda x, y: x + y)(x, y)):
            with pytest.raises(ValueError, match="labels of .* differ from those of"):
                call()
    with pytest.raises(indim.ShapeError, match=r"help: Series are not joined by their labels.*align"):
        indim.evaluate("x + y", x=a, y=b[1:])
    aligned = a.align(b[::-1])
    pd.testing.assert_series_equal(indim.add(*aligned), a + b[::-1])
    # Arrays without labels meet by position.
    pd.testing.assert_series_equal(indim.add(a, np.ones(3)), a + 1)


def test_names_and_containers():
    assert indim.add(a, a.rename("other")).name is None and indim.add(a, a).name == "a"
    result = indim.jit(lambda columns: {"sum": columns["a"] + columns["b"]})({"a": a, "b": b})
    pd.testing.assert_series_equal(result["sum"], (a + b).rename(None))
    out = np.empty(3)
    assert indim.evaluate("a + b", out=out) is out and out.tolist() == [5.0, 7.0, 9.0]


def test_what_is_refused():
    with pytest.raises(TypeError, match="`text`"):
        indim.evaluate("text + 1", text=pd.Series(["x", "y"]))
    with pytest.raises(TypeError, match="pass it as an argument"):
        indim.jit(lambda x: indim.add(x, a))(np.ones(3))
    # Labels that only count positions are dropped without an error.
    assert indim.jit(lambda x: x + pd.Series([1.0, 2.0]))(np.ones(2)).tolist() == [2, 3]
    with pytest.raises(TypeError, match="columns that hold no numbers"):
        indim.add(pd.DataFrame({"a": [1.0], "b": ["x"]}), 1)


def test_what_was_made_for_other_types_sizes_and_numbers_is_not_taken():
    factor = 2.0
    f = indim.jit(lambda x, k: x * k + factor)
    for length in (3, 2, 3):
        x = a[:length]
        for given in (x, x.astype("f4"), x.astype("i8")):
            for k in (2, 3, 2.5, -0.0, 2):
                pd.testing.assert_series_equal(f(given, k), given * k + factor)
                pd.testing.assert_series_equal(indim.evaluate("given * k"), given * k)
    factor = 5.0
    pd.testing.assert_series_equal(f(a, 2), a * 2 + 5)


def test_arrays_of_other_packages_with_labels_are_refused():
    xr, da = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    x = xr.DataArray([1.0, 2.0, 3.0], dims="index", coords={"index": ["z", "y", "x"]})
    f = indim.jit(lambda x, a: x * a)
    for call in (lambda: f(x, a), lambda: indim.evaluate("x * a", x=x, a=a), lambda: indim.mul(x, a)):
        with pytest.raises(TypeError, match=r"labels: `.*\.to_xarray\(\)` meets them by name"):
            call()
    xr.testing.assert_identical(f(x, a.to_xarray()), x * a.to_xarray())
    with pytest.raises(TypeError, match=r"`a` is a Series of pandas mixed with arrays of Dask"):
        f(da.ones(3, chunks=2), a)


def test_what_is_evaluated_again_has_no_labels():
    x = np.ones(2)
    indim.evaluate("x * 2")
    np.testing.assert_array_equal(indim.re_evaluate(), [2.0, 2.0])
    x = pd.Series(x, index=["a", "b"])
    with pytest.raises(TypeError, match="re_evaluate takes neither labels nor chunks: call evaluate"):
        indim.re_evaluate()


def test_pandas_own_types_become_numpys_and_categories_are_refused():
    f = indim.jit(lambda x: x + 1)
    frame = pd.DataFrame({"a": pd.array([1, 2], "Int64"), "b": pd.array([1, 2], "Int32")})
    pd.testing.assert_frame_equal(f(frame), (frame + 1).astype("i8"))
    frame["b"] = [0.5, 1.5]
    pd.testing.assert_frame_equal(f(frame), (frame + 1).astype("f8"))
    frame["a"] = pd.array([1, None], "Int64")
    with pytest.raises(TypeError, match="`x` is a pandas DataFrame with 1 missing"):
        f(frame)
    assert np.isnan(f(frame.astype("f8")).loc[1, "a"]) and f(frame.astype("f8")).loc[1, "b"] == 2.5
    frame["a"] = pd.array([1, 2], "Int64")
    with pytest.raises(TypeError, match="`x` is a Series of category"):
        f(pd.Series([1, 2, 1], dtype="category"))
    frame["c"] = pd.Categorical([1, 2])
    with pytest.raises(TypeError, match=r"hold no numbers: 'c' \(category\)"):
        f(frame)


TABLE = pd.DataFrame({"x": [1.0, 2.0, 4.0], "k": [1, 2, 3], "s": ["a", "b", "c"]}, index=list("uvw"))


@pytest.mark.parametrize(
    "function",
    [
        lambda d: d["x"] * d["k"],
        lambda d: d["k"] * 2,
        lambda d: d.x + 1,
        lambda d: d[["x", "k"]] * 2,
        lambda d: np.sqrt(-d[["k", "x"]] + 9) > d[["k", "x"]],
        lambda d: d[["x", "k"]].assign(z=d.x * 2, w=lambda d: d.z + 1),
        lambda d: sum(d[label] for label in d[["x", "k"]]),
        lambda d: (d["x"] - d["x"].mean()) / d["x"].max(),
    ],
)
def test_columns_by_name_in_a_compiled_function_are_those_of_pandas(function):
    compiled = indim.jit(function)
    for table in (TABLE, TABLE[:2], TABLE.astype({"x": "f4"})):
        found, expected = compiled(table), function(table)
        same = pd.testing.assert_frame_equal if found.ndim == 2 else pd.testing.assert_series_equal
        same(found, expected)


def test_a_table_is_an_array_unless_its_columns_are_read():
    numbers = TABLE[["x", "k"]]
    pd.testing.assert_frame_equal(indim.jit(lambda d: d * 2)(numbers), numbers.astype("f8") * 2)
    product = indim.jit(lambda d, w: d[["x", "k"]].to_numpy() @ w)(TABLE, np.array([2.0, 1.0]))
    np.testing.assert_array_equal(product, [3.0, 6.0, 11.0])
    means = indim.jit(lambda d: {label: d[label].mean() for label in ("x", "k")})(TABLE)
    np.testing.assert_allclose([means["x"], means["k"]], numbers.mean())
    f = indim.jit(lambda d, s: d["x"] + s)
    pd.testing.assert_series_equal(f(TABLE, TABLE["k"]), TABLE["x"] + TABLE["k"])
    with pytest.raises(ValueError, match=r"the labels of `s` differ from those of `d\['x'\]`"):
        f(TABLE, TABLE["k"][::-1])
    missing = TABLE.assign(k=pd.array([1, None, 2], "Int64"))
    pd.testing.assert_series_equal(indim.jit(lambda d: d["x"] * 2)(missing), TABLE["x"] * 2)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda d: d["s"], TypeError, r"`d\['s'\]` is a Series of str"),
        (lambda d: d["q"], KeyError, "'q' is no column of `d`, whose columns are 'x', 'k'"),
        (lambda d: d * 2, TypeError, "`d` has columns that hold no numbers: 's'"),
        (lambda d: d["x"] - d.mean(), TypeError, r"`d` has no `mean`: .*d\['x'\].mean\(\).*`d.to_numpy\(\)`"),
        (lambda d: d["x"] + d.loc[:, "x"], TypeError, "`d` has no `loc`: .*reads columns by name"),
        (lambda d: (d["x"], d.__setitem__("z", 1)), TypeError, r"no assignment: write d.assign\(z="),
    ],
)
def test_what_columns_do_not_do(function, error, message):
    with pytest.raises(error, match=message):
        indim.jit(function)(TABLE)


def test_methods_of_whole_frames_without_an_axis_are_refused():
    # pandas reduces the columns one by one, NumPy all elements.
    for function, text in (
        (lambda d: d - d.mean(), r"d.mean\(axis=0\) for the columns, or d.mean\(axis=None\)"),
        (lambda d: (d * 2).std(), r"write \(d \* 2\).std\(axis=0\)"),
        (lambda d: d.cumsum(), r"write d.cumsum\(axis=0\)"),
    ):
        with pytest.raises(TypeError, match=text):
            indim.jit(function)(frame)
    centred = indim.jit(lambda d: d - d.mean(axis=0))(frame)
    pd.testing.assert_frame_equal(centred, frame - frame.mean())
    for whole in (lambda d: d.mean(axis=None), lambda d: np.mean(d), lambda d: np.mean(d * 2) / 2):
        assert indim.jit(whole)(frame) == frame.to_numpy().mean()
    # Other arrays, also those of the DataFrame's shape, keep NumPy's methods.
    for other in (
        lambda d, w: (d * w.sum(), w.mean()),
        lambda d, w: (d, (w * 2).mean() / 2),
        lambda d, w: (d, np.where(w > 0, w, 1.0).mean()),
    ):
        result = indim.jit(other)(frame, frame.to_numpy())
        assert isinstance(result[0], pd.DataFrame) and result[1] == 3.5
    weighted = indim.jit(lambda d, w: d * w.sum())
    pd.testing.assert_frame_equal(weighted(frame, np.ones((2, 2))), frame * 4)
    mean = indim.jit(lambda d: d.mean())
    assert mean(frame.to_numpy()) == 3.5
    with pytest.raises(TypeError, match="no axis"):
        mean(frame)


def test_messages_name_columns_by_their_labels():
    with pytest.raises(indim.ShapeError, match="`d_a`"):
        indim.jit(lambda d: d["a"] + np.ones(5))(frame)
    with pytest.raises(TypeError, match="`d_k` has no gradient"):
        indim.grad(lambda d: (d["x"] ** 2).sum())(TABLE[["x", "k"]])


def test_jacobians_take_series():
    np.testing.assert_array_equal(indim.jacobian(lambda x: x * x)(a), np.diag(2 * a))
    np.testing.assert_array_equal(indim.hessian(lambda x: (x * x).sum())(a), 2 * np.eye(3))


def test_gradients_of_columns():
    table = TABLE[["x"]].assign(y=3.0)
    found = indim.grad(lambda d: (d["x"] * d["y"]).sum())(table)
    pd.testing.assert_frame_equal(found, pd.DataFrame({"x": table["y"], "y": table["x"]}))
    gradient = indim.grad(lambda w, d: ((d["x"] * w - d["k"]) ** 2).sum())
    for _ in range(2):
        np.testing.assert_allclose(gradient(2.0, TABLE), (2 * (TABLE.x * 2 - TABLE.k) * TABLE.x).sum())


def test_columns_that_hold_no_numbers_are_not_lost():
    frame = pd.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"], "t": pd.date_range("2020", periods=2)})
    assert list(indim.jit(lambda d: d["x"] * 2)(frame)) == [2.0, 4.0]
    assert indim.jit(lambda d: d["x"] * len([label for label in "stu" if label in d]))(frame)[0] == 2.0
    assert indim.jit(lambda d: d["x"] * d.shape[1])(frame)[0] == 3.0
    for function in (lambda d: (d["x"], d), lambda d: d.assign(z=d.x * 2), lambda d: (d["x"], d.columns)):
        with pytest.raises(TypeError, match="would lack the columns 's', 't'|is a Series of|hold no numbers"):
            indim.jit(function)(frame)
    assert list(indim.jit(lambda d: d[["x"]].assign(z=d.x * 2))(frame).columns) == ["x", "z"]
    gradient = indim.grad(lambda d: (d["x"] ** 2).sum())(frame)
    assert list(gradient.columns) == ["x"] and list(gradient.x) == [2.0, 4.0]


def test_a_number_is_no_label_of_a_column():
    function = indim.jit(lambda d: d[0] * 2)
    numbers, mixed = pd.DataFrame(np.arange(4.0).reshape(2, 2)), pd.DataFrame({0: [0.0, 2.0], 1: ["a", "b"]})
    for _ in range(2):
        assert list(function(numbers)) == [0, 2]
        with pytest.raises(TypeError, match="may be a row or a column"):
            function(mixed)


def test_keyword_only_and_collected_arguments():
    for call in (
        lambda: indim.jit(lambda *, s: s + 1)(s=a),
        lambda: indim.jit(lambda **options: options["s"] + 1)(s=a),
        lambda: indim.jit(lambda *values, b: values[0] + b)(a, b=1),
        lambda: indim.jit(lambda *, d: d["a"] + 1)(d=frame),
    ):
        pd.testing.assert_series_equal(call(), a + 1)
    pd.testing.assert_series_equal(indim.jit(lambda *values: values[0] + values[1])(a, a), a + a)
    np.testing.assert_array_equal(indim.jit(np.sort)(a[::-1]), np.sort(a))
    assert indim.jit(np.mean)(a) == 2


def test_labels_of_whole_frames_are_read_by_columns():
    for numbers in (frame, TABLE[["x", "k"]]):
        label = numbers.columns[0]
        for function in (
            lambda d, label=label: d[label] * 2 if label in d else d.iloc[0],
            lambda d, label=label: {name: d[name] for name in d}[label] * 2,
        ):
            expected = numbers[label] * 2
            pd.testing.assert_series_equal(indim.jit(function)(numbers), expected, check_names=False)
    # An array that is computed from a DataFrame is iterated over as in NumPy.
    rows = indim.jit(lambda d: sum(row for row in d * 2))(frame)
    pd.testing.assert_series_equal(rows, frame.sum() * 2)


def test_gradients_have_the_names_of_their_arguments():
    gradient = indim.grad(lambda p, q: (p * q).sum(), argnums=(0, 1))
    found = gradient(pd.Series([1.0, 2.0], name="a"), pd.Series([3.0, 4.0], name="b"))
    assert [series.name for series in found] == ["a", "b"]
    gradient = indim.grad(lambda d, w: (d["p"] * w).sum(), argnums=(0, 1))
    of_frame, of_weights = gradient(pd.DataFrame({"p": [1.0, 2.0]}), pd.Series([3.0, 4.0], name="w"))
    assert of_weights.name == "w" and list(of_frame.columns) == ["p"]


def test_traced_values_to_the_left_of_columns():
    frame = pd.DataFrame({"x": [1.0, 2.0], "k": [3, 4], "text": ["a", "b"]})
    for function in (
        lambda d: d["x"].sum() * d[["x", "k"]],
        lambda d: np.add(d["x"].sum(), d[["x", "k"]]),
        lambda d: d["x"].sum() - d[["x", "k"]],
    ):
        found = indim.jit(function)(frame)
        assert list(found.columns) == ["x", "k"]
    np.testing.assert_array_equal(found["k"], [0.0, -1.0])


def test_methods_of_whole_frames_in_derivatives_and_branches_are_refused_too():
    for function in (
        lambda d: indim.grad(lambda d: np.sum((d - d.mean()) ** 2))(d),
        lambda d: indim.cond(True, lambda d: d - d.mean(), lambda d: d, d),
        lambda d: np.exp(d.copy()).astype("f4").max() * d,
    ):
        with pytest.raises(TypeError, match=r"stands for a DataFrame.*\(axis=0\)"):
            indim.jit(function)(frame)


def test_axes_of_whole_frames_have_pandas_names():
    for axis in ("index", "rows", "columns"):
        found = indim.jit(lambda d, axis=axis: d.mean(axis=axis))(frame)
        pd.testing.assert_series_equal(found, frame.mean(axis=axis))
        found = indim.jit(lambda d, axis=axis: (d * 2.0).cumsum(axis))(frame)
        pd.testing.assert_frame_equal(found, (frame * 2.0).cumsum(axis))


def test_jacobians_of_columns_are_dicts_of_them():
    table = TABLE[["x"]].assign(y=3.0, s="text")
    for jacobian in (indim.jacrev, indim.jacfwd):
        found = jacobian(lambda d: {"product": d["x"] * d["y"], "sum": np.sum(d["x"] * d["y"])})(table)
        assert list(found["product"]) == ["x", "y"]
        expected = pd.DataFrame(np.diag(table.y), table.index, table.index)
        pd.testing.assert_frame_equal(found["product"]["x"], expected)
        np.testing.assert_array_equal(found["product"]["y"], np.diag(table.x))
        pd.testing.assert_frame_equal(found["sum"], pd.DataFrame({"x": table.y, "y": table.x}))
    second = indim.hessian(lambda d: (d["x"] ** 2 * d["y"]).sum())(table)
    np.testing.assert_array_equal(second["x"]["x"], np.diag(2 * table.y))
    np.testing.assert_array_equal(second["x"]["y"], second["y"]["x"])
    both = indim.jacobian(lambda w, d: d["x"] * w, argnums=(0, 1))(2.0, table)
    np.testing.assert_array_equal(both[1]["x"], 2 * np.eye(len(table)))


def test_sizes_from_data():
    function = indim.jit(lambda x: (x * 2, x[x > 1], x.sum()))
    for _ in range(2):
        double, kept, total = function(a)
        pd.testing.assert_series_equal(double, a * 2)
        assert type(kept) is np.ndarray and kept.tolist() == [2.0, 3.0] and total == 6
    double, kept = indim.jit(lambda d: (d * 2, d["a"][d["b"] > 4]))(frame)
    pd.testing.assert_frame_equal(double, frame * 2)
    assert kept.tolist() == [2.0, 3.0]
    product, _ = indim.jit(lambda d: (d["x"] * d["k"], d["k"][d["x"] > 1]))(TABLE)
    pd.testing.assert_series_equal(product, TABLE.x * TABLE.k)
    # Labels that meet in the mask alone are compared too.
    with pytest.raises(ValueError, match="the labels of `y` differ"):
        indim.jit(lambda x, y: (x * 2, x[x > y]))(a, a.rename(index={"x": "other"}))
    with pytest.raises(TypeError, match=r"write np.where\(mask, d, np.nan\)"):
        indim.jit(lambda d: d[d > 1])(frame)


def test_gradients_by_positions_have_labels():
    for function in (lambda x: np.sum(x[x > 1] ** 2), lambda x: np.sum(x[1:] ** 2)):
        expected = pd.Series([0.0, 4.0, 6.0], a.index, name=a.name)
        pd.testing.assert_series_equal(indim.grad(function)(a), expected)
    gradient = indim.grad(lambda d: np.sum(d[1:] ** 2))(frame)
    expected = 2 * frame
    expected.iloc[0] = 0.0
    pd.testing.assert_frame_equal(gradient, expected)


@pytest.mark.parametrize("axis", ["index", "columns", 0])
def test_functions_of_numpy_take_the_names_of_axes(axis):
    pd.testing.assert_series_equal(
        indim.jit(lambda f: np.sum(f, axis=axis))(frame), np.sum(frame, axis=axis)
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda f: f["a"] * 2,
        lambda f: f["a"] * 2 + f["b"].mean(),
        lambda f: f["a"] - np.max(f["b"]),
        lambda f: f["a"] + f["b"],
        lambda f: np.where(f["a"] > 1, f["a"], 0) * f["a"],
    ],
)
def test_a_result_has_the_name_of_the_columns_that_it_is_computed_from(function):
    pd.testing.assert_series_equal(indim.jit(function)(frame), function(frame))


def test_each_result_has_its_name():
    def function(f, c):
        return f["a"] * 2, f["b"] / c.sum(), f["a"] - f["b"], c * f["a"].std(ddof=0)

    c = pd.Series([1.0, 2.0], name="c")
    for found, name in zip(indim.jit(function)(frame, c), ("a", "b", None, "c"), strict=True):
        assert isinstance(found, pd.Series) and found.name == name


def test_sorted_elements_have_no_labels():
    """As in NumPy; positions of sorted elements have those of pandas' `argsort`, and ranks are elements'."""
    s = pd.Series([3.0, 1.0, 2.0, 5.0], index=list("abcd"), name="v")
    d = pd.DataFrame({"u": s, "w": [1.0, 2.0, 3.0, 0.0]})
    for function, argument in (
        (np.sort, s),
        (lambda s: np.sort(s + 1) * 2, s),
        (lambda s: np.partition(s, 2), s),
        (lambda d: np.sort(d["u"] + d["w"]), d),
        (lambda d: np.sort(d, axis=0), d),
        (lambda d: np.sort(d), d),
    ):
        found = indim.jit(function)(argument)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, function(argument))
    for function in (
        lambda s: indim.top_k(s, 4, largest=False)[0],
        lambda s: np.take_along_axis(s, np.argsort(s), 0),
        lambda s: s[np.argsort(s) + 0],
    ):
        found = indim.jit(function)(s)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, np.sort(s))
    found = indim.jit(lambda d: np.take_along_axis(d, np.argsort(d, axis=0), 0))(d)
    np.testing.assert_array_equal(found, np.sort(d, axis=0))
    for function in (np.argsort, lambda s: np.argsort(np.argsort(s)) + 1, lambda s: np.sort(s) + s):
        pd.testing.assert_series_equal(indim.jit(function)(s), function(s))
    # Labels along the other axis stay.
    pd.testing.assert_series_equal(indim.jit(lambda d: np.median(d, axis=0))(d), d.median())
    assert type(indim.evaluate("sort(s)", s=s)) is np.ndarray


def test_the_array_of_a_series_is_the_series():
    for function in (lambda s: s.to_numpy() * 2, lambda s: s.values * 2):
        with pytest.raises(AttributeError, match="leave it out, because a Series is an array"):
            indim.jit(function)(a)


def test_advice_for_methods_of_series_is_right():
    """Each advised call gives pandas' values."""
    x = pd.Series([3.0, 1.0, 2.5, 5.0], name="x")
    y, indices = x * x - 1, np.array([0, 1, 0, 1])
    window = np.lib.stride_tricks.sliding_window_view
    calls = [
        (lambda x: x.quantile(0.3), lambda x: np.quantile(x, 0.3)),
        (lambda x: x.rank(), lambda x: np.argsort(np.argsort(x)) + 1),
        (lambda x: x.shift(), lambda x: np.concatenate([[np.nan], x[:-1]])),
        (lambda x: x.where(x > 2).fillna(0), lambda x: np.where(x > 2, x, 0)),
        (lambda x: x.rolling(2).mean()[1:], lambda x: window(x, 2).mean(axis=-1)),
        (lambda x: x.ewm(alpha=0.3, adjust=False).mean(), lambda x: indim.scan(
            lambda m, v: (m + 0.3 * (v - m),) * 2, x[0], x)[1]),
        (lambda x: x.expanding().mean(), lambda x: np.cumsum(x) / np.arange(1, x.size + 1)),
        (lambda x: x.pct_change()[1:], lambda x: x[1:] / x[:-1] - 1),
        (lambda x: x.corr(y), lambda x: np.corrcoef(x, y.to_numpy())[0, 1]),
        (lambda x: x.cov(y), lambda x: np.cov(x, y.to_numpy())[0, 1]),
        (lambda x: x.sem(), lambda x: np.std(x, ddof=1) / np.sqrt(x.size)),
        (lambda x: x.nlargest(2), lambda x: indim.top_k(x, 2)[0]),
        (lambda x: x.groupby(indices).sum(), lambda x: indim.segment_sum(x, indices, 2)),
    ]
    for of_pandas, advised in calls:
        expected = np.asarray(of_pandas(x))
        np.testing.assert_allclose(indim.jit(advised)(x.to_numpy()), expected, rtol=1e-12)
    for function in (lambda x: x.quantile(0.3), lambda x: x.rank(), lambda x: x.shift()):
        with pytest.raises(AttributeError, match="which has no `.*` of pandas: write np"):
            indim.jit(function)(x)


@pytest.mark.parametrize("name", ["std", "var"])
def test_divisors_of_spreads(name):
    series, frame = pd.Series([1.0, 2.0, 4.0]), pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 5.0, 3.0]})
    of_series = indim.jit(lambda x: getattr(x, name)())
    of_slice = indim.jit(lambda x: getattr(x[1:] * 2, name)(axis=0))
    of_column = indim.jit(lambda d: getattr(d["a"], name)())
    of_frame = indim.jit(lambda d: getattr(d, name)(axis=0))
    gradient = indim.grad(lambda x: getattr(x, name)())
    for function, argument in [
        *((of_series, series), (of_slice, series), (of_column, frame), (of_frame, frame), (gradient, series)),
    ]:
        with pytest.raises(TypeError, match=rf"\.{name}\(\) of pandas divides by n - 1, .*ddof=1\) or"):
            function(argument)
    # The same function of an array divides by n.
    assert of_series(series.to_numpy()) == getattr(series.to_numpy(), name)()
    for ddof in (0, 1):
        found = indim.jit(lambda x: getattr(x, name)(ddof=ddof))(series)
        np.testing.assert_allclose(found, getattr(series, name)(ddof=ddof))
        found = indim.jit(lambda d: getattr(d, name)(axis=0, ddof=ddof))(frame)
        pd.testing.assert_series_equal(found, getattr(frame, name)(ddof=ddof))
    np.testing.assert_allclose(indim.jit(getattr(np, name))(series), getattr(np, name)(series))


def test_positions_of_partitions_have_no_labels():
    x = pd.Series([1.0, 4, 2, 3], index=list("abcd"))
    for call, expected in (
        (lambda x: np.argpartition(x, 2), np.argpartition(x, 2)),
        (lambda x: indim.top_k(x, 4)[1], [1, 3, 2, 0]),
        (lambda x: indim.top_k(x, 2)[1], [1, 3]),
        (lambda x: x[indim.top_k(x, 4)[1]], [4, 3, 2, 1]),
    ):
        found = indim.jit(call)(x)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)
