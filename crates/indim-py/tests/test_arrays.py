"""Arrays in and out: strides, orders, protocols, no copies."""

import gc
import itertools
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import indim


def views():
    """Arrays of shape (4, 5, 6) with many memory layouts."""
    base = np.arange(8 * 10 * 12.0).reshape(8, 10, 12)
    yield "c", base[:4, :5, :6].copy()
    yield "f", np.asfortranarray(base[:4, :5, :6])
    yield "sliced", base[::2, ::2, ::2]
    yield "reversed", base[:4, :5, :6].copy()[::-1, :, ::-1]
    for axes in itertools.permutations(range(3)):
        shape = [0, 0, 0]
        for axis, size in zip(axes, (4, 5, 6)):
            shape[axis] = size
        yield f"transposed {axes}", base[: shape[0], : shape[1], : shape[2]].transpose(axes)
    yield "expanded", np.broadcast_to(base[0, 0, :6], (4, 5, 6))
    yield "one row", np.broadcast_to(base[0, :5, :1], (4, 5, 6))
    yield "a diagonal", np.lib.stride_tricks.as_strided(base, (4, 5, 6), (8, 16, 8))


VIEWS = list(views())


@pytest.mark.parametrize("order", "KCFA")
@pytest.mark.parametrize(("x", "y"), list(itertools.product(VIEWS, VIEWS[:8])), ids=lambda view: view[0])
def test_values_and_layout_are_those_of_numpy(x, y, order):
    (_, x), (_, y) = x, y
    expected = np.add(x, y, order=order)
    result = indim.evaluate("x + y", order=order)
    np.testing.assert_array_equal(result, expected)
    assert result.strides == expected.strides


@pytest.mark.parametrize("name", [name for name, _ in VIEWS])
def test_layout_with_operands_of_lower_rank(name):
    x = dict(VIEWS)[name]
    for y in (np.arange(6.0), np.arange(5.0)[:, None], np.arange(20.0).reshape(5, 4).T[:, :, None], 2.0):
        expected = x * y
        result = indim.evaluate("x * y")
        np.testing.assert_array_equal(result, expected)
        assert result.strides == expected.strides


def test_inputs_are_not_copied():
    # A read-only array of 8 TiB that takes no memory.
    x = np.broadcast_to(np.float64(1), (1 << 20, 1 << 20))
    assert indim.explain("x + 1", x=x).json["bytes_read"] == 8 << 40
    readonly = np.arange(3.0)
    readonly.flags.writeable = False
    assert indim.evaluate("readonly + 1").tolist() == [1, 2, 3]


def test_arrays_that_are_not_aligned():
    raw = np.zeros(8 * 7 + 1, np.uint8)
    x = raw[1:].view(np.float64)
    x[:] = np.arange(7)
    assert not x.flags.aligned
    assert indim.evaluate("x * 2").tolist() == (np.arange(7.0) * 2).tolist()


def test_arrays_of_the_other_byte_order():
    x = np.arange(5).astype(">f8")
    result = indim.evaluate("x + 1")
    assert result.tolist() == [1, 2, 3, 4, 5] and result.dtype.isnative
    with pytest.raises(TypeError, match="byte order"):
        indim.evaluate("x + 1", out=np.zeros(5, ">f8"))


def test_every_bool_but_zero_is_true():
    flags = np.array([0, 1, 2, 255], np.uint8).view(bool)
    assert indim.evaluate("flags & True").tolist() == [False, True, True, True]
    assert indim.evaluate("where(flags, 1, 2)").tolist() == [2, 1, 1, 1]
    assert indim.evaluate("flags ^ flags").tolist() == [False] * 4


class Interface:
    """An object that has only `__array_interface__`."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class DLPack:
    """An object that has only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Array:
    """An object that has only `__array__`."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize(
    "protocol", [memoryview, Interface, DLPack, Array], ids=lambda protocol: protocol.__name__
)
@pytest.mark.parametrize("is_writeable", [True, False], ids=["writeable", "read-only"])
def test_other_arrays_are_used_where_they_are(protocol, is_writeable):
    from indim._arrays import as_array

    base = np.arange(24.0).reshape(4, 6)
    base.flags.writeable = is_writeable
    x = base[::-1, 1::2]
    value = protocol(x)
    assert np.shares_memory(as_array(value, "value"), base)
    np.testing.assert_array_equal(indim.evaluate("value + 1"), x + 1)
    np.testing.assert_array_equal(indim.jit(lambda value: value * 2)(value), x * 2)


class Changing:
    """An array whose conversion changes another in place."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype

    def __array__(self, dtype=None, copy=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            self.array.dtype = self.dtype
        return np.ones(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: indim.evaluate("x + y", {"x": x, "y": y}),
        lambda x, y: indim.jit(lambda x, y: x + y)(x, y),
        lambda x, y: indim.add(x, y),
    ],
)
def test_operands_are_read_after_all_are_converted(call):
    # A read with the former type would go far beyond the memory.
    x = np.zeros(4, np.complex128)
    result = call(x, Changing(x, np.int8))
    assert result.dtype == np.float64 and result.tolist() == [1.0] * 64
    with pytest.raises((TypeError, RuntimeError), match="type|changed"):
        call(x, Changing(x, "M8[s]"))


