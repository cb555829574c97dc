"""`indim.array_api`: the names, types and values of the array API standard, also in compiled functions."""

import inspect

import numpy as np
import pytest

import indim
from indim import array_api

reference = pytest.importorskip("array_api_strict")

RANDOM = np.random.default_rng(11)
F, G = RANDOM.normal(size=(2, 3, 4))
P, SQUARE = RANDOM.random((3, 4)) + 0.1, RANDOM.normal(size=(3, 3))
I, B, Z = RANDOM.integers(1, 9, (3, 4)), F > 0, F + 1j * G
ARRAYS = {
    **{"f": F, "g": G, "p": P, "s": SQUARE, "b": B, "z": Z, "v": F[0], "i": I, "k": np.array([2, 0, 1])},
    **{"f4": F.astype("f4"), "p4": P.astype("f4"), "i4": I.astype("i4"), "u1": I.astype("u1")},
    "c8": Z.astype("c8"),
}

#: Each line has the names of functions, the operands, and the keywords of the calls.
CALLS = """
    abs acos asin asinh atan ceil cos cosh exp expm1 floor log log10 log1p log2 : p | p4
    negative positive reciprocal round sign signbit sin sinh sqrt square tan tanh trunc : p | p4
    isfinite isinf isnan : f4 | p
    atanh : p / 2
    acosh : p + 1
    abs ceil floor positive round sign square trunc isfinite isinf isnan : i4 | u1
    abs exp log sqrt square sign negative real imag conj isfinite : c8 | z
    add subtract multiply divide equal not_equal less less_equal greater : p, g | f4, p | f4, 2.0 | 2.0, f4
    greater_equal maximum minimum atan2 hypot copysign nextafter logaddexp : p, g | f4, p | f4, 2.0 | 2.0, f4
    pow floor_divide remainder : p, f | p4, p | p4, 2.0 | 2.0, p4
    add subtract multiply equal less maximum pow floor_divide remainder : i4, i | u1, i4 | u1, u1 | u1, 2
    add subtract multiply divide equal : c8, z | c8, f4
    bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift : i4, i4 | u1, 2
    bitwise_invert : i4 | b
    logical_and logical_or logical_xor : b, ~b
    logical_not : b
    clip : f | f4, 0.0 | f4, -1.0, 0.5 | i4, min=0 | u1, max=3 | f, g, g + 1
    sum prod max min : f | f4 | i4 | u1 | f, axis=0 | f4, axis=(0, 1) | f, axis=-1, keepdims=True
    sum prod : c8 | c8, axis=1 | f4, dtype=xp.float64 | u1, axis=0, dtype=xp.int64
    mean : f | f4 | f, axis=0 | f4, axis=(0, 1) | f, axis=-1, keepdims=True
    std var : f | f4 | f, axis=1, correction=1 | f4, correction=0.5, keepdims=True
    all any : b | f | b, axis=0 | f, axis=(0, 1), keepdims=True
    argmax argmin : f | f, axis=1 | f, axis=0, keepdims=True | i, keepdims=True
    sort argsort : f | f, axis=0 | f, descending=True | f, axis=0, descending=True, stable=False | v
    argsort : i4, descending=True, stable=True | u1
    cumulative_sum cumulative_prod : v | f4, axis=0 | u1, axis=1, include_initial=True
    cumulative_sum cumulative_prod : f4, axis=-1, dtype=xp.float64
    count_nonzero : i % 2 | b, axis=1, keepdims=True
    diff : f | f, axis=0, n=2 | f, prepend=f[:, :1], append=f[:, -1:]
    searchsorted : xp.sort(v), f | v, f, side="right", sorter=xp.argsort(v)
    take : f, k, axis=0 | v, k
    take_along_axis : f, xp.argsort(f) | f, xp.argsort(f, axis=0), axis=0
    where : b, f, f4 | b, f4, 2 | b, 1.5, f4
    unique_all unique_counts unique_inverse : i | v
    sort : xp.unique_values(i)
    nonzero : i % 2
    concat : [f, f4] | (f, g), axis=None | [i4, u1], axis=-1
    stack : [f, g], axis=1
    unstack : f | f, axis=1
    expand_dims : f, axis=1 | f, axis=0
    squeeze : f[None, ...], axis=0
    flip : f | f, axis=(0, 1)
    moveaxis : f, 0, 1
    permute_dims : f, (1, 0)
    repeat : f, 2 | f, 2, axis=0
    reshape : f, (4, 3) | f, (-1,), copy=True
    roll : f, 1 | f, (1, 2), axis=(0, 1)
    tile : f, (2, 1)
    broadcast_to : v, (3, 4)
    broadcast_arrays : f, v
    astype : f, xp.float32 | f, xp.float64, copy=False | b, xp.int8
    zeros : (2, 3), dtype=xp.result_type(f, f4) | 2, dtype=xp.result_type(f4, 1.0)
    asarray : xp.isdtype(f4.dtype, ("integral", "real floating")) | xp.can_cast(f4, xp.float64)
    asarray : float(xp.finfo(f4.dtype).eps) | xp.iinfo(i4.dtype).max | f, dtype=xp.float32 | [1, 2], copy=True
    arange : 4 | 0.0, 4.0, 0.5, dtype=xp.float32
    ones : 3, dtype=xp.int32
    full : 2, 3 | 2, 3.5 | 2, True
    eye : 3 | 3, 4, k=1, dtype=xp.float32
    linspace : 0, 1, 5 | 0.0, 1.0, num=5, endpoint=False, dtype=xp.float32
    meshgrid : v, v | v, v[:2], indexing="ij"
    zeros_like ones_like : f4 | f4, dtype=xp.int16
    full_like : f4, 2 | f4, 2, dtype=xp.int8
    zeros_like : xp.empty_like(f4) | xp.empty((2, 3))
    tril triu : f | f, k=1
    matmul linalg.matmul : s, f | s, s
    tensordot linalg.tensordot : f, g | f, f4, axes=([0], [0])
    vecdot linalg.vecdot : f, g | c8, z, axis=-2
    matrix_transpose linalg.matrix_transpose : f
    linalg.cross : s, s + 1
    linalg.diagonal linalg.trace : f, offset=1 | f4
    linalg.matrix_norm : f | f, keepdims=True, ord=1
    linalg.matrix_power : s, 3
    linalg.outer : v, v
    linalg.vector_norm : f, axis=1, ord=3 | f4, keepdims=True
    fft.fft fft.ifft : c8 | z, n=3, axis=0, norm="ortho"
    fft.fftn fft.ifftn : z | z, s=(2, 2), axes=(0, 1)
    fft.rfft fft.ihfft : f4 | f, n=3, norm="forward"
    fft.irfft fft.hfft : c8, n=5
    fft.rfftn : f
    fft.irfftn : z
    fft.fftshift fft.ifftshift : f | f, axes=1
    fft.fftfreq fft.rfftfreq : 5, d=0.5 | 5, dtype=xp.float32
"""


