"""Series and DataFrames of polars, arrays and tables of pyarrow: results keep classes and names."""

import numpy as np
import pytest

import indim

pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")

SERIES = pl.Series("a", [1.0, 2.0, 3.0])
COLUMNS = [SERIES, pa.array([1.0, 2.0, 3.0]), pa.chunked_array([[1.0, 2.0], [3.0]])]
DATA = {"x": [1.0, 2.0, 3.0], "k": [1, 2, 3], "t": ["a", "b", "c"]}
TABLES = [pl.DataFrame(DATA), pa.table(DATA), pa.RecordBatch.from_pydict(DATA)]


def check(found, like, expected):
    """A result of the class of ``like``, with its name and these elements."""
    assert isinstance(found, (pa.Array, pa.ChunkedArray) if isinstance(like, pa.Array) else type(like))
    assert getattr(found, "name", None) == getattr(like, "name", None)
    np.testing.assert_allclose(np.asarray(found), expected)


@pytest.mark.parametrize("x", COLUMNS)
def test_results_along_the_rows_keep_the_class_and_the_name(x):
    for call in (
        lambda: indim.jit(lambda x: x * 2)(x),
        lambda: indim.evaluate("x * 2", x=x),
        lambda: indim.multiply(x, 2),
        lambda: indim.jit(lambda d: {"y": d["x"] * 2})({"x": x})["y"],
        lambda: indim.vmap(lambda x: x * 2)(x),
        lambda: indim.numexpr.evaluate("x * 2", {"x": x}),
        lambda: indim.jit(lambda x, v: x * v)(x, np.full(3, 2.0)),
    ):
        check(call(), x, [2, 4, 6])
    check(indim.jit(np.cumsum)(x), x, [1, 3, 6])
    larger = indim.jit(lambda x: x > 1)(x)
    check(larger, x, [False, True, True])
    assert str(getattr(larger, "dtype", None) or larger.type) in ("Boolean", "bool")
    check(indim.grad(lambda x: (x * x).sum())(x), x, [2, 4, 6])


@pytest.mark.parametrize("x", COLUMNS)
def test_other_results_are_arrays(x):
    for function, expected in (
        (lambda x: x.sum(), 6),
        (lambda x: x[1:], [2, 3]),
        (lambda x: x[x > 1], [2, 3]),
        (lambda x: x[:, None] * x, np.outer([1, 2, 3], [1, 2, 3])),
        (lambda x: x * 1j, [1j, 2j, 3j]),
    ):
        found = indim.jit(function)(x)
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, expected)
    out = np.empty(3)
    assert indim.jit(lambda x: x + 1)(x, out=out) is out and out.tolist() == [2, 3, 4]
    # Values that are no arguments are arrays.
    np.testing.assert_array_equal(indim.jit(lambda y: y + x)(np.ones(3)), [2, 3, 4])
    np.testing.assert_array_equal(indim.asarray(x), [1, 2, 3])
    assert "f64[3]" in str(indim.jit(lambda x: x + 1.0).explain(x))


def test_the_first_name_is_that_of_the_result():
    other = pl.Series("b", [4, 5, 6])
    check(indim.jit(lambda x, y: x + y)(SERIES, other), SERIES, [5, 7, 9])
    check(indim.evaluate("y - x", x=SERIES, y=other), other, [3, 3, 3])
    with pytest.raises(indim.ShapeError, match="size-mismatch"):
        indim.add(SERIES, other[:2])


def test_arrays_as_elements():
    matrix = pl.Series("m", [[1.0, 2.0], [3.0, 4.0]], dtype=pl.Array(pl.Float64, 2))
    check(indim.jit(lambda x: x.sum(axis=1))(matrix), matrix, [3, 7])
    assert indim.jit(lambda x: x * 2)(matrix).tolist() == [[2, 4], [6, 8]]


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_read_by_columns(table):
    like = table["x"]
    product = indim.jit(lambda d: d["x"] * d["k"])(table)
    check(product, like, [1, 4, 9])
    assert indim.jit(lambda d: (d["x"] * d["k"]).sum())(table) == 14
    doubled = indim.jit(lambda d: d[["x", "k"]] * 2)(table)
    assert type(doubled) is type(table) and list(map(str, _names(doubled))) == ["x", "k"]
    check(doubled["k"], doubled["k"], [2, 4, 6])
    assert "int64" in str(doubled["k"].dtype if hasattr(doubled["k"], "dtype") else doubled["k"].type).lower()
    more = indim.jit(lambda d: d[["x"]].with_columns(z=d["x"] * d["k"], m=d["x"].mean()))(table)
    assert _names(more) == ["x", "z", "m"]
    np.testing.assert_array_equal(np.asarray(more["m"]), [2, 2, 2])
    gradient = indim.grad(lambda d: (d["x"] ** 2).sum())(table.select(["x"]))
    assert type(gradient) is type(table)
    np.testing.assert_array_equal(np.asarray(gradient["x"]), [2, 4, 6])


