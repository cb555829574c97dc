"""Dask arrays: results over chunks have the bits of one process, and nothing is computed early."""

import functools
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indim

cloudpickle = pytest.importorskip("cloudpickle")
da = pytest.importorskip("dask.array")

import dask  # noqa: E402
from dask.array.core import PerformanceWarning  # noqa: E402


def forbidden(*_, **__):
    raise AssertionError("it is computed")


def same_bits(lazy, expected):
    """A Dask array whose metadata are those of the array that it becomes, and that array."""
    assert isinstance(lazy, da.Array), type(lazy)
    with dask.config.set(scheduler="sync"):
        computed = np.asarray(lazy.compute())
        blocks = [np.asarray(block).shape for block in dask.compute(*lazy.to_delayed().ravel())]
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    assert (computed.shape, computed.dtype) == (expected.shape, expected.dtype)
    assert lazy._meta.dtype == lazy.dtype and lazy._meta.ndim == lazy.ndim
    assert blocks == block_shapes(lazy)
    assert computed.tobytes() == np.ascontiguousarray(expected).tobytes()


def block_shapes(array):
    return [
        tuple(sizes[index] for sizes, index in zip(array.chunks, place))
        for place in np.ndindex(array.numblocks)
    ]


@indim.jit
def standardise(x, mean, deviation):
    return (x - mean) / deviation


@indim.jit
def statistics(x):
    centred = x - np.mean(x, axis=0)
    return {"z": centred / np.std(x, axis=0, ddof=1), "largest": np.max(x, axis=0), "total": np.sum(x)}


random = np.random.default_rng(5)


def test_nothing_is_computed_before_dask_computes():
    x = da.ones((8, 3), chunks=(2, 3)).map_blocks(forbidden, dtype="f8", meta=np.empty((0, 0)))
    for lazy in (
        standardise(x, np.zeros(3), np.ones(3)),
        indim.evaluate("2 * x + sum(x, axis=0)"),
        indim.add(x, 1),
        *statistics(x).values(),
    ):
        assert isinstance(lazy, da.Array)
        with pytest.raises(AssertionError, match="it is computed"):
            lazy.compute(scheduler="sync")


def test_a_program_of_element_wise_operations_is_one_layer():
    x = da.from_array(random.standard_normal((60, 7)), chunks=(13, 4))
    v = da.from_array(random.standard_normal(7), chunks=4)
    y = indim.jit(lambda x, v: np.sqrt(np.abs(x - v)) * v + 1)(x, v)
    ours = [name for name in y.dask.layers if name.startswith("indim")]
    assert len(ours) == 1 and y.chunks == x.chunks
    assert indim.evaluate("where(x > v, x, v)").chunks == x.chunks


def cuts(draw, size):
    """Random chunks along an axis."""
    sizes = []
    while sum(sizes) < size:
        sizes.append(draw(st.integers(1, size - sum(sizes))))
    return tuple(sizes)


@st.composite
def chunked(draw, shape, dtype="f8"):
    """A NumPy array and the same one in random chunks."""
    seed = draw(st.integers(0, 2**32 - 1))
    array = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return array, da.from_array(array, chunks=tuple(cuts(draw, size) for size in shape))


@settings(max_examples=15, deadline=None)
@given(data=st.data(), rows=st.integers(1, 9), columns=st.integers(1, 7), dtype=st.sampled_from(["f4", "f8"]))
def test_element_wise_programs_over_random_chunks(data, rows, columns, dtype):
    x, x_chunked = data.draw(chunked((rows, columns), dtype))
    v, v_chunked = data.draw(chunked((columns,), dtype))
    w, w_chunked = data.draw(chunked((rows,), dtype))

    @indim.jit
    def f(x, v, w):
        return np.exp(x) * v, indim.sub(x, w, broadcast_dimensions=(0,)).T, v[:, None] + w

    for lazy, expected in zip(f(x_chunked, v_chunked, w_chunked), f(x, v, w)):
        same_bits(lazy, expected)
    # Some chunked, some not.
    for lazy, expected in zip(f(x_chunked, v, w_chunked), f(x, v, w)):
        same_bits(lazy, expected)
    text = "x * v + xla_w - max(v)".replace(
        "xla_w", "broadcast_in_dim(w, shape=%s, dims=[0])" % list(x.shape)
    )
    same_bits(
        indim.evaluate(text, x=x_chunked, v=v_chunked, w=w_chunked), indim.evaluate(text, x=x, v=v, w=w)
    )


