# Written by make_stubs.py; do not edit.
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Concatenate, Generic, Literal, NamedTuple, ParamSpec, TypeAlias, TypeVar, overload

from numpy.typing import DTypeLike, NDArray

from . import (
    array_api as array_api,
    debug as debug,
    fft as fft,
    flatten_util as flatten_util,
    image as image,
    lax as lax,
    nn as nn,
    none as none,
    numexpr as numexpr,
    numpy as numpy,
    onnx_legacy as onnx_legacy,
    ops as ops,
    pdpd as pdpd,
    random as random,
    scipy as scipy,
    stablehlo as stablehlo,
    tree as tree,
    tree_util as tree_util,
    xla as xla,
)
from ._types import Integers, Operand
from .numexpr.utils import (
    detect_number_of_cores as detect_number_of_cores,
    detect_number_of_threads as detect_number_of_threads,
)

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R", covariant=True)
_S = TypeVar("_S")
_T = TypeVar("_T")
Array: TypeAlias = NDArray[Any]
_Order: TypeAlias = Literal["C", "F", "A", "K"]
_Format: TypeAlias = Literal["stablehlo", "hlo", "openvino", "onnx"]
_Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_Progress: TypeAlias = bool | Callable[[int, int | None], object]
_Rule: TypeAlias = Literal["as-written", "none", "numpy", "xla", "stablehlo", "pdpd", "onnx-legacy", "named"]
# The rules that broadcast one shape to a target are among these.
_RuleSet: TypeAlias = Literal[
    "none",
    "numpy",
    "xla",
    "stablehlo",
    "pdpd",
    "onnx-legacy",
    "named",
    "unidirectional",
    "bidirectional",
    "explicit",
    "pdpd-broadcast",
    "xla-broadcast",
    "xla-broadcast-in-dim",
    "stablehlo-broadcast-in-dim",
    "hlo-broadcast",
]
_RuleOfShapes: TypeAlias = Literal["as-written"] | _RuleSet
# `None` in a container is a new array.
_Out: TypeAlias = (
    NDArray[Any] | tuple[NDArray[Any] | None, ...] | list[NDArray[Any] | None]
    | Mapping[Any, NDArray[Any] | None]
)

__version__: str

class IndimError(Exception):
    code: str
    rule: str | None
    operand: int | None
    axis: int | None
    text: str | None
    span: tuple[int, int] | None

class ShapeError(IndimError, ValueError): ...
class ElementTypeError(IndimError, TypeError): ...
class ExprError(IndimError, ValueError): ...
class FormatError(IndimError, ValueError): ...
class UnknownNameError(ExprError, KeyError): ...
class AxisError(ShapeError, IndexError): ...
class IndexRangeError(ShapeError, IndexError): ...
class NumberRangeError(ExprError, OverflowError): ...
class UndefinedOperationError(ExprError, TypeError): ...

class InternalError(Exception):
    code: str

def explain_error(code: str) -> str: ...

class Explanation(str):
    svg: str
    @property
    def json(self) -> dict[str, Any]: ...
    @property
    def machine_code(self) -> str: ...

class ProfiledNest:
    text: str
    bytes: int | None
    seconds: float

class ProfiledProgram:
    name: str
    inputs: list[str]
    runs: int
    seconds: float
    nests: list[ProfiledNest]
    @property
    def title(self) -> str: ...
    @property
    def json(self) -> dict[str, Any]: ...

class Profile:
    seconds: float | None
    programs: list[ProfiledProgram]
    @property
    def bandwidth(self) -> float: ...
    @property
    def json(self) -> dict[str, Any]: ...
    def __enter__(self) -> Profile: ...
    def __exit__(self, *args: object) -> None: ...

def profile(*, bandwidth: float | None = None) -> Profile: ...