def calls():
    for line in CALLS.strip().splitlines():
        names, _, options = line.partition(" : ")
        for name in names.split():
            for arguments in options.split(" | "):
                yield name, arguments


def leaves(result):
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


@pytest.mark.parametrize("name, arguments", list(calls()))
def test_a_function_of_the_standard(name, arguments):
    code = compile(f"xp.{name}({arguments})", "call", "eval")
    call = lambda xp, arrays: eval(code, {"xp": xp, **arrays})
    expected = leaves(call(reference, {key: reference.asarray(array) for key, array in ARRAYS.items()}))
    expected = [np.asarray(getattr(array, "_array", array)) for array in expected]
    names = [key for key in ARRAYS if key in code.co_names]
    compiled = indim.jit(lambda *arrays: call(array_api, dict(zip(names, arrays))))
    for found in (call(array_api, ARRAYS), compiled(*(ARRAYS[key] for key in names))):
        found = [np.asarray(array) for array in leaves(found)]
        assert [(array.dtype, array.shape) for array in found] == [
            (array.dtype, array.shape) for array in expected
        ]
        for array, other in zip(found, expected):
            np.testing.assert_allclose(array, other, rtol=1e-4, atol=1e-6)


def test_every_name_of_the_standard():
    tested = {name.partition(".")[0] for name, _ in calls()} | {"unique_values"}
    #: Names of version 2025.12, and of array_api_strict itself.
    others = {"broadcast_shapes", "isin", "Device", "ModuleType", "ArrayAPIStrictFlags"}
    names = {name for name in dir(reference) if name[0] != "_" and not name.endswith("_strict_flags")}
    assert names - others == set(array_api.__all__) - {
        *("fft", "linalg", "__array_api_version__", "__array_namespace_info__")
    }
    values = {"can_cast", "finfo", "from_dlpack", "iinfo", "isdtype"}
    values |= {*array_api._CONSTANTS, *array_api._TYPES}
    assert names - others - values - {"empty", "empty_like", "result_type"} <= tested


