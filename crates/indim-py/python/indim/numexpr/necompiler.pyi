from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn

from numpy.typing import DTypeLike, NDArray

from .. import evaluate as evaluate, re_evaluate as re_evaluate, validate as validate
from .._types import Operand
from .expressions import ExpressionNode

class NumExpr:
    expression: str
    input_names: tuple[str, ...]
    def __init__(
        self,
        ex: str | ExpressionNode,
        signature: Sequence[tuple[str, DTypeLike]] = (),
        sanitize: bool | None = True,
        *,
        optimization: Literal["none", "moderate", "aggressive"] = ...,
        truediv: Literal[False, True, "auto"] = ...,
    ) -> None: ...
    def run(
        self,
        *args: Operand,
        out: NDArray[Any] | None = None,
        order: Literal["C", "F", "A", "K"] = "K",
        casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"] = "safe",
        ex_uses_vml: bool = False,
    ) -> NDArray[Any]: ...
    __call__ = run

def disassemble(nex: NumExpr) -> NoReturn: ...
def getExprNames(
    text: str, context: Mapping[str, Any] | None = None, sanitize: bool | None = True
) -> tuple[list[str], bool]: ...