class CompiledFunction(Generic[_P, _R]):
    __wrapped__: Callable[_P, _R]
    static: tuple[str, ...]
    trace_count: int
    def __init__(
        self,
        function: Callable[_P, _R],
        static: str | Sequence[str] = ...,
        *,
        static_argnums: int | Sequence[int] = ...,
    ) -> None: ...
    # Type checkers check the function's own arguments, but not together with `out`, `order`, `casting` or
    # `progress`.
    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __call__(
        self,
        *args: Any,
        out: _Out | None,
        order: _Order = ...,
        casting: _Casting = ...,
        progress: _Progress | None = ...,
        **kwargs: Any,
    ) -> _R: ...
    @overload
    def __call__(
        self,
        *args: Any,
        order: _Order,
        casting: _Casting = ...,
        progress: _Progress | None = ...,
        **kwargs: Any,
    ) -> _R: ...
    @overload
    def __call__(
        self, *args: Any, casting: _Casting, progress: _Progress | None = ..., **kwargs: Any
    ) -> _R: ...
    @overload
    def __call__(self, *args: Any, progress: _Progress | None, **kwargs: Any) -> _R: ...
    @overload
    def __get__(self, instance: None, owner: type[Any]) -> CompiledFunction[_P, _R]: ...
    @overload
    def __get__(
        self: CompiledFunction[Concatenate[Any, _Q], _R], instance: object, owner: type[Any] | None = ...
    ) -> CompiledFunction[_Q, _R]: ...
    def explain(self, *args: Any, **kwargs: Any) -> Explanation: ...
    def export(
        self,
        format: _Format,
        *args: Any,
        path: str | PathLike[str] | None = None,
        exact: bool = False,
        opset: int | None = None,
        **kwargs: Any,
    ) -> WrittenModel: ...

class Decomposition(NamedTuple):
    operation: str
    by: str
    times: int

class WrittenModel:
    content: bytes
    external_file: tuple[str, bytes] | None
    composed: list[Decomposition]
    warnings: list[str]
    carried: dict[str, int]
    @property
    def text(self) -> str: ...
    def __bytes__(self) -> bytes: ...

class ModelInput(NamedTuple):
    name: str
    dtype: str | None
    shape: tuple[int | str | None, ...] | None
    has_default: bool
    is_shape: bool

class Model:
    inputs: tuple[ModelInput, ...]
    outputs: tuple[str, ...]
    def __init__(self, path: str, content: bytes | None = None, function: str | None = None) -> None: ...
    # An array, or a tuple with one array for each output of the file.
    def __call__(self, *args: Any, order: _Order = "K", **kwargs: Any) -> Any: ...
    def explain(self, *args: Any, **kwargs: Any) -> Explanation: ...
    def lint(self, *, declare: Mapping[str, str] | None = None, allow: Iterable[str] = ()) -> LintReport: ...
    def to(
        self,
        format: _Format,
        *args: Any,
        path: str | PathLike[str] | None = None,
        exact: bool = False,
        opset: int | None = None,
        **kwargs: Any,
    ) -> WrittenModel: ...

class OperandType(NamedTuple):
    name: str
    type: str

class Finding(NamedTuple):
    code: str
    verdict: Literal["illegal", "contradiction", "suspicious", "legal-if", "unknown", "advice"]
    level: Literal["error", "warning", "note"]
    node: str
    operator: str
    operands: tuple[OperandType, ...]
    results: tuple[str, ...]
    place: str
    line: int | None
    column: int | None
    message: str
    drawing: str | None
    repair: str | None

class LintReport(Sequence[Finding]):
    file: str
    findings: tuple[Finding, ...]
    broadcasts: dict[str, int]
    outline: str
    sarif: str
    def passes(self, strict: bool = False) -> bool: ...
    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...
    def __len__(self) -> int: ...

def lint(
    source: str | PathLike[str] | bytes | bytearray | memoryview | Model | OpaqueModel | ProvidedModel,
    *,
    function: str | None = None,
    declare: Mapping[str, str] | None = None,
    allow: Iterable[str] = (),
) -> LintReport: ...
class ProvidedModel:
    inputs: tuple[ModelInput, ...]
    outputs: tuple[str, ...]
    def __init__(
        self,
        path: str,
        content: bytes | None,
        function: str | None,
        part: tuple[list[str], list[str]],
        provide: Mapping[str, Callable[..., Any]],
    ) -> None: ...
    def __call__(self, *args: Any, order: _Order = "K", **kwargs: Any) -> Any: ...
    def to(
        self,
        format: _Format,
        *args: Any,
        path: str | PathLike[str] | None = None,
        exact: bool = False,
        opset: int | None = None,
        **kwargs: Any,
    ) -> WrittenModel: ...
    def lint(self, *, declare: Mapping[str, str] | None = None, allow: Iterable[str] = ()) -> LintReport: ...