def test_an_operand_that_changes_later_is_refused():
    f = indim.jit(lambda x: (x, x))
    for dtype, error in [(np.int8, ValueError), (">f8", RuntimeError), (np.int64, RuntimeError)]:
        x, out = np.zeros(4), np.zeros(4)
        with pytest.raises(error):
            f(x, out=Outputs(x, dtype, out))
        with pytest.raises(error):
            f(np.zeros(4), out=Outputs(out, dtype, out))


class Outputs(Changing):
    """Two output arrays; `array` changes between the reads of them."""

    def __init__(self, array, dtype, out):
        super().__init__(array, dtype)
        self.out = out

    def __iter__(self):
        yield self.out
        self.__array__()
        yield np.zeros(4)


def test_buffers_of_python():
    import array

    for value in (
        array.array("d", [0, 1, 2]),
        bytearray(b"\0\1\2"),
        memoryview(b"\0\1\2"),
        range(3),
        (0, 1, 2),
    ):
        assert indim.evaluate("value + 1").tolist() == [1, 2, 3]


@pytest.mark.parametrize("size", [3, 500_000])
def test_results_go_out_by_dlpack(size):
    result = indim.evaluate("x + 1", x=np.arange(float(size)))
    taken = np.from_dlpack(result)
    assert np.shares_memory(taken, result)
    del result
    gc.collect()
    np.testing.assert_array_equal(taken, np.arange(1.0, size + 1))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_an_output_over_its_input_takes_no_memory():
    program = """
        import resource
        import numpy as np
        import indim
        indim.set_num_threads(2)
        x = np.ones((4096, 4096))
        y = np.arange(4096.0)
        f = indim.jit(lambda x, y: (x + 1) * y)
        f(np.ones((600, 4096)), y)
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        # Half of the bytes of a copy of `x`.
        resource.setrlimit(resource.RLIMIT_AS, (used + x.nbytes // 2,) * 2)
        f(x, y, out=x)
        assert (x == 2 * y).all(where=np.ones(4096, bool))
        turned = x.T[::-1]
        indim.evaluate("turned - 1", out=turned)
        assert x[5, 7] == 13
        try:
            indim.evaluate("x + turned", out=x)
        except MemoryError:
            print("done")
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert ran.stdout == "done\n", ran.stdout + ran.stderr


def test_results_own_their_memory():
    result = indim.evaluate("x + 1", x=np.arange(3.0))
    assert result.flags.owndata and result.flags.writeable and result.base is None


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda x: x.transpose(1, 0, 2)])
def test_large_results_lie_in_memory_that_is_kept(layout):
    x = layout(np.arange(300_000.0).reshape(30, 100, 100))
    expected = x + 1
    for _ in range(3):
        result = indim.evaluate("x + 1")
        np.testing.assert_array_equal(result, expected)
        assert result.strides == expected.strides
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "ALIGNED"):
            assert result.flags[flag] == expected.flags[flag], flag
        assert type(result.base).__name__ == "Memory"
        view = result[1:, ::2]
        del result
        np.testing.assert_array_equal(view, expected[1:, ::2])
        view[:] = 0
    indim.set_memory_pool_limit(0)
    np.testing.assert_array_equal(indim.evaluate("x + 1"), expected)
    indim.set_memory_pool_limit(1 << 30)


@pytest.mark.skipif(sys.platform != "linux", reason="counts the page faults of Linux")
def test_new_results_take_no_more_new_pages_than_those_of_numpy():
    program = """
        import resource
        import numpy as np
        import indim

        def faults(call):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            results.append(call())
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

        x, results = np.ones((4096, 4096), np.float32), []
        f = indim.jit(lambda x: x * 2)
        f(x[:600])
        new, numpy = faults(lambda: f(x)), faults(lambda: x * 2)
        # The memory of a result that is gone is that of the next.
        results.clear()
        print(new, numpy, faults(lambda: f(x)))
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    new, numpy, again = map(int, ran.stdout.split())
    assert new <= numpy + 100 and again <= 100, ran.stdout


