"""Objects from outside the arguments of a compiled function: each call compares them."""

import collections
import functools
import importlib
import types
import warnings

import numpy as np
import pytest

import indim
from traces import counting

X = np.array([1.0, 2.0, 3.0])
SCALE = 2.0
WEIGHTS = np.array([1.0, 1.0, 1.0])


def scaled(x):
    return x * SCALE


@pytest.fixture(autouse=True)
def constants():
    global SCALE, WEIGHTS
    before = SCALE, WEIGHTS
    yield
    SCALE, WEIGHTS = before


def test_a_number_of_a_closure_or_a_module_that_is_bound_anew():
    global SCALE
    k = 3.0
    f, runs = counting(lambda x: x * k + SCALE)
    for k, SCALE in [
        (3.0, 2.0),
        (4.0, 2.0),
        (4.0, 5.0),
        (-0.0, 5.0),
        (0.0, 5.0),
        (np.float32(3), 5.0),
        (True, 5.0),
    ]:
        expected = X * k + SCALE
        result = f(X)
        np.testing.assert_array_equal(result, expected)
        assert np.signbit(result).tolist() == np.signbit(expected).tolist()
    assert len(runs) == 7
    # An equal number in another object counts as the same.
    k = 10.5
    f(X)
    k = float("10.5")
    f(X)
    assert len(runs) == 8
    del k
    with pytest.raises(NameError):
        f(X)


def test_an_array_that_is_bound_anew_and_one_that_is_written_to():
    global WEIGHTS
    f, runs = counting(lambda x: x * WEIGHTS)
    np.testing.assert_array_equal(f(X), X)
    WEIGHTS[:] = 2
    np.testing.assert_array_equal(f(X), 2 * X)
    assert len(runs) == 1
    for weights in (np.full(3, 3.0), np.array([1, 2, 3]), np.float64(4), np.ones((2, 1))):
        WEIGHTS = weights
        np.testing.assert_array_equal(f(X), X * weights)
    assert len(runs) == 5


class Base:
    offset = 1.0


class Model(Base):
    def __init__(self, factor):
        self.factor = factor
        self._hidden = 5.0

    @property
    def hidden(self):
        return self._hidden * 2

    def helper(self, x):
        return x + getattr(self, "shift", 0.0)

    @indim.jit(static="self")
    def __call__(self, x):
        return self.helper(x * self.factor) + self.offset + self.hidden


class Nested:
    """Methods of every kind that read attributes."""

    factor, made = 2.0, functools.partialmethod(lambda self, x: x * self.factor)

    @indim.jit(static="self")
    def compiled(self, x):
        return x * self.factor

    @classmethod
    def of_class(cls, x):
        return x * cls.factor

    @functools.cached_property
    def cached(self):
        return self.factor * 2

    @indim.jit(static="self")
    def all(self, x):
        return self.compiled(x) + self.of_class(x) + self.made(x) + self.cached


def test_methods_of_every_kind():
    nested = Nested()
    for factor in (2.0, 3.0, 3.0):
        Nested.factor = factor
        np.testing.assert_array_equal(nested.all(X), 3 * factor * X + 4.0)
    # `cached` is computed once; `made` is a new object at each access.
    assert Nested.all.trace_count == 1
    runs = nested.all.explain()
    del nested.cached
    np.testing.assert_array_equal(nested.all(X), 9 * X + 6.0)
    assert nested.all.explain() != runs


class Slotted:
    __slots__ = ("factor",)


def test_attributes_of_self():
    model, other = Model(2.0), Model(7.0)
    model.shift = other.shift = 0.0

    def check():
        for one in (model, other):
            hidden = one._hidden * 2
            np.testing.assert_array_equal(one(X), X * one.factor + one.shift + one.offset + hidden)

    check()
    model.factor = 3.0
    check()
    model.factor = np.array([1.0, 0.0, 1.0])
    check()
    model.shift = 4.0
    check()
    model._hidden = 6.0
    check()
    Base.offset = 2.0
    try:
        check()
    finally:
        Base.offset = 1.0
    model.offset = 3.0
    check()
    count = Model.__call__.trace_count
    check()
    assert Model.__call__.trace_count == count == 2


def test_attributes_of_objects_modules_and_classes():
    space, module, slotted = types.SimpleNamespace(k=1.0), types.ModuleType("settings"), Slotted()
    module.k, slotted.factor = 2.0, 3.0

    class Config:
        k = 4.0

    f = indim.jit(lambda x: x * space.k + module.k + slotted.factor + Config.k)
    for holder, name in [(space, "k"), (module, "k"), (slotted, "factor"), (Config, "k")]:
        f(X)
        setattr(holder, name, 10.0)
        np.testing.assert_array_equal(f(X), X * space.k + module.k + slotted.factor + Config.k)


def test_functions_that_take_the_place_of_others():
    module = types.ModuleType("helpers")
    module.activation = lambda x: x * 2

    class Shifted:
        def shift(self, x):
            return x + 1

    shifted = Shifted()
    f = indim.jit(lambda x: shifted.shift(module.activation(x)))
    np.testing.assert_array_equal(f(X), X * 2 + 1)
    module.activation = lambda x: x * 3
    np.testing.assert_array_equal(f(X), X * 3 + 1)
    Shifted.shift = lambda self, x: x + 2
    np.testing.assert_array_equal(f(X), X * 3 + 2)


def test_entries_of_lists_and_dicts():
    layers = [{"w": np.ones(3), "b": 1.0}, {"w": np.ones(3), "b": 2.0}]

    def network(x):
        for layer in layers:
            x = x * layer["w"] + layer["b"]
        return x

    f = indim.jit(network)
    for change in (
        lambda: None,
        lambda: layers[1].update(b=5.0),
        lambda: layers[0].update(w=np.full(3, 2.0)),
        lambda: layers.append({"w": np.ones(3), "b": 1.0}),
        lambda: layers.pop(0),
    ):
        change()
        np.testing.assert_array_equal(f(X), network(X))


