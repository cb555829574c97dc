"""Lines that type checkers refuse: those with a mark, and no others; not a test, and never run."""

import numpy as np
from numpy.typing import NDArray

import indim
import indim.numexpr as ne

Floats = NDArray[np.float64]

x = np.ones((2, 3))


@indim.jit
def standardise(x: Floats, mean: Floats, *, scale: float = 1.0) -> Floats:
    return (x - mean) / scale


standardise(x)  # refused: too few arguments
standardise(x, x, x)  # refused: too many
standardise(x, "mean")  # refused: an argument of another type
standardise(x, x, scales=2.0)  # refused: no such parameter
standardise(x, x, order="Z")  # refused: no such order
text: str = standardise(x, x)  # refused: the result is an array


class Model:
    @indim.jit(static="self")
    def predict(self, x: Floats) -> Floats:
        return x


Model().predict(x, x)  # refused: too many, in addition to `self`

indim.exp(x, x)  # refused: one operand
indim.add(x)  # refused: two operands
indim.add(x, x, x)  # refused: two operands
indim.where(x, x)  # refused: three operands
indim.add(x, object())  # refused: no array
indim.add(x, x, dims=[0])  # refused: it is called broadcast_dimensions
indim.add(x, x, axis=0)  # refused: axis is an argument of indim.pdpd.add
indim.broadcast_shapes((2, 3), (3,), rule="xla", dims=[1])  # refused: it is called broadcast_dimensions
indim.numpy.add(x, x, axis=0)  # refused: the rule has no axis
indim.xla.add(x, x, broadcast_dimensions="1")  # refused: no list of axes
length: int = indim.add(x, x)  # refused: the result is an array
indim.evaluate("x", rule="python")  # refused: no such rule
indim.evaluate("x", casting="any")  # refused: no such casting
indim.evaluate("x", progress="no")  # refused: no setting
indim.broadcast_shapes((2, 3), rule="np")  # refused: no such rule
indim.convert((2, 3), to="caffe")  # refused: no such rule
indim.jit(static=1)  # refused: no names
indim.jit(static_argnums="x")  # refused: no position
indim.NumExpr  # refused: it is in indim.numexpr
ne.NumExpr("a", optimization="much")  # refused: no such option
ne.E.a + "text"  # refused: no number
