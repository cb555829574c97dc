"""Matrix products and other contractions by indim and by other libraries.

    python bench/python/products.py [--job NAME] [--both] [--minutes M] [--record FILE]

prints a table as ``programs.py`` does.
"""

import numpy as np

import engines
import indim
import tables
from engines import by_indim, by_jax, by_models, by_numba, by_numpy, by_scipy, jax, jnp, loaded, onnx, prange

jobs = tables.Jobs()


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def products(left, right, dtype=np.float32):
    """``left @ right`` by every engine that has the type."""
    x, w = normal(*left).astype(dtype), normal(*right, seed=1).astype(dtype)
    wide = x.dtype == np.float64
    models = ("ONNX Runtime",) if wide else ("ONNX Runtime", "OpenVINO")
    return {
        "indim": by_indim(lambda x, w: x @ w, x, w),
        "NumPy": by_numpy(np.matmul, x, w),
        "JAX": by_jax(lambda x, w: x @ w, x, w, wide=wide),
        **by_models("MatMul", [x, w], only=models),
    }


SQUARES = {64: 0.005, 256: 0.18, 512: 2.5, 1024: 10.6}
for size, aim in SQUARES.items():
    jobs(f"{size}³", aim)(lambda size=size: products([size, size], [size, size]))
jobs("f64 512³", 2.65)(lambda: products([512, 512], [512, 512], np.float64))
# A sum of 1000 products of f16 is within a hundredth.
jobs("f16 1000³", tolerance=1e-2)(lambda: products([1000, 1000], [1000, 1000], np.float16))
jobs("[4096, 4096] by a vector", 1.35)(lambda: products([4096, 4096], [4096]))
jobs("[512, 512] by a vector", 0.010)(lambda: products([512, 512], [512]))
jobs("[10000, 64] by a vector")(lambda: products([10000, 64], [64]))
jobs("[10000, 600] by a vector")(lambda: products([10000, 600], [600]))
jobs("a vector by [4096, 4096]")(lambda: products([4096], [4096, 4096]))
jobs("[64, 8192] by [8192, 64]", 0.4)(lambda: products([64, 8192], [8192, 64]))
jobs("384 of [128, 64] by [64, 128]", 4.2)(lambda: products([384, 128, 64], [384, 64, 128]))
jobs("1000 of 32³")(lambda: products([1000, 32, 32], [1000, 32, 32]))
jobs("points [1 Mi, 3] by [3, 3]", 0.5)(lambda: products([1 << 20, 3], [3, 3]))


@jobs("sum(x*y), 64 Ki", 0.005)
def sum_of_products():
    x, y = normal(1 << 16), normal(1 << 16, seed=1)
    return {
        "indim": by_indim(lambda x, y: np.sum(x * y), x, y),
        "NumPy": by_numpy(np.dot, x, y),
        "JAX": by_jax(lambda x, y: jnp.sum(x * y), x, y),
    }


@jobs("gelu(x @ w + b), [512, 768] by [768, 3072]", 11.8)
def layer():
    def function(gelu):
        return lambda x, w, b: gelu(x @ w + b)

    x, w, b = normal(512, 768), 0.04 * normal(768, 3072, seed=1), normal(3072, seed=2)
    half = lambda x: np.float32(0.5) * x
    tanh = lambda x: half(x) * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x**3)))
    return {
        "indim": by_indim(function(indim.gelu), x, w, b),
        "NumPy": by_numpy(function(tanh), x, w, b),
        "JAX": by_jax(function(lambda x: jax.nn.gelu(x, approximate=False)), x, w, b),
        **layer_models(x, w, b),
    }


def layer_models(x, w, b):
    """The layer with constant weights."""
    if not onnx:
        return {}
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["p"]),
        onnx.helper.make_node("Add", ["p", "b"], ["s"]),
        onnx.helper.make_node("Gelu", ["s"], ["result"]),
    ]
    return engines.run_model(engines.model_of(nodes, {"x": x}, {"w": w, "b": b}, opset=20), x)


