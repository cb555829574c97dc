"""Element types as strings, classes and dtypes have NumPy's meaning."""

import numpy as np
import pytest

import indim
from indim._arrays import NUMPY_NAMES, indim_name

TYPES = [np.dtype(name) for name in NUMPY_NAMES.values() if hasattr(np, name)]

#: NumPy's spellings of the element types that indim has: names, codes, byte orders, classes.
SPELLINGS = sorted(
    {spelling for dtype in TYPES for spelling in (dtype.name, dtype.str, dtype.str[1:], dtype.char)}
    | {
        ">f8",
        "=i4",
        "int",
        "float",
        "complex",
        "bool",
        "uint",
        "half",
        "single",
        "double",
        "intp",
        "?",
        "long",
        "short",
    }
) + [*TYPES, *(dtype.type for dtype in TYPES), bool, int, float, complex]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=repr)
def test_a_spelling_of_numpy_means_what_it_means_to_numpy(spelling):
    x = np.array([0, 1, 2, 100])
    expected = x.astype(spelling)
    conversions = {
        "astype": indim.astype(x, spelling),
        "convert_element_type": indim.convert_element_type(x, spelling),
        "method": indim.jit(lambda x: x.astype(spelling))(x),
        "traced": indim.jit(lambda x: indim.astype(x, spelling))(x),
    }
    for name, result in conversions.items():
        assert result.dtype == expected.dtype.newbyteorder("="), name
        np.testing.assert_array_equal(result, expected)


def test_values_beyond_8_bits_stay():
    x = np.array([300, -70_000, 1 << 40])
    assert indim.astype(x, "i8").tolist() == x.tolist()
    assert indim.jit(lambda x: x.astype("u8"))(x).tolist() == x.astype("u8").tolist()


def test_indims_own_names_that_numpy_has_not():
    for name, meaning in NUMPY_NAMES.items():
        if hasattr(np, meaning) and name not in ("i8", "u8", "f16"):
            assert indim_name(name) == indim_name(meaning) == name
            if name != "bool":
                with pytest.raises(TypeError):
                    np.dtype(name)
    for name in ("bf16", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz"):
        assert indim_name(name) == indim_name(NUMPY_NAMES[name]) == name
    assert (indim_name("int4"), indim_name("uint4")) == ("i4", "u4")
    assert (indim_name("i4"), indim_name("u4")) == ("i32", "u32"), "strings have NumPy's meaning"


@pytest.mark.parametrize(
    "spelling", ["f16", np.longdouble, "g", "S3", "M8[s]", object, "f128x", [("a", "i4")], "i4,i4"]
)
def test_what_indim_has_not_is_refused(spelling):
    x = np.zeros(2)
    for convert in (indim.astype, indim.jit(lambda x, dtype: x.astype(dtype), static="dtype")):
        with pytest.raises(TypeError):
            convert(x, spelling)
    if spelling == "f16":
        with pytest.raises(TypeError, match="half precision is 'float16'"):
            indim.astype(x, spelling)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_a_traced_conversion_heeds_casting(casting):
    for source in TYPES:
        for target in TYPES:
            f = indim.jit(lambda x: x.astype(target, casting=casting))
            if np.can_cast(source, target, casting):
                assert f(np.ones(2, source)).dtype == target
            else:
                with pytest.raises(TypeError, match="casting"):
                    f(np.ones(2, source))


def test_types_of_explanations_are_those_of_messages():
    assert indim.explain("x + 1", x="i8[3]").json["outputs"] == [{"dtype": "i8", "shape": [3]}]
    assert indim.explain("x + 1", x="int64[3]").json["outputs"] == [{"dtype": "i64", "shape": [3]}]
    for name in ("i2", "f8", "d", "x32"):
        with pytest.raises(ValueError, match="i64"):
            indim.explain("x + 1", x=f"{name}[3]")