def test_parameters_of_the_standard():
    for name in array_api.__all__:
        function, own = getattr(reference, name, None), getattr(array_api, name)
        if not inspect.isfunction(function) or isinstance(own, np.ufunc):
            continue
        parameters = inspect.signature(own).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            of_standard = inspect.signature(function).parameters.values()
            by_keyword = {of.name for of in of_standard if of.kind is of.KEYWORD_ONLY}
            assert by_keyword <= set(parameters), name
        if inspect.isfunction(own) and own.__module__ == array_api.__name__:
            kinds = [(of.name, of.kind) for of in parameters.values()]
            of_standard = inspect.signature(function).parameters.values()
            assert kinds == [(of.name, of.kind) for of in of_standard]


def test_limits_of_clip_have_no_part_in_its_type():
    x, limit = np.array([5, 200], np.uint8), np.array(100, np.int16)
    for clip in (array_api.clip, indim.jit(lambda x, limit: array_api.clip(x, max=limit))):
        clipped = clip(x, max=limit) if clip is array_api.clip else clip(x, limit)
        assert clipped.dtype == np.uint8 and clipped.tolist() == [5, 100]


def test_types_and_limits():
    for kind in (array_api.bool, "bool", (array_api.int8, array_api.bool), ("numeric", "bool")):
        assert array_api.isdtype(array_api.bool, kind) and array_api.isdtype(np.dtype("?"), kind)
        assert not array_api.isdtype(array_api.complex64, "real floating")
    for name in ("float32", "float64", "complex64"):
        limits = array_api.finfo(getattr(array_api, name))
        expected = np.finfo(name)
        for limit in ("eps", "max", "min", "smallest_normal"):
            found = getattr(limits, limit)
            assert type(found) is float and found == getattr(expected, limit)
        assert limits.bits == expected.bits and limits.dtype == expected.dtype


def test_the_namespace_of_a_traced_value():
    @indim.jit
    def f(x):
        xp = x.__array_namespace__(api_version="2024.12")
        assert xp is array_api and x.device == "cpu" and x.to_device("cpu") is x and x.mT.shape == (4, 3)
        assert xp.newaxis is None and xp.pi == np.pi and xp.from_dlpack(x) is x
        return xp.sum(x, axis=0, dtype=xp.float32)

    assert f(F).dtype == np.float32
    with pytest.raises(ValueError, match="indim has '2024.12'"):
        indim.jit(lambda x: x.__array_namespace__(api_version="2030.12").abs(x))(F)
    assert array_api.__array_api_version__ == "2024.12"
    assert "cpu" in array_api.__array_namespace_info__().devices()
    assert array_api.astype(F, "f64", copy=False) is F
    assert array_api.can_cast(np.int8, np.float32) and not array_api.can_cast(F, np.float32)
    assert array_api.from_dlpack(F) is not None and np.shares_memory(array_api.from_dlpack(F), F)
    with pytest.raises(AttributeError, match="the array API has no 'einsum_of_all'"):
        array_api.einsum_of_all
    with pytest.warns(RuntimeWarning, match="around a call of numpy.linalg.svdvals"):
        values = indim.jit(lambda x: x.__array_namespace__().linalg.svdvals(x))(SQUARE)
    np.testing.assert_array_equal(values, np.linalg.svdvals(SQUARE))
    np.testing.assert_allclose(array_api.linalg.inv(SQUARE), np.linalg.inv(SQUARE))


def test_transforms_of_real_numbers_refuse_complex_ones():
    for name, instead in (("rfft", "fft"), ("rfft2", "fft2"), ("rfftn", "fftn"), ("ihfft", "ifft")):
        with pytest.raises(TypeError, match=f"^{name} takes real numbers.*write {instead} for complex ones"):
            getattr(indim.fft, name)(Z)
        with pytest.raises(TypeError, match=f"^{name} takes real numbers"):
            indim.jit(getattr(np.fft, name))(Z)