@jobs("((u8/255 - m) / s) @ w, 1024³", 10.6)
def pictures():
    def function(x, m, s, w):
        return ((x / np.float32(255) - m) / s) @ w

    x = np.random.default_rng(0).integers(0, 256, (1024, 1024)).astype(np.uint8)
    m, s, w = normal(1024), np.abs(normal(1024, seed=1)) + 1, normal(1024, 1024, seed=2)
    return {
        "indim": by_indim(lambda *a: function(a[0].astype(np.float32), *a[1:]), x, m, s, w),
        "NumPy": by_numpy(lambda *a: function(a[0].astype(np.float32), *a[1:]), x, m, s, w),
        "JAX": by_jax(lambda *a: function(a[0].astype(np.float32), *a[1:]), x, m, s, w),
    }


@jobs("i8 512³ to i32", 0.5)
def bytes_product():
    random = np.random.default_rng(0)
    x, w = (random.integers(-128, 128, (512, 512)).astype(np.int8) for _ in range(2))
    return {
        "indim": by_indim(lambda x, w: indim.matmul(x, w, preferred_element_type=np.int32), x, w),
        "NumPy": by_numpy(lambda x, w: np.matmul(x, w, dtype=np.int32), x, w),
        "JAX": by_jax(lambda x, w: jnp.matmul(x, w, preferred_element_type=np.int32), x, w),
        **by_models("MatMulInteger", [x, w], only=["ONNX Runtime"]),
    }


def narrow(left, right):
    """A product of bf16 to f32."""
    bf16 = engines.ml_dtypes.bfloat16
    x, w = normal(*left).astype(bf16), normal(*right, seed=1).astype(bf16)
    to_f32 = {"preferred_element_type": np.float32}
    return {
        "indim": by_indim(lambda x, w: indim.matmul(x, w, **to_f32), x, w),
        "JAX": by_jax(lambda x, w: jnp.matmul(x, w, **to_f32), x, w),
    }


if engines.ml_dtypes:
    jobs("bf16 512³ to f32", 1.2)(lambda: narrow([512, 512], [512, 512]))
    jobs("bf16 1000 of 32³ to f32")(lambda: narrow([1000, 32, 32], [1000, 32, 32]))


@jobs("attention, 12 heads of [512, 64]", 4.5)
def attention():
    def function(softmax):
        return lambda q, k, v: softmax(q @ k.transpose(0, 2, 1) * np.float32(0.125)) @ v

    def numpy_softmax(x):
        powers = np.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    q, k, v = (normal(12, 512, 64, seed=seed) for seed in range(3))
    return {
        "indim": by_indim(function(lambda x: indim.softmax(x, axis=-1)), q, k, v),
        "NumPy": by_numpy(function(numpy_softmax), q, k, v),
        "JAX": by_jax(function(jax and jax.nn.softmax), q, k, v),
        **attention_models(q, k, v),
    }


def attention_models(q, k, v):
    if not onnx:
        return {}
    node = onnx.helper.make_node
    nodes = [
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["p"]),
        node("Mul", ["p", "c"], ["s"]),
        node("Softmax", ["s"], ["a"], axis=-1),
        node("MatMul", ["a", "v"], ["result"]),
    ]
    made = engines.model_of(nodes, {"q": q, "k": k, "v": v}, {"c": np.float32(0.125)})
    return engines.run_model(made, q, k, v)


def numba_gauss(x, y):
    result = np.empty(len(x), np.float32)
    for i in prange(len(x)):
        total = np.float32(0)
        for j in range(len(y)):
            a, b, c = x[i, 0] - y[j, 0], x[i, 1] - y[j, 1], x[i, 2] - y[j, 2]
            total += np.exp(-(a * a + b * b + c * c))
        result[i] = total
    return result