@settings(max_examples=6, deadline=None)
@given(
    data=st.data(), rows=st.integers(1, 3000), columns=st.integers(1, 4), dtype=st.sampled_from(["f4", "f8"])
)
def test_reductions_along_cut_axes_have_the_bits_of_one_process(data, rows, columns, dtype):
    x, x_chunked = data.draw(chunked((rows, columns), dtype))
    expected = statistics(x)
    for name, lazy in statistics(x_chunked).items():
        same_bits(lazy, expected[name])
    for function in (indim.sum, indim.mean, indim.min, indim.var, indim.logsumexp):
        for axis in (0, 1, None):
            same_bits(function(x_chunked, axis=axis), function(x, axis=axis))
    n = (x * 1000).astype("i4")
    n_chunked = (x_chunked * 1000).astype("i4")
    same_bits(indim.sum(n_chunked, axis=0), indim.sum(n, axis=0))
    same_bits(indim.any(n_chunked > 2000, axis=0), indim.any(n > 2000, axis=0))
    same_bits(indim.prod(x_chunked, axis=0), indim.prod(x, axis=0))


@st.composite
def searched(draw):
    """Few different elements, so that many tie, with NaNs, infinities and zeros of both signs; the same in
    random chunks, some empty; and an axis."""
    shape = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    choose = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).choice
    dtype = draw(st.sampled_from(["f2", "f4", "f8", "i4", "u1", "?"]))
    array = choose([-2, -1, 0, 1], shape).astype(dtype)
    if array.dtype.kind == "f":
        special = draw(st.sampled_from([[1.0], [-np.inf], [np.nan, 1, 1, 1], [-0.0, np.inf, -np.inf, 0.0]]))
        with np.errstate(invalid="ignore"):
            array = (array * choose(special, shape)).astype(dtype)
    sizes = [
        tuple(piece for size in cuts(draw, size) for piece in (0,) * draw(st.integers(0, 1)) + (size,))
        + (0,) * draw(st.integers(0, 1))
        for size in shape
    ]
    return array, da.from_array(array, chunks=tuple(sizes)), draw(st.integers(0, len(shape) - 1))


@settings(max_examples=60, deadline=None)
@given(searched())
def test_searches_along_cut_axes(given):
    array, chunked, axis = given
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        for function in (indim.argmax, indim.argmin, indim.nanargmax, indim.nanargmin):
            same_bits(function(chunked, axis=axis), function(array, axis=axis))
    same_bits(indim.argmax(chunked, axis=axis), np.argmax(array, axis=axis))
    same_bits(indim.argmin(chunked, axis=axis), np.argmin(array, axis=axis))


@settings(max_examples=40, deadline=None)
@given(searched(), st.randoms(use_true_random=False))
def test_searches_over_several_axes(given, choices):
    array, chunked, _ = given
    axes = choices.sample(range(array.ndim), choices.randint(1, array.ndim))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        for function in (indim.argmax, indim.argmin, indim.nanargmax, indim.nanargmin):
            for axis in (None, axes):
                same_bits(function(chunked, axis=axis), np.asarray(function(array, axis=axis)))
    same_bits(indim.argmax(chunked), np.asarray(np.argmax(array)))
    same_bits(indim.argmin(chunked), np.asarray(np.argmin(array)))


def test_searches_over_several_axes_keep_no_chunk():
    x = random.standard_normal((50, 6, 8))
    lazy = da.from_array(x, chunks=(7, 6, 8))
    result = indim.argmax(lazy)
    same_bits(result, np.asarray(np.argmax(x)))
    # The second stage reads only the results of the first.
    readers = [name for name, of in result.dask.dependencies.items() if lazy.name in of]
    assert len(readers) == 1 and lazy.npartitions == 8