@pytest.mark.parametrize(
    "value",
    [np.array(["a"]), np.array([object()]), np.array(["2020-01-01"], "M8[D]"), object(), "text", b"bytes"],
)
def test_what_holds_no_numbers_is_refused(value):
    with pytest.raises(TypeError, match="`value`"):
        indim.evaluate("value + 1")


def test_long_double_is_refused():
    if np.dtype(np.longdouble) == np.float64:
        pytest.skip("the system's long double is a double")
    with pytest.raises(TypeError, match="longdouble|float128|float96"):
        indim.evaluate("x + 1", x=np.zeros(2, np.longdouble))


def test_numbers_beyond_128_bits_are_refused():
    with pytest.raises(OverflowError):
        indim.evaluate("x + k", x=np.zeros(2), k=1 << 200)


def test_arrays_without_elements_and_of_rank_0():
    for shape in [(0,), (3, 0), (0, 3), (1, 0, 2), ()]:
        x = np.ones(shape)
        result = indim.evaluate("x + 1")
        assert result.shape == shape
        np.testing.assert_array_equal(result, x + 1)
    with pytest.raises(indim.ShapeError):
        indim.evaluate("x + y", x=np.ones((0,)), y=np.ones(2))


def test_results_too_large_for_memory_are_an_error_before_the_work():
    x = np.broadcast_to(np.float64(1), (1 << 20, 1 << 20))
    with pytest.raises(MemoryError):
        indim.evaluate("x + 1")
    y = np.broadcast_to(np.int8(1), (1 << 40, 1))
    z = np.broadcast_to(np.int8(1), (1, 1 << 40))
    with pytest.raises(indim.ShapeError) as info:
        indim.evaluate("y + z")
    assert info.value.code == "too-large"


def test_high_ranks():
    x = np.arange(2.0**12).reshape((2,) * 12).transpose(list(range(1, 12)) + [0])
    np.testing.assert_array_equal(indim.evaluate("x * x + x"), x * x + x)
    high = np.ones((1,) * 32)
    assert indim.evaluate("high + high").shape == (1,) * 32


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([1.0, 2.5, -0.0], ml_dtypes.bfloat16)
    result = indim.evaluate("x * 2")
    assert result.dtype == ml_dtypes.bfloat16
    assert result.tolist() == [2.0, 5.0, -0.0]
    out = np.empty(3, np.float32)
    indim.evaluate("x + 1", out=out)
    assert out.tolist() == [2.0, 3.5, 1.0]
    narrow = np.empty(3, ml_dtypes.bfloat16)
    assert indim.jit(lambda x: np.exp(x) / 3)(x, out=narrow) is narrow
    np.testing.assert_allclose(narrow.astype(np.float32), np.exp(x.astype(np.float32)) / 3, rtol=2**-7)
    assert indim.convert_element_type(np.float32([1.00390625]), "bf16").dtype == ml_dtypes.bfloat16


def test_half_precision_and_complex_numbers():
    h = np.array([1.0, 2.5, -0.0, 65504.0], np.float16)
    with np.errstate(over="ignore"):
        expected = h * 2 + 1
    result = indim.evaluate("h * 2 + 1")
    assert result.dtype == np.float16
    np.testing.assert_array_equal(result, expected)
    for dtype in (np.complex64, np.complex128):
        z = np.array([1 + 2j, -3.5 + 0.25j, 0], dtype)
        result = indim.evaluate("z * conj(z) + real(z)")
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, z * z.conj() + z.real)
        traced = indim.jit(lambda z: (z * z.conj() + z.real, z.imag, abs(z)))(z)
        np.testing.assert_array_equal(traced[0], result)
        assert traced[1].dtype == traced[2].dtype == np.zeros(0, dtype).real.dtype
    assert indim.evaluate("z * k", k=2j).dtype == np.complex128


def test_subclasses_of_arrays(tmp_path):
    with pytest.raises(TypeError, match="`x.data`"):
        indim.evaluate("x + 1", x=np.ma.array([1.0, 2.0], mask=[True, False]))
    with pytest.raises(TypeError, match="masked"):
        indim.evaluate("x + 1", x=np.ma.array([1, 2], mask=[True, False], dtype=">i4"))
    mapped = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=(4,))
    indim.evaluate("x + 1", x=np.arange(4.0), out=mapped)
    result = indim.evaluate("mapped * 2")
    assert type(result) is np.ndarray and result.tolist() == [2, 4, 6, 8]