class OpaqueModel:
    def __init__(
        self,
        path: str,
        content: bytes | None,
        function: str | None,
        part: tuple[list[str], list[str]],
        provide: Mapping[str, Callable[..., Any]] = ...,
    ) -> None: ...
    def provide(self, name: str, function: Callable[..., Any]) -> OpaqueModel: ...
    def lint(self, *, declare: Mapping[str, str] | None = None, allow: Iterable[str] = ()) -> LintReport: ...
    @property
    def inputs(self) -> tuple[ModelInput, ...]: ...
    @property
    def outputs(self) -> tuple[str, ...]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def to(self, format: _Format, *args: Any, **kwargs: Any) -> WrittenModel: ...

@overload
def load(
    source: str | PathLike[str] | bytes | bytearray | memoryview,
    *,
    function: str | None = None,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    provide: None = None,
) -> Model | OpaqueModel: ...
@overload
def load(
    source: str | PathLike[str] | bytes | bytearray | memoryview,
    *,
    function: str | None = None,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    provide: Mapping[str, Callable[..., Any]],
) -> ProvidedModel: ...
@overload
def jit(
    function: Callable[_P, _R],
    *,
    static: str | Sequence[str] = ...,
    static_argnames: str | Sequence[str] = ...,
    static_argnums: int | Sequence[int] = ...,
    donate_argnums: int | Sequence[int] = ...,
    donate_argnames: str | Sequence[str] = ...,
    inline: bool = ...,
    keep_unused: bool = ...,
) -> CompiledFunction[_P, _R]: ...
@overload
def jit(
    function: None = None,
    *,
    static: str | Sequence[str] = ...,
    static_argnames: str | Sequence[str] = ...,
    static_argnums: int | Sequence[int] = ...,
    donate_argnums: int | Sequence[int] = ...,
    donate_argnames: str | Sequence[str] = ...,
    inline: bool = ...,
    keep_unused: bool = ...,
) -> Callable[[Callable[_P, _R]], CompiledFunction[_P, _R]]: ...

class Gradient(Generic[_P]):
    __wrapped__: Callable[_P, Any]
    argnums: int | tuple[int, ...]
    has_value: bool
    has_aux: bool
    def __init__(
        self,
        function: Callable[_P, Any],
        argnums: int | tuple[int, ...],
        has_value: bool,
        has_aux: bool = False,
    ) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    def explain(self, *args: Any, **kwargs: Any) -> Explanation: ...