def test_counters_are_told_where_chunks_lie():
    x = random.standard_normal((60, 5))
    lazy = da.from_array(x, chunks=(7, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        for text in (
            "x * iota(f64, [60, 5], axis=0) + iota(f64, [60, 5], axis=1)",
            "x + broadcast_in_dim(iota(u8, [60], axis=0), shape=[60, 5], dims=[0])",
            "argmax(x, axis=0, last=True)",
        ):
            result = indim.evaluate(text, x=lazy, rule="numpy" if "u8" not in text else "as-written")
            same_bits(result, np.asarray(indim.evaluate(text, x=x)))


def test_searches_read_an_array_once():
    x = random.standard_normal((1000, 3))
    lazy = da.from_array(x, chunks=(7, 3))
    extremes = indim.jit(lambda x: (np.argmax(x, axis=0), np.argmin(x, axis=0)))
    results = extremes(lazy)
    for result, expected in zip(results, extremes(x)):
        same_bits(result, expected)
    before = {name: of for result in results for name, of in result.dask.dependencies.items()}
    assert len([name for name, of in before.items() if lazy.name in of]) == 1
    assert not [name for name in results[0].dask.layers if name.startswith("rechunk")]
    # The index is an operand of a later operation.
    f = indim.jit(lambda x: np.take(x, 2, axis=1) - np.argmax(x, axis=0)[0])
    same_bits(f(lazy), f(x))


def test_a_tree_of_many_pieces():
    x = random.standard_normal(512 * 77 + 5).astype("f4")
    same_bits(indim.sum(da.from_array(x, chunks=512)), indim.sum(x))
    same_bits(indim.mean(da.from_array(x, chunks=1000)), indim.mean(x))
    # The chunks that are aligned stay as they are.
    lazy = da.from_array(x, chunks=1024)
    assert not [name for name in indim.sum(lazy).dask.layers if name.startswith("rechunk")]


def test_results_of_sums_have_the_chunks_of_the_array():
    x = da.zeros((4096, 600, 500), chunks=(32, 600, 250), dtype="f4")
    assert indim.sum(x, axis=0).chunks == x.chunks[1:]
    assert indim.jit(lambda x: x - np.mean(x, axis=0))(x).chunks == x.chunks


@st.composite
def any_chunks(draw):
    """An array that is long along one axis, in chunks of one size along each, and that axis."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    axis = draw(st.integers(0, len(shape) - 1))
    shape[axis] = draw(st.sampled_from([33, 365, 512, 513, 600, 1461, 2100]))
    sizes = [1, 2, 3, 4, 5, 8, 16, 24, 31, 32, 37, 64, 100, 365, 512, 700]
    chunks = [
        draw(st.sampled_from(sizes)) if along == axis else draw(st.integers(1, 3))
        for along, size in enumerate(shape)
    ]
    chunks = tuple(min(chunk, size) for chunk, size in zip(chunks, shape))
    array = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).standard_normal(shape)
    dtype = draw(st.sampled_from(["f4", "f8", "c16"]))
    return array.astype(dtype), da.from_array(array.astype(dtype), chunks=chunks), axis


def mean_and_largest(x, axis):
    largest = np.max(np.real(x), axis=axis) if x.dtype.kind == "c" else np.max(x, axis=axis)
    return np.mean(x, axis=axis), largest


@pytest.mark.parametrize(
    "task_bytes, span_bytes, step_bytes, lanes_bytes, tile_bytes",
    [
        (64 << 20, 32 << 20, 8 << 20, 64 << 10, 512 << 10),
        (64 << 20, 9000, 8 << 20, 0, 500),
        (2000, 0, 8 << 20, 0, 16),
        (64 << 20, 9000, 600, 64 << 10, 500),
        (64 << 20, 0, 0, 0, 500),
    ],
)
@settings(max_examples=10, deadline=None)
@given(given=any_chunks())
def test_sums_over_any_chunks_have_the_bits_of_one_process(
    task_bytes, span_bytes, step_bytes, lanes_bytes, tile_bytes, given
):
    x, lazy, axis = given
    with pytest.MonkeyPatch.context() as patch:
        # Little memory makes tasks hand on lanes, or read lane by lane.
        patch.setattr("indim._lanes.TASK_BYTES", task_bytes)
        patch.setattr("indim._lanes.COPIED_BLOCK_BYTES", task_bytes)
        patch.setattr("indim._lanes.SPAN_BYTES", span_bytes)
        patch.setattr("indim._lanes.STEP_BYTES", step_bytes)
        if step_bytes < 1000:
            # Every array whose lanes take less memory than its chunks is reduced chunk by chunk.
            patch.setattr("indim._lanes.MIN_CHAINED_BYTES", 0)
            patch.setattr("indim._lanes.CHAIN_BYTES", 40 * span_bytes)
        patch.setattr("indim._lane_tasks.MIN_LANES_BYTES", lanes_bytes)
        patch.setattr("indim._lane_tasks.TILE_BYTES", tile_bytes)
        with warnings.catch_warnings():
            warnings.simplefilter("error", PerformanceWarning)
            for function in (indim.mean, indim.prod, indim.sum):
                same_bits(function(lazy, axis=axis), function(x, axis=axis))
            same_bits(indim.sum(lazy), np.asarray(indim.sum(x)))
            f = indim.jit(functools.partial(mean_and_largest, axis=axis))
            for result, expected in zip(f(lazy), f(x)):
                same_bits(result, expected)
            if x.dtype.kind != "c":
                along = {"axis": axis, "keepdims": True}
                f = indim.jit(lambda x: (x - np.mean(x, **along)) / np.std(x, **along))
                same_bits(f(lazy), f(x))
                assert f(lazy).chunks == lazy.chunks


def test_sums_of_long_rows_in_one_chunk():
    # The blocks take more memory than is copied at a time.
    x = random.standard_normal((1000, 1500))
    lazy = da.from_array(x, chunks=(1000, 300))
    same_bits(indim.sum(lazy, axis=1), indim.sum(x, axis=1))
    f = indim.jit(lambda x: np.mean(np.cumsum(x, axis=0) * np.arange(1000.0)[:, None], axis=1))
    same_bits(f(lazy), f(x))
    # Blocks of the weights alone are long enough to be copied in tiles, and a chunk of `x` has no rows.
    x, weights = random.standard_normal((3, 200, 700)), random.standard_normal((200, 700))
    f = indim.jit(lambda x, weights: np.sum(x * weights, axis=2))
    lazy = da.from_array(x, chunks=((0, 2, 1), 200, 100))
    same_bits(f(lazy, da.from_array(weights, chunks=(200, 100))), f(x, weights))


@pytest.mark.filterwarnings("ignore::dask.array.core.PerformanceWarning")
def test_sums_of_several_chunks_without_elements():
    for shape, chunks, axis in (((0,), ((0, 0),), 0), ((0, 0), ((0, 0), (0,)), 1), ((3, 0), (2, (0, 0)), 1)):
        lazy = da.zeros(shape, chunks=chunks, dtype="f4")
        for function in (indim.sum, indim.prod):
            same_bits(function(lazy, axis=axis), function(np.zeros(shape, "f4"), axis=axis))


@settings(max_examples=15, deadline=None)
@given(given=any_chunks())
def test_products_over_any_chunks_have_the_bits_of_one_process(given):
    x, lazy, axis = given
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        for function in (
            lambda x: np.tensordot(x, x, ([axis], [axis])),
            lambda x: np.vecdot(x, x, axis=axis),
            lambda x: np.tensordot(x - np.mean(x, axis, keepdims=True), x, ([axis], [axis])) / x.shape[axis],
        ):
            f = indim.jit(function)
            same_bits(f(lazy), np.asarray(f(x)))


def test_chunks_of_products():
    x = da.from_array(random.standard_normal((1300, 90)), chunks=(1, 30))
    product = indim.jit(lambda x: x.T @ x)(x)
    # The chunks of rows grow to 512, which takes little memory, so the columns keep their chunks.
    assert product.chunks == ((30, 30, 30), (30, 30, 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indim._lanes.TASK_BYTES", 512 * 10 * 8)
        assert indim.jit(lambda x: x.T @ x)(x).chunks == ((10,) * 9, (10,) * 9)
    # Several summed axes are merged into one chunk each.
    pair = da.zeros((64, 50, 3), chunks=(8, 50, 3))
    with pytest.warns(PerformanceWarning, match="an axis of size 64 is merged"):
        indim.jit(lambda x: np.tensordot(x, x, ([0, 1], [0, 1])))(pair)


class HeldBytes(dask.callbacks.Callback):
    """The largest number of bytes of results that Dask holds between two tasks."""

    largest = 0

    def _posttask(self, key, result, graph, state, worker):
        held = sum(getattr(value, "nbytes", 0) for value in state["cache"].values())
        self.largest = max(self.largest, held)


def test_sums_of_neighbouring_chunks_hold_few_chunks(monkeypatch):
    # Less memory than a block takes, so each lane is summed by its own tasks.
    monkeypatch.setattr("indim._lanes.TASK_BYTES", 100_000)
    monkeypatch.setattr("indim._lanes.SPAN_BYTES", 0)
    x = da.ones((600, 1000), chunks=(1, 1000), dtype="f4").map_blocks(np.copy)
    with HeldBytes() as held:
        indim.jit(lambda x: np.mean(x[1:] - x[:-1], axis=0))(x).compute(scheduler="sync")
    assert held.largest < 0.3 * x.nbytes


def test_how_many_tasks_sums_take():
    # Ten terabytes, none of them read. Rows of chunks that straddle blocks are tasks too.
    for chunks, ratio in (((1, 721, 1440), 0.5), ((24, 180, 360), 0.6), ((365, 103, 103), 1)):
        x = da.zeros((87600, 721, 1440), chunks=chunks, dtype="f4")
        ours, theirs = indim.mean(x, axis=0), x.mean(axis=0)
        assert len(dict(ours.dask)) <= ratio * len(dict(theirs.dask))
    # Several cut axes, and chunks that no block ends with.
    for axes, shape, chunks, ratio in (
        ((1, 2), (64, 721, 1440), (8, 180, 360), 1),
        (None, (64, 721, 1440), (8, 180, 360), 1.2),
        (None, (10**9,), (10**6,), 1.2),
    ):
        x = da.zeros(shape, chunks=chunks, dtype="f4")
        (ours,), (theirs,) = map(dask.optimize, (indim.mean(x, axis=axes), x.mean(axis=axes)))
        assert len(dict(ours.dask)) <= ratio * len(dict(theirs.dask))


def read(chunk, taken):
    taken.append(chunk.shape)
    return chunk


def test_slices_and_indices_read_no_other_chunks():
    x = random.standard_normal((100, 3))
    functions = {
        1: [lambda x: x[:10] * 2, lambda x: x[7] - 1, lambda x: (np.exp(x) + 1)[10:20], lambda x: x[-1]],
        3: [lambda x: np.mean(x[25:41], axis=0), lambda x: x[19:31] + x[19]],
        10: [lambda x: x[1:] - x[:-1], lambda x: x - x[0], lambda x: x[2:] - 2 * x[1:-1] + x[:-2]],
    }
    for count, some in functions.items():
        for function in some:
            taken = []
            lazy = da.from_array(x, chunks=(10, 3)).map_blocks(read, taken, dtype="f8", meta=np.empty((0, 0)))
            f = indim.jit(function)
            with warnings.catch_warnings():
                warnings.simplefilter("error", PerformanceWarning)
                result = f(lazy)
            assert max(result.chunks[0] + (0,)) <= 20 if result.ndim == 2 else True
            assert result.compute(scheduler="sync").tobytes() == f(x).tobytes()
            assert len(taken) == count, function


def test_one_array_read_in_several_ways():
    x = random.standard_normal((700, 700))
    lazy = da.from_array(x, chunks=(300, 250))
    same_bits(indim.evaluate("x + transpose(x)", x=lazy), indim.evaluate("x + transpose(x)"))
    points = random.standard_normal((50, 3))
    distances = indim.jit(lambda p: np.sqrt(np.sum((p[:, None] - p[None]) ** 2, axis=-1)))
    result = distances(da.from_array(points, chunks=(13, 2)))
    same_bits(result, distances(points))
    assert result.numblocks == (4, 4)


def test_what_moves_elements_brings_the_axis_into_one_chunk_and_says_so():
    x = random.standard_normal((60, 5))
    lazy = da.from_array(x, chunks=(7, 2))
    functions = (
        indim.jit(lambda x: np.concatenate([x, 2 * x])),
        indim.jit(lambda x: indim.argmax(x, last=True)),
        indim.jit(lambda x: np.cumsum(x, axis=0))
        if hasattr(indim, "cumsum")
        else indim.jit(lambda x: x[::-1]),
        indim.jit(lambda x: x.reshape(6, 10, 5) + 1),
    )
    for function in functions:
        with pytest.warns(PerformanceWarning, match="one chunk"):
            result = function(lazy)
        same_bits(result, function(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same_bits(functions[0](lazy.rechunk({0: -1})), functions[0](x))
        # The other axis stays cut.
        assert functions[0](lazy.rechunk({0: -1})).numblocks == (1, 3)


def test_no_chunk_is_made_that_takes_very_much_memory():
    x = da.zeros((8760, 721, 1440), chunks=(24, 721, 1440), dtype="f4")
    f = indim.jit(lambda x: x[::2] + 1)
    with pytest.warns(PerformanceWarning), pytest.raises(ValueError, match="needs all of axis 0"):
        f(x)
    assert f(x.rechunk({0: -1, 1: 10, 2: 10})).shape == (4380, 721, 1440)
    assert indim.jit(lambda x: x[1:] - x[:-1])(x).chunksize[0] <= 48


def test_indices_of_a_table():
    months = np.arange(100) % 12
    table = random.standard_normal((12, 3))
    f = indim.jit(lambda table, months: np.take(table, months, axis=0) * 2)
    same_bits(f(da.from_array(table, chunks=(12, 2)), da.from_array(months, chunks=30)), f(table, months))


def test_containers_captured_arrays_and_numbers():
    x = random.standard_normal((6, 4))
    weights = random.standard_normal(4)
    f = indim.jit(lambda pair, k: [pair["a"] * weights + k, pair["b"]])
    lazy = da.from_array(x, chunks=(4, 3))
    for result, expected in zip(f({"a": lazy, "b": lazy}, 2), f({"a": x, "b": x}, 2)):
        same_bits(result, expected)
    same_bits(indim.evaluate("a * pi + True", a=lazy), indim.evaluate("a * pi + True", a=x))
    same_bits(indim.evaluate("lazy > 0"), x > 0)
    low, high = indim.evaluate("min(lazy, axis=0), max(lazy, axis=0)")
    same_bits(low, x.min(axis=0))
    same_bits(high, x.max(axis=0))
    assert list(indim.evaluate("low = lazy - 1; high = lazy + 1", results=["low", "high"])) == ["low", "high"]


def test_other_types_orders_and_sizes():
    for dtype in ("?", "u1", "i8", "f2", "c16", ">f4"):
        x = (random.standard_normal((6, 4)) * 3).astype(dtype)
        f = indim.jit(lambda x: np.where(x == x, x, x))
        same_bits(f(da.from_array(x, chunks=(4, 3))), f(x))
    for shape in ((), (0,), (3, 0), (1,), (1, 5)):
        x = random.standard_normal(shape)
        same_bits(indim.evaluate("x * 2 + 1", x=da.from_array(x, chunks=2)), indim.evaluate("x * 2 + 1"))
        same_bits(indim.sum(da.from_array(x, chunks=2)), indim.sum(x))
    zeros = indim.jit(lambda x, s: (np.zeros_like(x) + s, x))
    x = random.standard_normal((5, 4))
    for result, expected in zip(zeros(da.from_array(x, chunks=2), 3.0), zeros(x, 3.0)):
        same_bits(result, expected)


def test_what_is_read_is_fused_and_one_chunk_takes_its_own_tasks():
    x = da.zeros((100, 100, 5, 5), chunks=(1, 1, 5, 5), dtype="f4")
    lazy = indim.jit(lambda x, v: (x - v) * 2)(x, np.ones(5, "f4"))
    assert lazy.npartitions == 10_000 and len(lazy.dask.layers) == 3
    layer = lazy.dask.layers[lazy.name]
    assert not layer.is_materialized() and len(cloudpickle.dumps(layer)) < 10_000
    (whole,) = dask.optimize(lazy)
    assert len(dict(whole.dask)) == 10_001, "each chunk is made and used by one task"
    chunk = lazy[3, 4]
    assert len(dict(chunk.dask.cull(chunk.__dask_keys__()))) == 4
    (chunk,) = dask.optimize(chunk)
    assert len(dict(chunk.dask)) == 2
    # Every task reads the whole table, because no axis of the result cuts it.
    table, rows = random.standard_normal((4, 5)), np.arange(6) % 4
    f = indim.jit(lambda x, table, rows: x.T + np.take(table, rows, axis=0) - table.sum())
    y = random.standard_normal((5, 6))
    for chunks in ((5, 2), (2, 6), (2, 4), (5, 6)):
        lazy = da.from_array(y, chunks=chunks)
        same_bits(f(lazy, table, rows), f(y, table, rows))
        others = da.from_array(table, chunks=4), da.from_array(rows, chunks=3)
        same_bits(f(lazy, *others), f(y, table, rows))


def test_arguments_that_are_returned_and_lists_of_numbers():
    x = np.arange(6, dtype=">f4").reshape(2, 3)
    lazy = da.from_array(x, chunks=2)
    f = indim.jit(lambda x, k: (x, x.astype("f4") * k))
    for result, expected in zip(f(lazy, [1, 2, 3]), f(x, [1, 2, 3])):
        same_bits(result, expected)


def test_layers_have_names_that_say_what_they_compute():
    x = da.from_array(np.arange(12.0), chunks=5)
    f = indim.jit(lambda x: x * 2)
    assert f(x).name == f(x).name == indim.jit(lambda x: x * 2)(x).name
    assert f(x).name != indim.jit(lambda x: x * 3)(x).name
    pickle.loads(pickle.dumps(statistics(da.from_array(random.standard_normal((2000, 2)), chunks=512))["z"]))


def test_what_is_refused():
    x = da.from_array(np.arange(12.0), chunks=5)
    with pytest.raises(ValueError, match=r"compute_chunk_sizes\(\)"):
        indim.add(x[x > 3], 1)
    with pytest.raises(ValueError, match=r"call `data\['k'\].compute_chunk_sizes\(\)` first"):
        indim.jit(lambda data: data["k"] * 2)({"k": x[x > 3]})
    same_bits(indim.add(x[x > 3].compute_chunk_sizes(), 1), np.arange(4.0, 12) + 1)
    with pytest.raises(TypeError, match="out"):
        indim.add(x, 1, out=np.empty(12))
    with pytest.raises(TypeError, match="pass it to a compiled function"):
        indim.jit(lambda y: y + x)(np.ones(12))
    with pytest.raises(indim.ShapeError, match="5"):
        indim.add(x, np.ones(5))
    with pytest.raises(TypeError, match="indim computes with NumPy arrays"):
        indim.add(x.map_blocks(np.ma.masked_less, 3, meta=np.ma.array([], dtype="f8")), 1)
    with pytest.raises(TypeError, match="its array says"):
        indim.add(x.map_blocks(np.float32, dtype="f8"), 1).compute(scheduler="sync")


class Copied:
    """A tree that copies NumPy arrays, and keeps other values."""

    def __init__(self, x):
        self.x = np.array(x) if isinstance(x, np.ndarray) else x


indim.tree.register_pytree_node(Copied, lambda value: ((value.x,), None), lambda _, items: Copied(*items))


def test_arrays_whose_placeholder_is_lost_are_an_error():
    # Its elements would be zeros.
    x = da.from_array(np.arange(12.0), chunks=5)
    for call in (
        indim.jit(lambda tree: tree.x + 1),
        indim.jit(lambda tree: np.ones(3)),
        indim.grad(lambda tree: np.sum(tree.x**2)),
        indim.vmap(lambda tree: tree.x * 2),
    ):
        with pytest.raises(TypeError, match=r"`tree\.0` is an array of Dask, .*as an argument of its own"):
            call(Copied(x))
    same_bits(indim.jit(lambda tree, y: tree.x + y)(Copied(np.arange(12.0)), x), np.arange(12.0) * 2)
    same_bits(indim.jit(lambda unused, y: y + 1)(x, x + 1), np.arange(12.0) + 2)


def test_what_stands_for_an_array_is_explained_by_its_type_or_says_what_makes_an_array():
    f = indim.jit(lambda x: x + 1)
    assert "f64[10]" in f.explain(da.ones(10, chunks=3))
    assert f.export("stablehlo", da.ones(10, chunks=3)).composed == f.export("stablehlo", "f64[10]").composed
    with pytest.raises(TypeError, match=r"`dask\.array\.from_delayed\(x, shape, dtype\)` says them"):
        f(dask.delayed(np.ones)(3))