@pytest.mark.parametrize(
    ("array", "advice"),
    [
        (np.array(["2020-01-01", "NaT"], "M8[D]"), r"x\.view\('i8'\)"),
        (np.array([1, 2], "m8[s]"), r"x\.view\('i8'\)"),
        (np.array([1, "a"], object), r"x\.astype\(float\)"),
        (np.array(["a", "b"]), r"np\.unique\(x, return_inverse=True\)"),
        (np.array([1, 2], np.longdouble), r"x\.astype\('f8'\)"),
        (np.zeros(2, [("u", "f4"), ("v", "f8")]), r"x\['field'\]"),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, np.ndarray) else "",
)
def test_types_that_indim_lacks_are_errors_with_advice(array, advice):
    if array.dtype == np.float64:
        pytest.skip("long doubles are doubles here")
    with pytest.raises(TypeError, match=advice):
        indim.jit(lambda x: x * 2)(array)
    with pytest.raises(TypeError, match=advice):
        indim.evaluate("x * 2", x=array)


def test_a_run_beyond_the_memory_limit_is_refused():
    a, b = np.ones((1 << 15, 1)), np.ones(1 << 15)
    big = indim.jit(lambda a, b: a + b)
    try:
        indim.limit_memory(1 << 30)
        for run in (lambda: indim.evaluate("a + b", a=a, b=b), lambda: big(a, b)):
            with pytest.raises(
                MemoryError, match=r"the limit is 1073741824; .* output 0, f64\[32768, 32768\]"
            ):
                run()
        x = np.arange(12.0)
        np.testing.assert_array_equal(indim.evaluate("x + x"), x + x)
        # The given arrays do not count towards the limit; copies do.
        indim.limit_memory(32 * 1024)
        x = np.arange(1e4)
        out = np.empty_like(x)
        assert indim.evaluate("x + 1", out=out) is out
        with pytest.raises(MemoryError, match="output 0"):
            indim.evaluate("y + 1", local_dict={"y": out[:-1]}, out=out[1:])
    finally:
        indim.limit_memory(None)
    np.testing.assert_array_equal(indim.evaluate("y + 1", local_dict={"y": out[:-1]}), out[:-1] + 1)


def placed(random, shape):
    """An array of this shape with its axes in random memory order, some reversed or repeated."""
    order = random.permutation(len(shape)) if random.random() < 0.7 else np.arange(len(shape))
    array = random.random([shape[axis] for axis in order]).transpose(np.argsort(order))
    flips = tuple(slice(None, None, -1 if random.random() < 0.15 else 1) for _ in shape)
    array = array[flips]
    repeated = tuple(slice(0, 1) if random.random() < 0.07 else slice(None) for _ in shape)
    return np.broadcast_to(array[repeated], shape)


@pytest.mark.parametrize("seed", range(300))
def test_order_k_is_that_of_numpy(seed):
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(2, 5, size=random.integers(2, 6)))
    missing = random.integers(0, 2)
    x = placed(random, shape)
    y = placed(random, tuple(1 if random.random() < 0.2 else size for size in shape[missing:]))
    expected = np.add(x, y)
    result = indim.evaluate("x + y")
    np.testing.assert_array_equal(result, expected)
    assert result.strides == expected.strides


@pytest.mark.parametrize(
    "name",
    [
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
        "float8_e4m3b11fnuz",
        "int4",
        "uint4",
    ],
)
def test_storage_types_of_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name))
    every = np.arange(16 if "int" in name else 256, dtype=np.uint8).view(dtype)
    # Exact values, and back.
    wide = indim.evaluate("every.astype(f32)")
    np.testing.assert_array_equal(wide, every.astype(np.float32))
    back = indim.jit(lambda x: x.astype(dtype))(wide)
    assert back.dtype == dtype
    np.testing.assert_array_equal(back.astype(np.float32), wide)
    # Moves keep the bits.
    moved = indim.jit(lambda x: np.concatenate([x.reshape(4, -1).T[::-1], x.reshape(4, -1).T]))(every)
    expected = np.concatenate([every.reshape(4, -1).T[::-1], every.reshape(4, -1).T])
    assert moved.dtype == dtype
    np.testing.assert_array_equal(moved.view(np.uint8), expected.view(np.uint8))
    chosen = indim.evaluate("where(wide > 0, every, every[::-1])")
    np.testing.assert_array_equal(
        chosen.view(np.uint8), np.where(wide > 0, every, every[::-1]).view(np.uint8)
    )
    # Numbers as ml_dtypes converts them.
    numbers = np.arange(-8, 8) if name == "int4" else np.arange(16)
    np.testing.assert_array_equal(
        indim.astype(numbers, dtype).view(np.uint8), numbers.astype(dtype).view(np.uint8)
    )
    out = np.empty(16, dtype)
    indim.evaluate("numbers", out=out)
    np.testing.assert_array_equal(out.view(np.uint8), numbers.astype(dtype).view(np.uint8))
    for refused in ("every + every", "sum(every)", "sort(every)", "every < every"):
        with pytest.raises(TypeError, match="convert to f32 first"):
            indim.evaluate(refused)
