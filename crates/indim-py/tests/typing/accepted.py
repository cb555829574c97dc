"""Programs that type checkers accept; not a test, and never run."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import indim
import indim.numexpr as ne

Floats = NDArray[np.float64]

x = np.ones((2, 3))
out = np.empty((2, 3))


@indim.jit
def standardise(x: Floats, mean: Floats, *, scale: float = 1.0) -> Floats:
    return (x - mean) / scale


assert_type(standardise(x, x), Floats)
assert_type(standardise(x, mean=x, scale=2.0), Floats)
assert_type(standardise(x, x, out=out), Floats)
assert_type(standardise(x, x, order="F", casting="unsafe"), Floats)
assert_type(standardise(x, x, progress=lambda done, total: None), Floats)
assert_type(standardise.explain("f64[2, 3]", "f64[3]", scale=2.0), indim.Explanation)
assert_type(standardise.__wrapped__(x, x), Floats)


@indim.jit(static_argnames=("kind",), static_argnums=1)
def pair(x: Floats, kind: str) -> tuple[Floats, Floats]:
    return x, x


assert_type(pair(x, "both"), tuple[Floats, Floats])
assert_type(pair(x, "both", out=(out, None)), tuple[Floats, Floats])


class Model:
    factor = 2.0

    @indim.jit(static="self")
    def predict(self, x: Floats) -> Floats:
        return x * self.factor


assert_type(Model().predict(x), Floats)


@indim.jit
def untyped(x, y=1):  # type: ignore[no-untyped-def]
    return x + y


untyped(x)
untyped(x, y=2)
indim.jit(lambda parts: parts["a"] + parts["b"][0])({"a": x, "b": [x]})

assert_type(indim.add(x, 1.0, broadcast_dimensions=(0, 1)), NDArray[Any])
assert_type(indim.xla.add(x, [1, 2, 3], broadcast_dimensions=1), NDArray[Any])
assert_type(indim.where(x > 1, x, 0), NDArray[Any])
assert_type(indim.numpy.abs(x, out=out), NDArray[Any])
assert_type(indim.pdpd.add(x, x[0], axis=1), NDArray[Any])
assert_type(indim.evaluate("x + 1", order="K", rule="pdpd"), NDArray[Any])
assert_type(indim.astype(x, "i8"), NDArray[Any])
assert_type(indim.broadcast_shapes((2, 3), (3,), rule="pdpd", axis=1), tuple[int, ...])
assert_type(indim.broadcast_shapes((2, 3), (3,), rule="xla", broadcast_dimensions=[1]), tuple[int, ...])
assert_type(indim.convert((2, 3), to="unidirectional", rule="bidirectional", target=(4, 2, 3)), str)
operations: list[Callable[..., NDArray[Any]]] = [indim.exp, indim.stablehlo.tanh, indim.none.mul]

product = ne.NumExpr(ne.E.a + 2 * ne.E.b**2, [("a", np.float64), ("b", float)], optimization="none")
assert_type(product(x, x, out=out), NDArray[Any])
assert_type(product.input_names, tuple[str, ...])
assert_type(ne.evaluate("x + 1"), NDArray[Any])
assert_type(ne.set_num_threads(ne.detect_number_of_cores()), int)