def _names(table):
    return table.columns if isinstance(table, pl.DataFrame) else table.schema.names


@pytest.mark.parametrize("table", TABLES)
def test_what_tables_refuse(table):
    for message, call in (
        (r"`d\['t'\]` is a .* of (String|string); indim", lambda: indim.jit(lambda d: d["t"])(table)),
        ("'q' is no column of `d`", lambda: indim.jit(lambda d: d["q"])(table)),
        ("`d` has no `mean`", lambda: indim.jit(lambda d: d.mean())(table)),
        ("would lack the columns 't'", lambda: indim.jit(lambda d: d)(table)),
        ("would be lost: pass it to a compiled function", lambda: indim.add(table, 1)),
        ("would be lost: pass it to a compiled function", lambda: indim.evaluate("t + 1", t=table)),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(TypeError, match=r"`d` is a polars LazyFrame.*`d.collect\(\)`"):
        indim.jit(lambda d: d["x"])(TABLES[0].lazy())


def test_columns_without_numbers_say_what_to_write():
    days = pa.array([1, 2]).cast(pa.timestamp("s"))
    for value, message in (
        (pl.Series(["a"]), "a polars Series of String; indim computes with numbers and bool$"),
        (pl.Series([0]).cast(pl.Date), r"polars Series of Date; .* pass `x.to_physical\(\)`"),
        (pl.Series([1]).cast(pl.Decimal(10, 2)), r"of Decimal.* pass `x.cast\(float\)`"),
        (days, r"pyarrow TimestampArray of timestamp\[s\]; .* pass `x.cast\(\"int64\"\)`"),
    ):
        with pytest.raises(TypeError, match=message):
            indim.jit(lambda x: x + 1)(value)


def test_rows_of_size_1_meet_longer_ones():
    one = pl.Series("one", [1.0])
    check(indim.add(one, SERIES), SERIES, [2, 3, 4])
    check(indim.add(one, one), one, [2])


_DICTIONARY = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1, None]))


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (pl.Series([1, None, 3]), r"fill_null\(value\)`.*drop_nulls\(\)`.*`x.to_numpy\(\)`, in which"),
        (pl.Series([[1, None], [3, 4]], dtype=pl.Array(pl.Int64, 2)), "polars Series with 1 missing"),
        (pl.Series([True, None]), r"`x.cast\(float\).to_numpy\(\)`, in which"),
        (pa.array([1, None, 3]), r"Int64Array with 1 missing.*`x.to_numpy\(zero_copy_only=False\)`, in"),
        (pa.array([True, None]), r"`x.cast\(\"float64\"\).to_numpy\(zero_copy_only=False\)`, in which"),
        (pa.chunked_array([[1, 2], [None]]), r"ChunkedArray with 1 .*drop_null\(\)`.*`x.to_numpy\(\)`, in"),
        (_DICTIONARY, "DictionaryArray with 1 missing"),
        (pa.chunked_array([_DICTIONARY]), "ChunkedArray with 1 missing"),
    ],
)
def test_nulls_are_an_error(value, advice):
    for call in (
        lambda: indim.jit(lambda x: x + 1)(value),
        lambda: indim.evaluate("x + 1", x=value),
        lambda: indim.add(value, 1),
        lambda: indim.asarray(value),
    ):
        with pytest.raises(TypeError, match=advice):
            call()
    x = value
    with pytest.raises(TypeError, match=advice):
        indim.jit(lambda y: y + x)(np.ones(1))
    name = advice.rpartition("`")[0].rpartition("`")[2].replace("\\", "")
    if name:
        assert np.isnan(np.asarray(eval(name, {"x": value}))).sum() == 1