def grad(
    f: Callable[_P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Gradient[_P]: ...
def value_and_grad(
    f: Callable[_P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Gradient[_P]: ...
def linearize(fun: Callable[..., _S], *primals: Any) -> tuple[_S, Callable[..., _S]]: ...
def checkpoint(
    fun: Callable[_P, _R],
    *,
    prevent_cse: bool = True,
    policy: Any = None,
    static_argnums: int | Sequence[int] = (),
) -> Callable[_P, _R]: ...

remat = checkpoint

class ShapeDtypeStruct:
    shape: tuple[int, ...]
    dtype: Any
    def __init__(self, shape: Sequence[int], dtype: DTypeLike) -> None: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...

def typeof(x: Any) -> ShapeDtypeStruct: ...
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any: ...
def make_jaxpr(
    fun: Callable[..., Any], static_argnums: int | Sequence[int] = ()
) -> Callable[..., Explanation]: ...
def named_call(fun: Callable[_P, _R], *, name: str | None = None) -> Callable[_P, _R]: ...
def default_backend() -> str: ...
def device_count(backend: str | None = None) -> int: ...
def devices(backend: str | None = None) -> list[Any]: ...
def local_device_count(backend: str | None = None) -> int: ...
def local_devices(backend: str | None = None) -> list[Any]: ...
def block_until_ready(x: _S) -> _S: ...
def device_get(x: _S) -> _S: ...
def device_put(x: Any, device: Any = None, *, donate: bool = False) -> Any: ...
@overload
def vjp(
    f: Callable[..., _S], *primals: Any, has_aux: Literal[False] = False
) -> tuple[_S, Callable[[_S], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., tuple[_S, _T]], *primals: Any, has_aux: Literal[True]
) -> tuple[_S, Callable[[_S], tuple[Any, ...]], _T]: ...
@overload
def jvp(
    f: Callable[..., _S], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[_S, _S]: ...
@overload
def jvp(
    f: Callable[..., tuple[_S, _T]], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[_S, _S, _T]: ...
def vmap(
    f: Callable[_P, _R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
) -> CompiledFunction[_P, _R]: ...
def jacrev(
    f: Callable[_P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> CompiledFunction[_P, Any]: ...
def jacfwd(
    f: Callable[_P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> CompiledFunction[_P, Any]: ...
def hessian(
    f: Callable[_P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> CompiledFunction[_P, Any]: ...

jacobian = jacrev

class _CustomFunction(Generic[_P, _R]):
    __wrapped__: Callable[_P, _R]
    nondiff_argnums: tuple[int, ...]
    def __init__(self, fun: Callable[_P, _R], nondiff_argnums: int | Sequence[int] = ()) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

class custom_jvp(_CustomFunction[_P, _R]):
    def defjvp(self, jvp: Callable[_Q, _S], symbolic_zeros: bool = False) -> Callable[_Q, _S]: ...
    def defjvps(self, *jvps: Callable[..., Any] | None) -> None: ...

class custom_vjp(_CustomFunction[_P, _R]):
    def defvjp(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        bwd: Callable[..., Sequence[Any]],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None: ...

def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, *, limit: int | None = None
) -> Any: ...
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any: ...
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]: ...
def cond(pred: Any, true_fun: Callable[..., _S], false_fun: Callable[..., _S], *operands: Any) -> _S: ...
def switch(index: Any, branches: Sequence[Callable[..., _S]], *operands: Any) -> _S: ...
# A text of several results gives a tuple, which only its reader knows.
@overload
def evaluate(
    ex: str,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    out: _Out | None = None,
    order: _Order = "K",
    casting: _Casting = "same_kind",
    rule: _Rule = "as-written",
    *,
    results: str | None = None,
    progress: _Progress | None = None,
    _frame_depth: int = 3,
    **kwargs: Any,
) -> NDArray[Any]: ...
@overload
def evaluate(
    ex: str,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    out: _Out | None = None,
    order: _Order = "K",
    casting: _Casting = "same_kind",
    rule: _Rule = "as-written",
    *,
    results: list[str] | tuple[str, ...],
    progress: _Progress | None = None,
    _frame_depth: int = 3,
    **kwargs: Any,
) -> dict[str, NDArray[Any]]: ...
def re_evaluate(
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    _frame_depth: int = 2,
    *,
    progress: _Progress | None = None,
) -> NDArray[Any]: ...
def validate(
    ex: str,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    out: _Out | None = None,
    order: _Order = "K",
    casting: _Casting = "same_kind",
    rule: _Rule = "as-written",
    *,
    results: str | list[str] | tuple[str, ...] | None = None,
    _frame_depth: int = 2,
    **kwargs: Any,
) -> Exception | None: ...
def set_num_threads(nthreads: int) -> int: ...
def get_num_threads() -> int: ...
def set_memory_pool_limit(bytes: int) -> None: ...
def limit_memory(bytes: int | None) -> None: ...
def set_progress(progress: _Progress) -> _Progress: ...
def broadcast_shapes(
    *shapes: Sequence[int],
    rule: _RuleOfShapes = "numpy",
    broadcast_dimensions: Sequence[int] | None = None,
    axis: int | None = None,
    target: Sequence[int] | None = None,
    names: Sequence[Sequence[str]] | None = None,
) -> tuple[int, ...]: ...
def convert(
    *shapes: Sequence[int],
    to: _RuleSet,
    rule: _RuleOfShapes = "numpy",
    broadcast_dimensions: Sequence[int] | None = None,
    axis: int | None = None,
    target: Sequence[int] | None = None,
    names: Sequence[Sequence[str]] | None = None,
) -> str: ...
# An expression, shapes, or a compiled function with its arguments.
def explain(
    *what: Any,
    rule: _RuleOfShapes = "as-written",
    broadcast_dimensions: Sequence[int] | None = None,
    axis: int | None = None,
    target: Sequence[int] | None = None,
    names: Sequence[Sequence[str]] | None = None,
    **operands: Any,
) -> Explanation: ...
def oracle(case: str | Mapping[str, Any]) -> dict[str, Any]: ...
def convert_element_type(
    x: Operand, dtype: DTypeLike, *, out: NDArray[Any] | None = None
) -> NDArray[Any]: ...
def broadcast_in_dim(
    x: Operand, shape: Integers, broadcast_dimensions: Integers, *, out: NDArray[Any] | None = None
) -> NDArray[Any]: ...
def broadcast_to(x: Operand, shape: Integers, *, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
def reshape(x: Operand, shape: Integers, *, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
def transpose(
    x: Operand, permutation: Sequence[int] | None = None, *, out: NDArray[Any] | None = None
) -> NDArray[Any]: ...
def asarray(x: Operand, dtype: DTypeLike | None = None) -> NDArray[Any]: ...
def astype(x: Operand, dtype: DTypeLike) -> NDArray[Any]: ...
def permute_dims(x: Operand, axes: Sequence[int]) -> NDArray[Any]: ...
def expand_dims(x: Operand, axis: int | Sequence[int]) -> NDArray[Any]: ...
def top_k(
    x: Operand, k: int, axis: int = -1, *, largest: bool = True
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def median(
    x: Operand, axis: int | Sequence[int] | None = None, *, keepdims: bool = False
) -> NDArray[Any]: ...
def nanmedian(
    x: Operand, axis: int | Sequence[int] | None = None, *, keepdims: bool = False
) -> NDArray[Any]: ...
def quantile(
    x: Operand,
    q: float | Sequence[float] | NDArray[Any],
    axis: int | Sequence[int] | None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> NDArray[Any]: ...
def percentile(
    x: Operand,
    q: float | Sequence[float] | NDArray[Any],
    axis: int | Sequence[int] | None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> NDArray[Any]: ...
def nanquantile(
    x: Operand,
    q: float | Sequence[float] | NDArray[Any],
    axis: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
) -> NDArray[Any]: ...
def digitize(x: Operand, bins: Operand, right: bool = False) -> NDArray[Any]: ...
def interp(
    x: Operand, xp: Operand, fp: Operand, left: float | None = None, right: float | None = None
) -> NDArray[Any]: ...

class _At:
    def __getitem__(self, key: Any) -> _IndexUpdate: ...

class _IndexUpdate:
    def set(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def add(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def multiply(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def min(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def max(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def mul(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def subtract(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def divide(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def power(self, values: Operand, *, mode: str = ..., **hints: bool) -> NDArray[Any]: ...
    def apply(self, func: Callable[[Any], Any], *, mode: str = ...) -> NDArray[Any]: ...
    def get(self, *, mode: str = ..., fill_value: Operand | None = None) -> NDArray[Any]: ...

def at(x: Operand) -> _At: ...
def put_along_axis(x: Operand, indices: Integers, values: Operand, axis: int | None) -> NDArray[Any]: ...
def linear_recurrence(
    a: Operand, b: Operand, axis: int = -1, *, initial: Operand | None = None, reverse: bool = False
) -> NDArray[Any]: ...
def segment_sum(data: Operand, segment_ids: Operand, num_segments: int) -> NDArray[Any]: ...
def segment_prod(data: Operand, segment_ids: Operand, num_segments: int) -> NDArray[Any]: ...
def segment_max(data: Operand, segment_ids: Operand, num_segments: int) -> NDArray[Any]: ...
def segment_min(data: Operand, segment_ids: Operand, num_segments: int) -> NDArray[Any]: ...
def one_hot(
    x: Operand, num_classes: int, *, dtype: DTypeLike = ..., axis: int = -1
) -> NDArray[Any]: ...
def nonzero(
    x: Operand, *, size: int | None = ..., fill_value: int | tuple[int, ...] = ...
) -> tuple[NDArray[Any], ...]: ...
def flatnonzero(x: Operand, *, size: int | None = ..., fill_value: int = ...) -> NDArray[Any]: ...
def argwhere(
    x: Operand, *, size: int | None = ..., fill_value: int | tuple[int, ...] = ...
) -> NDArray[Any]: ...
def compress(
    condition: Operand,
    x: Operand,
    axis: int | None = ...,
    *,
    size: int | None = ...,
    fill_value: Operand = ...,
) -> NDArray[Any]: ...
def extract(
    condition: Operand, x: Operand, *, size: int | None = ..., fill_value: Operand = ...
) -> NDArray[Any]: ...
def unique(
    x: Operand,
    return_index: bool = ...,
    return_inverse: bool = ...,
    return_counts: bool = ...,
    axis: int | None = ...,
    *,
    equal_nan: bool = ...,
    size: int | None = ...,
    fill_value: Operand | None = ...,
) -> Any: ...
def bincount(
    x: Operand, weights: Operand | None = ..., minlength: int = ..., *, length: int | None = ...
) -> NDArray[Any]: ...

__all__ = [
    "Array",
    "AxisError",
    "CompiledFunction",
    "Decomposition",
    "ElementTypeError",
    "Explanation",
    "ExprError",
    "Finding",
    "FormatError",
    "Gradient",
    "IndexRangeError",
    "IndimError",
    "InternalError",
    "LintReport",
    "Model",
    "ModelInput",
    "NumberRangeError",
    "OpaqueModel",
    "OperandType",
    "Profile",
    "ProfiledNest",
    "ProfiledProgram",
    "ProvidedModel",
    "ShapeDtypeStruct",
    "ShapeError",
    "UndefinedOperationError",
    "UnknownNameError",
    "WrittenModel",
    "absolute",
    "acos",
    "acosh",
    "add",
    "amax",
    "amin",
    "and_",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "around",
    "array_api",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "at",
    "atan",
    "atan2",
    "atanh",
    "average",
    "bincount",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "block_until_ready",
    "broadcast_in_dim",
    "broadcast_shapes",
    "broadcast_to",
    "cbrt",
    "ceil",
    "ceiling",
    "checkpoint",
    "clamp",
    "clip",
    "clz",
    "compress",
    "concat",
    "concatenate",
    "cond",
    "conj",
    "conjugate",
    "convert",
    "convert_element_type",
    "copy_sign",
    "copysign",
    "cos",
    "cosh",
    "cosine",
    "count_leading_zeros",
    "count_nonzero",
    "cumall",
    "cumany",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "custom_jvp",
    "custom_vjp",
    "default_backend",
    "deg2rad",
    "degrees",
    "detect_number_of_cores",
    "detect_number_of_threads",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "diff",
    "digamma",
    "digitize",
    "div",
    "divide",
    "dot",
    "dynamic_slice",
    "dynamic_update_slice",
    "einsum",
    "elu",
    "eq",
    "equal",
    "erf",
    "erf_inv",
    "erfc",
    "erfinv",
    "eval_shape",
    "evaluate",
    "exp",
    "exp2",
    "expand_dims",
    "expit",
    "explain",
    "explain_error",
    "expm1",
    "exponential",
    "exponential_minus_one",
    "extract",
    "fabs",
    "fft",
    "flatnonzero",
    "flip",
    "float_power",
    "floor",
    "floor_div",
    "floor_divide",
    "floor_mod",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "fori_loop",
    "gammaln",
    "ge",
    "gelu",
    "gelu_tanh",
    "get_num_threads",
    "grad",
    "greater",
    "greater_equal",
    "gt",
    "hard_sigmoid",
    "hard_swish",
    "heaviside",
    "hessian",
    "hypot",
    "imag",
    "inner",
    "interp",
    "invert",
    "is_finite",
    "is_inf",
    "is_nan",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "layer_norm",
    "le",
    "left_shift",
    "less",
    "less_equal",
    "lexsort",
    "lgamma",
    "limit_memory",
    "linear_recurrence",
    "linearize",
    "lint",
    "ln",
    "load",
    "local_device_count",
    "local_devices",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_add_exp",
    "log_plus_one",
    "log_softmax",
    "logaddexp",
    "logcumsumexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logistic",
    "logsumexp",
    "lt",
    "make_jaxpr",
    "matmul",
    "matvec",
    "maximum",
    "mean",
    "median",
    "minimum",
    "mish",
    "mod",
    "mul",
    "mul_high",
    "mulhi",
    "multiply",
    "named_call",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ne",
    "neg",
    "negate",
    "negative",
    "next_after",
    "nextafter",
    "nn",
    "none",
    "nonzero",
    "norm",
    "not_",
    "not_equal",
    "one_hot",
    "onnx_legacy",
    "ops",
    "or_",
    "oracle",
    "outer",
    "pad",
    "parametric_relu",
    "pdpd",
    "percentile",
    "permute_dims",
    "popcnt",
    "population_count",
    "positive",
    "power",
    "prelu",
    "prod",
    "product",
    "profile",
    "psi",
    "ptp",
    "put_along_axis",
    "py_mod",
    "quantile",
    "rad2deg",
    "radians",
    "re_evaluate",
    "real",
    "reciprocal",
    "reciprocal_sqrt",
    "reduce_precision",
    "relu",
    "rem",
    "remainder",
    "remat",
    "reshape",
    "right_shift",
    "rint",
    "rms_norm",
    "roll",
    "round_away",
    "round_even",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scan",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_set",
    "search_sorted",
    "searchsorted",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "select",
    "selu",
    "set_memory_pool_limit",
    "set_num_threads",
    "set_progress",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "shl",
    "shr_arithmetic",
    "shr_logical",
    "sigmoid",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinc",
    "sine",
    "sinh",
    "sliding_window_view",
    "softmax",
    "softplus",
    "softsign",
    "sort",
    "sqrt",
    "square",
    "squared_difference",
    "stablehlo",
    "stack",
    "std",
    "sub",
    "subtract",
    "swish",
    "switch",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "top_k",
    "total_eq",
    "total_ge",
    "total_gt",
    "total_le",
    "total_lt",
    "total_ne",
    "transpose",
    "tree",
    "tree_util",
    "trigamma",
    "true_divide",
    "trunc",
    "typeof",
    "unique",
    "validate",
    "value_and_grad",
    "var",
    "variance",
    "vdot",
    "vecdot",
    "vecmat",
    "vjp",
    "vmap",
    "where",
    "while_loop",
    "xla",
    "xor",
]

def abs(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def absolute(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def acos(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def acosh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def add(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def all(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def amax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def amin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def and_(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def any(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def arccos(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arccosh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arcsin(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arcsinh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arctan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arctan2(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def arctanh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def argmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    last: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def argmin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    last: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def argsort(
    x: Operand,
    axis: int | None = ...,
    *,
    descending: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def around(x: Operand, decimals: int = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def asin(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def asinh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def atan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def atan2(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def atanh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def average(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def bitwise_and(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def bitwise_count(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_invert(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_left_shift(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def bitwise_not(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_or(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def bitwise_right_shift(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def bitwise_xor(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cbrt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ceil(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ceiling(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def clamp(
    x: Operand,
    y: Operand,
    z: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def clip(
    x: Operand,
    y: Operand,
    z: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def clz(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def complex(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def concat(
    arrays: Sequence[Operand],
    axis: int | None = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def concatenate(
    arrays: Sequence[Operand],
    axis: int | None = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def conj(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def conjugate(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def copy_sign(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def copysign(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cos(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def cosh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def cosine(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def count_leading_zeros(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def count_nonzero(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumall(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumany(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumlogsumexp(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cummax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cummin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumprod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumsum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumulative_prod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumulative_sum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def deg2rad(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def degrees(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def diff(
    x: Operand,
    n: int = ...,
    axis: int = ...,
    *,
    prepend: Operand | None = ...,
    append: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def digamma(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def div(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def divide(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def dot(
    x: Operand,
    y: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    broadcast_dimensions: Integers | None = ...,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def dynamic_slice(
    operand: Operand,
    start_indices: Operand | Sequence[Operand],
    slice_sizes: Sequence[int],
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def dynamic_update_slice(
    operand: Operand,
    update: Operand,
    start_indices: Operand | Sequence[Operand],
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def einsum(
    subscripts: str | Operand,
    *operands: Operand | Sequence[Any],
    optimize: Any = ...,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def elu(x: Operand, alpha: float = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def eq(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def equal(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def erf(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def erf_inv(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def erfc(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def erfinv(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def exp(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def exp2(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def expit(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def expm1(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def exponential(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def exponential_minus_one(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def fabs(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def flip(x: Operand, axis: Integers | None = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def float_power(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def floor(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def floor_div(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def floor_divide(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def floor_mod(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def fma(
    x: Operand,
    y: Operand,
    z: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def fmax(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def fmin(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def fmod(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def gammaln(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ge(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def gelu(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def gelu_tanh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def greater(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def greater_equal(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def gt(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def hard_sigmoid(
    x: Operand,
    alpha: float = ...,
    beta: float = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def hard_swish(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def heaviside(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def hypot(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def imag(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def inner(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def invert(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def is_finite(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def is_inf(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def is_nan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def isclose(
    x: Operand,
    y: Operand,
    rtol: float = ...,
    atol: float = ...,
    equal_nan: bool = ...,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def isfinite(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def isinf(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def isnan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def layer_norm(
    x: Operand,
    gain: Operand,
    bias: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    epsilon: float = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def le(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def left_shift(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def less(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def less_equal(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def lexsort(keys: Sequence[Operand], axis: int = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def lgamma(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ln(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log10(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log1p(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log2(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log_add_exp(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def log_plus_one(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log_softmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def logaddexp(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def logcumsumexp(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def logical_and(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def logical_not(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def logical_or(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def logical_xor(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def logistic(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def logsumexp(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def lt(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def matmul(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def matvec(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def max(
    x: Operand,
    y: Operand | None = ...,
    *,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
    broadcast_dimensions: Integers | None = ...,
) -> NDArray[Any]: ...
def maximum(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def mean(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def min(
    x: Operand,
    y: Operand | None = ...,
    *,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
    broadcast_dimensions: Integers | None = ...,
) -> NDArray[Any]: ...
def minimum(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def mish(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def mod(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def mul(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def mul_high(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def mulhi(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def multiply(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nan_to_num(
    x: Operand,
    nan: float = ...,
    posinf: float | None = ...,
    neginf: float | None = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanargmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanargmin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nancumprod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nancumsum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanmean(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanmin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanprod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanstd(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nansum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanvar(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def ne(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def neg(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def negate(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def negative(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def next_after(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nextafter(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def norm(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def not_(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def not_equal(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def or_(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def outer(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def pad(
    x: Operand,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: str = ...,
    *,
    constant_values: float = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def parametric_relu(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def popcnt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def population_count(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def positive(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def pow(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def power(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def prelu(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def prod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def product(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def psi(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ptp(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def py_mod(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def rad2deg(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def radians(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def real(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def reciprocal(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def reciprocal_sqrt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def reduce_precision(
    x: Operand,
    exponent_bits: int,
    mantissa_bits: int,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def relu(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def rem(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def remainder(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def right_shift(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def rint(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def rms_norm(
    x: Operand,
    gain: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    epsilon: float = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def roll(
    x: Operand,
    shift: Integers,
    axis: Integers | None = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def round(x: Operand, decimals: int = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def round_away(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def round_even(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def round_nearest_afz(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def round_nearest_even(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def rsqrt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def scatter_add(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def scatter_max(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def scatter_min(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def scatter_mul(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def scatter_set(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def search_sorted(
    table: Operand,
    x: Operand,
    side: str = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def searchsorted(
    table: Operand,
    x: Operand,
    side: str = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def select(
    x: Operand,
    y: Operand,
    z: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def selu(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def shift_left(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def shift_right_arithmetic(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def shift_right_logical(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def shl(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def shr_arithmetic(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def shr_logical(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def sigmoid(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sign(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def signbit(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def silu(x: Operand, beta: float = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sin(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sinc(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sine(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sinh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sliding_window_view(
    x: Operand,
    window_shape: int | Sequence[int],
    axis: Integers | None = ...,
    *,
    stride: int = ...,
    dilation: int = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def softmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def softplus(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def softsign(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sort(
    x: Operand,
    axis: int | None = ...,
    *,
    descending: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def sqrt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def square(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def squared_difference(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def stack(arrays: Sequence[Operand], axis: int = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def std(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def sub(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def subtract(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def sum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    exact: bool = ...,
    partial: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def swish(x: Operand, beta: float = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def take(
    x: Operand,
    indices: Operand,
    axis: int | None = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def take_along_axis(
    x: Operand,
    indices: Operand,
    axis: int | None = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def tan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def tanh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def tensordot(
    x: Operand,
    y: Operand,
    axes: int | Sequence[Integers] = ...,
    *,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def total_eq(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def total_ge(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def total_gt(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def total_le(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def total_lt(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def total_ne(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def trigamma(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def true_divide(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def trunc(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def var(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def variance(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def vdot(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def vecdot(
    x: Operand,
    y: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    broadcast_dimensions: Integers | None = ...,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def vecmat(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def where(
    x: Operand,
    y: Operand,
    z: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def xor(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
