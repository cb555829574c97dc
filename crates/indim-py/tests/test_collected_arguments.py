"""Compiled functions with `*arguments` and `**arguments`."""

import functools
import inspect

import indim
import numpy as np
import pytest

X = np.array([1.0, 2.0, 3.0])


def f(x, *rest, scale=1.0, **more):
    for value in rest:
        x = x + value
    for name, value in more.items():
        x = x - value if name == "minus" else x * value
    return x * scale


CALLS = [
    ((X,), {}),
    ((X, X), {}),
    ((X, X, 2.0), {}),
    ((X,), {"scale": 3.0}),
    ((X,), {"w": X, "minus": X + 1}),
    ((X,), {"minus": X + 1, "w": X}),
    ((X, X), {"rest": X, "more": 2.0, "scale": X}),
]


@pytest.mark.parametrize(("args", "kwargs"), CALLS)
def test_calls(args, kwargs):
    expected = f(*args, **kwargs)
    compiled = indim.jit(f)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(*args, **kwargs), expected)
    assert compiled.trace_count == 1
    np.testing.assert_array_equal(indim.jit(lambda x: compiled(x, *args[1:], **kwargs))(X), expected)
    total = lambda *args, **kwargs: np.sum(f(*args, **kwargs))
    value, gradient = indim.value_and_grad(total)(*args, **kwargs)
    assert value == np.sum(expected) and gradient.shape == X.shape


def test_only_collected_arguments_are_bound_by_python(monkeypatch):
    g = lambda a, /, y=2.0, *rest, scale=1.0, **more: f(a * y, *rest, scale=scale, **more)
    compiled, bindings = indim.jit(g), []
    bind = inspect.Signature.bind
    counted = lambda *args, **kwargs: bindings.append(1) or bind(*args, **kwargs)
    monkeypatch.setattr(inspect.Signature, "bind", counted)
    for args, kwargs in [((X,), {}), ((X, X), {}), ((X,), {"y": X, "scale": 3.0})]:
        np.testing.assert_array_equal(compiled(*args, **kwargs), g(*args, **kwargs))
    assert not bindings
    for args, kwargs in [((X, X, X), {}), ((X,), {"a": X}), ((X,), {"w": X, "y": 3.0})]:
        np.testing.assert_array_equal(compiled(*args, **kwargs), g(*args, **kwargs))
    assert len(bindings) == 3
    for args, kwargs in [((), {}), ((X, X), {"y": X})]:
        with pytest.raises(TypeError, match="missing a required|multiple values"):
            compiled(*args, **kwargs)


def test_a_decorated_function():
    def logged(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    @indim.jit
    @logged
    def g(x, w=2.0):
        return x * w

    np.testing.assert_array_equal(g(X), X * 2)
    np.testing.assert_array_equal(g(X, w=X), X * X)
    plain = indim.jit(lambda *args, **kwargs: g(*args, **kwargs))
    np.testing.assert_array_equal(plain(X, w=X), X * X)
    rows = np.stack([X, X + 1])
    np.testing.assert_array_equal(indim.vmap(lambda x, **more: x * more["w"])(rows, w=rows), rows * rows)


def test_static_arguments_options_and_mistakes():
    h = indim.jit(lambda x, mode, **more: -x if mode == "minus" else x * more["w"], static="mode")
    np.testing.assert_array_equal(h(X, "minus"), -X)
    np.testing.assert_array_equal(h(X, mode="times", w=X), X * X)
    out = np.empty(3)
    assert h(X, "minus", out=out) is out
    assert "parameter \"more_w\"" in indim.jit(lambda x, **more: x * more["w"]).explain("f64[3]", w="f64[3]")
    k = indim.jit(lambda x, **more: x * 2 if more["mode"] == "double" else x, static=("more",))
    np.testing.assert_array_equal(k(X, mode="double"), X * 2)
    np.testing.assert_array_equal(k(X, mode="single"), X)
    with pytest.raises(TypeError, match="static='more'"):
        indim.jit(lambda x, **more: x)(X, mode="double")
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        indim.jit(f)(y=X)