def test_columns_meet_arrays_of_other_packages():
    pd, da = pytest.importorskip("pandas"), pytest.importorskip("dask.array")
    add = indim.jit(lambda x, y: x + y)
    assert isinstance(add(pd.Series([1.0, 2.0, 3.0]), SERIES), pd.Series)
    assert add(da.ones(3), SERIES).compute().tolist() == [2, 3, 4]
    assert indim.evaluate("x + y", x=da.ones(3), y=COLUMNS[1]).compute().tolist() == [2, 3, 4]


def test_inputs_of_models(tmp_path):
    path = tmp_path / "double.stablehlo"
    indim.jit(lambda x: x * 2).export("stablehlo", "f64[3]", path=path)
    for x in COLUMNS:
        assert indim.load(path)(x).tolist() == [2, 4, 6]


def test_gradients_have_the_class_and_the_name_of_their_arguments():
    s, c = pl.Series("s", [1.0, 2.0]), pl.Series("c", [3.0, 4.0])
    gradient = indim.grad(lambda p, q: (p * q).sum(), argnums=(0, 1))
    assert [found.name for found in gradient(s, c)] == ["s", "c"]
    assert [type(found) for found in gradient(s, pa.array([3.0, 4.0]))] == [pl.Series, pa.DoubleArray]
    assert [type(found) for found in gradient(np.ones(2), s)] == [np.ndarray, pl.Series]
    of_dict = indim.grad(lambda d: (d["p"] * d["c"]).sum())({"p": s, "c": c})
    assert of_dict["c"].name == "c" and of_dict["c"].to_list() == [1.0, 2.0]
    frame = pl.DataFrame({"p": [1.0, 2.0], "c": [3.0, 4.0], "text": ["a", "b"]})
    of_frame = indim.grad(lambda d: (d["p"] * d["c"]).sum())(frame)
    assert of_frame.columns == ["p", "c"] and of_frame["c"].to_list() == [1.0, 2.0]


def test_jacobians_of_tables_are_dicts_of_columns():
    columns = {"p": np.array([1.0, 2.0]), "q": np.array([3.0, 4.0])}
    for table in (pl.DataFrame(columns), pa.table(columns)):
        found = indim.jacobian(lambda d: d["p"] * d["q"])(table)
        np.testing.assert_array_equal(found["p"], np.diag(columns["q"]))
        np.testing.assert_array_equal(found["q"], np.diag(columns["p"]))
        found = indim.jacobian(lambda d: (d["p"] * d["q"]).sum())(table)
        assert type(found) is type(table) and found["p"].to_numpy().tolist() == [3.0, 4.0]


def test_results_beside_those_of_sizes_from_data_keep_their_class():
    function = indim.jit(
        lambda x: {"double": x * 2, "kept": [x[x > 1], np.nonzero(x > 2)[0]], "sum": x.sum()}
    )
    for column in COLUMNS:
        for _ in range(2):
            found = function(column)
            check(found["double"], column, [2.0, 4.0, 6.0])
            assert [type(part) for part in found["kept"]] == [np.ndarray, np.ndarray] and found["sum"] == 6
    # A size from data may be that of the argument.
    assert type(function(SERIES + 1)["kept"][0]) is np.ndarray
    for table in TABLES:
        double, kept = indim.jit(lambda d: (d[["x", "k"]] * 2, d["x"][d["k"] > 1]))(table)
        assert type(double) is type(table) and kept.tolist() == [2.0, 3.0]


def test_gradients_by_positions_have_the_class_of_their_arguments():
    for function in (lambda x: np.sum(x[x > 1] ** 2), lambda x: np.sum(x[np.array([1, 2])] ** 2)):
        for column in COLUMNS:
            check(indim.grad(function)(column), column, [0.0, 4.0, 6.0])


def test_divisors_of_spreads():
    of_series, of_column = indim.jit(lambda x: x.std()), indim.jit(lambda d: d["x"].var())
    for function, argument in ((of_series, SERIES), (of_column, TABLES[0])):
        with pytest.raises(TypeError, match=r"of polars divides by n - 1, .*\(ddof=1\) or"):
            function(argument)
    found = indim.jit(lambda x: x.std(ddof=1))(SERIES)
    np.testing.assert_allclose(found, SERIES.std())
    # Arrays of pyarrow have no such method.
    np.testing.assert_allclose(of_series(COLUMNS[1]), SERIES.std(ddof=0))