def test_entries_of_subclasses_of_containers():
    class Settings(dict):
        scale = 1.0

    for settings in (collections.OrderedDict(a=1.0), collections.Counter(a=1), Settings(a=1.0)):
        f = indim.jit(lambda x: x * settings["a"] * getattr(settings, "scale", 1.0))
        np.testing.assert_array_equal(f(X), X)
        settings["a"] = 5
        np.testing.assert_array_equal(f(X), X * 5)
    settings.scale = 2.0
    np.testing.assert_array_equal(f(X), X * 10)


def test_entries_of_sets_and_deques():
    powers, history = {1, 2}, collections.deque([1.0], maxlen=2)

    def function(x):
        return sum(x**power for power in sorted(powers)) * history[-1] + len(history)

    f = indim.jit(function)
    for change in (
        lambda: None,
        lambda: powers.add(3),
        lambda: powers.remove(1),
        lambda: history.append(5.0),
        lambda: history.append(6.0),
        history.clear,
    ):
        change()
        if history:
            np.testing.assert_array_equal(f(X), function(X))
    with pytest.raises(IndexError):
        f(X)


def test_what_helpers_and_compiled_functions_use():
    global SCALE
    offset = 1.0
    inner = indim.jit(lambda x: x + offset)
    f, runs = counting(lambda x, *, k=1: inner(scaled(x)) * k)
    np.testing.assert_array_equal(f(X), X * 2 + 1)
    SCALE = 3.0
    np.testing.assert_array_equal(f(X), X * 3 + 1)
    offset = 2.0
    np.testing.assert_array_equal(f(X), X * 3 + 2)
    f(X)
    assert len(runs) == 3


def test_a_function_that_is_bound_anew():
    activation = np.exp
    f = indim.jit(lambda x, *, k=1: activation(x) * k)
    np.testing.assert_allclose(f(X), np.exp(X), rtol=1e-15)
    activation = indim.sqrt
    np.testing.assert_allclose(f(X), np.sqrt(X), rtol=1e-15)


def test_what_the_function_changes_itself_does_not_count():
    count = 0

    @indim.jit
    def f(x):
        nonlocal count
        count += 1
        return x + 1

    for x in (X, X.astype("f4"), X, X.astype("f4"), X):
        f(x)
    assert count == 2


def test_what_is_too_large_to_be_looked_at_is_warned_of():
    table = dict.fromkeys(range(1000), 1.0)
    with pytest.warns(UserWarning, match="a dict of 1000 entries"):
        indim.jit(lambda x: x * table[3])(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        indim.jit(lambda x: np.exp(x) * SCALE + indim.sqrt(x))(X)


def test_the_old_array_is_let_go():
    import weakref

    class Array(np.ndarray):
        pass

    weights = np.ones(3).view(Array)
    gone = weakref.ref(weights)
    f = indim.jit(lambda x: x * weights)
    f(X)
    weights = np.full(3, 2.0)
    np.testing.assert_array_equal(f(X), 2 * X)
    assert gone() is None


class _Lazy:
    """A stored array in chunks, as h5py and Zarr have them."""

    shape, dtype, chunks = (3,), np.dtype(float), (1,)

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("it is loaded")


LAZY = _Lazy()
HOLDER = types.SimpleNamespace(lazy=_Lazy())
ENTRIES = {"lazy": _Lazy(), "list": [1]}


def _of_closure():
    inner = _Lazy()
    return lambda x: np.where(x > 0, inner, x)


def _of_local(x):
    own = LAZY
    return indim.add(x, own)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: x * LAZY, "LAZY"),
        (lambda x: np.add(LAZY, x), "LAZY"),
        (lambda x: x + HOLDER.lazy, "HOLDER.lazy"),
        (lambda x: x - ENTRIES["lazy"], "ENTRIES['lazy']"),
        (_of_closure(), "inner"),
        (_of_local, "own"),
        (lambda x: x * _Lazy(), "captured"),
    ],
)
def test_what_is_refused_goes_by_the_name_that_the_function_has_for_it(function, name):
    with pytest.raises(TypeError) as raised:
        indim.jit(function)(X)
    assert f"`{name}` is a " in str(raised.value), raised.value
    assert f"`{name}[...]`" in str(raised.value)


def test_an_array_of_another_shape_goes_by_its_name():
    four = np.ones(4)
    with pytest.raises(ValueError, match="cannot broadcast `four` onto `x`"):
        indim.jit(lambda x: x * four)(X)
    with pytest.raises(ValueError, match="cannot broadcast `ENTRIES_four` onto `x`"):
        indim.jit(lambda x: x * ENTRIES["four"])(X)


ENTRIES["four"] = np.ones(4)


FOLDERS = [("site-packages", True), ("dist-packages", True), ("work", False)]


@pytest.mark.parametrize("folder, installed", FOLDERS)
def test_packages_of_users_and_of_debian_are_installed(folder, installed, tmp_path, monkeypatch):
    name = "module_in_" + folder.replace("-", "_")
    (tmp_path / folder).mkdir()
    (tmp_path / folder / f"{name}.py").write_text("values = [1.0]\n\ndef f(x):\n    return x + values[0]\n")
    monkeypatch.syspath_prepend(tmp_path / folder)
    module = importlib.import_module(name)
    g = indim.jit(lambda x: module.f(x))
    assert g(np.ones(1)) == [2.0]
    module.values[0] = 2.0
    # What an installed package holds is read once.
    assert g(np.ones(1)) == [2.0 if installed else 3.0]