def distances_by_product(x, y):
    """Squared distances as users of NumPy write them for speed; those of near points are inexact."""
    return (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * (x @ y.T)


def gauss(points):
    def function(x, y, module=np):
        return module.sum(module.exp(-module.sum((x[:, None] - y) ** 2, -1)), 1)

    x, y = normal(points, 3), normal(points, 3, seed=1)
    by_product = lambda x, y: np.exp(-distances_by_product(x, y)).sum(1)
    return {
        "indim": by_indim(function, x, y),
        # The matrix of many points takes gigabytes.
        "NumPy": by_numpy(by_product, x, y) if points <= 4096 else None,
        "JAX": by_jax(lambda x, y: function(x, y, jnp), x, y),
        "numba": by_numba(numba_gauss, x, y),
    }


jobs("sum of exp(-|x - y|²), 4096² of 3", 2.8)(lambda: gauss(4096))


@jobs("squared distances, 2048² of 64", 5)
def distances():
    def function(x, y, module=np):
        return module.sum((x[:, None] - y) ** 2, -1)

    x, y = normal(2048, 64), normal(2048, 64, seed=1)
    return {
        "indim": by_indim(function, x, y),
        "SciPy": by_scipy(lambda spatial, x, y: spatial.distance.cdist(x, y, "sqeuclidean"), x, y),
        "JAX": by_jax(lambda x, y: function(x, y, jnp), x, y),
    }


@jobs("squared distances by a product, 2048² of 64")
def product_distances():
    x, y = normal(2048, 64), normal(2048, 64, seed=1)
    makers = {"indim": by_indim, "NumPy": by_numpy, "JAX": by_jax}
    return {engine: make(distances_by_product, x, y) for engine, make in makers.items()}


def convolution(x, w, stride=1, pad=0, group=1):
    x, w = normal(*x), 0.1 * normal(*w, seed=1)
    settings = {"strides": [stride] * 2, "pads": [pad] * 4, "group": group}
    padding = [(pad, pad)] * 2
    of_jax = lambda x, w: jax.lax.conv_general_dilated(
        x, w, (stride, stride), padding, feature_group_count=group
    )
    return {
        "indim": loaded("Conv", [x], [w], **settings),
        "JAX": by_jax(of_jax, x, w),
        **by_models("Conv", [x], [w], **settings),
    }


jobs("convolution 3x3, 64 to 64, 56²", 1.3)(lambda: convolution([1, 64, 56, 56], [64, 64, 3, 3], pad=1))
jobs("convolution 7x7/2, 3 to 64, 224²", 2.0)(
    lambda: convolution([1, 3, 224, 224], [64, 3, 7, 7], stride=2, pad=3)
)
jobs("convolution 1x1, 256 to 64, 56²", 1.0)(lambda: convolution([1, 256, 56, 56], [64, 256, 1, 1]))
jobs("depthwise 3x3, 144, 56²", 0.4)(lambda: convolution([1, 144, 56, 56], [144, 1, 3, 3], pad=1, group=144))


@jobs("einsum bij,bjk,bk->bi, 8 of 64")
def einsum():
    x, y, z = normal(8, 64, 64), normal(8, 64, 64, seed=1), normal(8, 64, seed=2)
    equation = "bij,bjk,bk->bi"
    return {
        "indim": by_indim(lambda *arrays: np.einsum(equation, *arrays), x, y, z),
        "NumPy": by_numpy(lambda *arrays: np.einsum(equation, *arrays, optimize=True), x, y, z),
        "JAX": by_jax(lambda *arrays: jnp.einsum(equation, *arrays), x, y, z),
    }


@jobs("einsum qij,qjk->qik, 100³")
def einsum_of_matrices():
    x, y = normal(100, 100, 100), normal(100, 100, 100, seed=1)
    equation = "qij,qjk->qik"
    return {
        "indim": by_indim(lambda *arrays: np.einsum(equation, *arrays), x, y),
        "NumPy": by_numpy(np.matmul, x, y),
        "JAX": by_jax(lambda *arrays: jnp.einsum(equation, *arrays), x, y),
    }


# Last, because the engines take some seconds a call.
jobs("sum of exp(-|x - y|²), 32,768² of 3")(lambda: gauss(32_768))

if __name__ == "__main__":
    engines.main(jobs, __doc__)
