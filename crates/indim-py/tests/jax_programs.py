"""Short programs as users of JAX write them. Each takes the modules ``jax``, ``jax.numpy`` and ``jax.lax``,
or those of indim, and gives a tree of arrays; `record_jax.py` records JAX's results."""

import collections
import functools

import numpy as np


def data(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def mlp_training_step(jax, jnp, lax):
    params = [(data(4, 8, seed=1) * 0.3, np.zeros(8)), (data(8, 1, seed=2) * 0.3, np.zeros(1))]

    def predict(params, x):
        for w, b in params[:-1]:
            x = jnp.tanh(jnp.dot(x, w) + b)
        w, b = params[-1]
        return jnp.dot(x, w) + b

    def loss(params, x, y):
        return jnp.mean((predict(params, x)[:, 0] - y) ** 2)

    @jax.jit
    def update(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return value, [(w - 0.1 * dw, b - 0.1 * db) for (w, b), (dw, db) in zip(params, grads)]

    x, y = data(16, 4), data(16, seed=3)
    for _ in range(3):
        value, params = update(params, x, y)
    return value, params


def kmeans_step(jax, jnp, lax):
    @functools.partial(jax.jit, static_argnames="k")
    def step(points, centers, k):
        distances = jnp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=-1)
        labels = jnp.argmin(distances, axis=1)
        one_hot = jax.nn.one_hot(labels, k)
        counts = jnp.maximum(one_hot.sum(axis=0), 1)
        return one_hot.T @ points / counts[:, None], labels

    points, centers = data(40, 2), data(3, 2, seed=1)
    for _ in range(4):
        centers, labels = step(points, centers, k=3)
    return centers, labels


def softmax_regression(jax, jnp, lax):
    def loss(w, x, labels):
        log_probs = jax.nn.log_softmax(x @ w)
        return -jnp.mean(jnp.take_along_axis(log_probs, labels[:, None], axis=1))

    x, labels = data(20, 5), np.arange(20) % 3
    w = jnp.zeros((5, 3))
    for _ in range(5):
        w = w - 0.5 * jax.jit(jax.grad(loss))(w, x, labels)
    return w


def rnn_by_scan(jax, jnp, lax):
    def cell(params, h, x):
        h = jnp.tanh(x @ params["wx"] + h @ params["wh"] + params["b"])
        return h, h

    @jax.jit
    def run(params, xs):
        return lax.scan(functools.partial(cell, params), jnp.zeros(params["b"].shape), xs)

    params = {"wx": data(3, 6), "wh": data(6, 6, seed=1) * 0.3, "b": data(6, seed=2)}
    return run(params, data(10, 3, seed=3))


def ode_by_fori_loop(jax, jnp, lax):
    def f(y, t):
        return jnp.array([y[1], -jnp.sin(y[0])]) * jnp.cos(t)

    @jax.jit
    def integrate(y0, dt):
        def step(i, y):
            t = i * dt
            k1 = f(y, t)
            k2 = f(y + dt / 2 * k1, t + dt / 2)
            k3 = f(y + dt / 2 * k2, t + dt / 2)
            k4 = f(y + dt * k3, t + dt)
            return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        return lax.fori_loop(0, 100, step, y0)

    return integrate(jnp.array([1.0, 0.5]), 0.05)


def gaussian_process_kernel(jax, jnp, lax):
    def kernel(params, x, y):
        return params["scale"] * jnp.exp(-0.5 * jnp.sum((x - y) ** 2) / params["length"] ** 2)

    def gram(params, xs, ys):
        return jax.vmap(lambda x: jax.vmap(lambda y: kernel(params, x, y))(ys))(xs)

    params, xs = {"scale": np.float64(2.0), "length": np.float64(0.7)}, data(6, 2)
    gradient = jax.grad(lambda p: jnp.sum(gram(p, xs, xs)))(params)
    return jax.jit(gram)(params, xs, xs), gradient


def power_iteration(jax, jnp, lax):
    @jax.jit
    def dominant(a):
        def body(i, v):
            v = a @ v
            return v / jnp.linalg.norm(v)

        v = lax.fori_loop(0, 200, body, jnp.ones(a.shape[0]))
        return v @ a @ v, v

    a = data(5, 5)
    return dominant(a @ a.T)


def attention(jax, jnp, lax):
    @jax.jit
    def attend(q, k, v, mask=None):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
        if mask is not None:
            scores = jnp.where(mask, scores, -jnp.inf)
        weights = jax.nn.softmax(scores, axis=-1)
        return jnp.einsum("bhqk,bhkd->bhqd", weights, v)

    q, k, v = data(2, 2, 5, 4), data(2, 2, 5, 4, seed=1), data(2, 2, 5, 4, seed=2)
    return attend(q, k, v), attend(q, k, v, jnp.tril(jnp.ones((5, 5), dtype=bool)))


def batchnorm(jax, jnp, lax):
    State = collections.namedtuple("State", "mean var")

    @functools.partial(jax.jit, static_argnums=(3,))
    def normalise(state, params, x, training):
        if training:
            mean, var = jnp.mean(x, axis=0), jnp.var(x, axis=0)
            state = State(0.9 * state.mean + 0.1 * mean, 0.9 * state.var + 0.1 * var)
        else:
            mean, var = state
        return (x - mean) * lax.rsqrt(var + 1e-5) * params["gamma"] + params["beta"], state

    state, params = State(jnp.zeros(3), jnp.ones(3)), {"gamma": jnp.ones(3), "beta": jnp.zeros(3)}
    y, state = normalise(state, params, data(10, 3), True)
    z, _ = normalise(state, params, data(10, 3), False)
    return y, z, tuple(state)


def adam_on_a_dict(jax, jnp, lax):
    def loss(params):
        return jnp.sum((params["a"] - 1) ** 2) + jnp.sum(jnp.abs(params["b"]["c"]) ** 3)

    @jax.jit
    def step(params, state):
        count, m, v = state
        count = count + 1
        grads = jax.grad(loss)(params)
        m = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree_util.tree_map(lambda v, g: 0.999 * v + 0.001 * g**2, v, grads)

        def update(p, m, v):
            return p - 0.05 * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)

        return jax.tree_util.tree_map(update, params, m, v), (count, m, v)

    params = {"a": data(3), "b": {"c": data(2, 2, seed=1)}}
    state = (jnp.array(0.0), jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params))
    for _ in range(5):
        params, state = step(params, state)
    return params


def game_of_life(jax, jnp, lax):
    @jax.jit
    def step(board):
        shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        neighbours = sum(jnp.roll(board, shift, axis=(0, 1)) for shift in shifts)
        return ((neighbours == 3) | ((board == 1) & (neighbours == 2))).astype(jnp.int32)

    @jax.jit
    def run(board):
        board = board.at[1, 2].set(1).at[2, 3].set(1).at[3, 1:4].set(1)
        return lax.fori_loop(0, 8, lambda i, board: step(board), board)

    return run(jnp.zeros((8, 8), dtype=jnp.int32))


def logistic_map(jax, jnp, lax):
    def orbit(r, x0):
        return lax.scan(lambda x, _: (r * x * (1 - x), x), x0, None, length=20)[1]

    return jax.vmap(orbit, in_axes=(0, None))(jnp.linspace(2.5, 3.5, 5), np.float64(0.1))


def mandelbrot(jax, jnp, lax):
    @jax.jit
    def escape(c):
        def step(i, state):
            z, count = state
            z = jnp.where(jnp.abs(z) <= 2, z * z + c, z)
            return z, count + (jnp.abs(z) <= 2)

        return lax.fori_loop(0, 30, step, (jnp.zeros_like(c), jnp.zeros(c.shape, dtype=jnp.int32)))[1]

    x, y = jnp.meshgrid(jnp.linspace(-2, 1, 12), jnp.linspace(-1, 1, 8))
    return escape(x + 1j * y)


def pca_by_power_iteration(jax, jnp, lax):
    def component(x, _):
        def body(state):
            v, _, i = state
            new = x.T @ (x @ v)
            new = new / jnp.sqrt(jnp.sum(new**2))
            return new, jnp.max(jnp.abs(new - v)), i + 1

        start = jnp.ones(x.shape[1]) / jnp.sqrt(x.shape[1])
        v, _, _ = lax.while_loop(lambda s: (s[1] > 1e-12) & (s[2] < 500), body, (start, jnp.array(1.0), 0))
        return x - jnp.outer(x @ v, v), v

    @jax.jit
    def pca(x):
        return lax.scan(component, x - x.mean(axis=0), None, length=2)[1]

    return jnp.abs(pca(data(30, 4) * np.array([5.0, 3.0, 1.0, 0.5])))


def kalman_filter(jax, jnp, lax):
    f, h = jnp.array([[1.0, 0.1], [0.0, 1.0]]), jnp.array([[1.0, 0.0]])
    q, r = 0.01 * jnp.eye(2), jnp.array([[0.25]])

    @jax.jit
    def run(x, p, zs):
        def step(carry, z):
            x, p = carry
            x, p = f @ x, f @ p @ f.T + q
            gain = p @ h.T / (h @ p @ h.T + r)
            x = x + gain @ (z - h @ x)
            p = (jnp.eye(2) - gain @ h) @ p
            return (x, p), x

        return lax.scan(step, (x, p), zs)

    return run(jnp.zeros(2), jnp.eye(2), data(15, 1))


def pagerank(jax, jnp, lax):
    @jax.jit
    def rank(edges):
        n = edges.shape[0]
        degree = jnp.sum(edges, axis=1, keepdims=True)
        matrix = jnp.where(degree > 0, edges / jnp.where(degree > 0, degree, 1), 1 / n)

        def body(state):
            r, _ = state
            new = 0.85 * r @ matrix + 0.15 / n
            return new, jnp.abs(new - r).sum()

        return lax.while_loop(lambda s: s[1] > 1e-10, body, (jnp.full(n, 1 / n), jnp.array(1.0)))[0]

    return rank((data(6, 6) > 0.3).astype(float))


def heat_equation(jax, jnp, lax):
    @jax.jit
    def step(u, alpha):
        inner = u[1:-1, 1:-1]
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner
        return u.at[1:-1, 1:-1].add(alpha * laplacian)

    u = np.zeros((9, 9))
    u[4, 4] = 1.0
    for _ in range(10):
        u = step(u, 0.2)
    return u


def monte_carlo_pi(jax, jnp, lax):
    @functools.partial(jax.jit, static_argnums=1)
    def estimate(key, n):
        points = jax.random.uniform(key, (n, 2), dtype=jnp.float32)
        return 4 * jnp.mean(jnp.sum(points**2, axis=1) < 1)

    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    return [estimate(key, 1000) for key in keys]


def cross_entropy(jax, jnp, lax):
    def loss(logits, labels, smoothing=0.1):
        targets = jax.nn.one_hot(labels, logits.shape[-1]) * (1 - smoothing) + smoothing / logits.shape[-1]
        log_probs = jax.nn.log_softmax(logits, axis=-1)
        return -jnp.sum(targets * log_probs, axis=-1).mean(), jnp.argmax(logits, -1) == labels

    (value, correct), gradient = jax.value_and_grad(loss, has_aux=True)(data(8, 4), np.arange(8) % 4)
    return value, correct, gradient


def beam_scores(jax, jnp, lax):
    @functools.partial(jax.jit, static_argnames=("beams",))
    def step(scores, log_probs, beams=2):
        total = scores[:, None] + log_probs
        best, flat = lax.top_k(total.reshape(-1), beams)
        return best, flat // log_probs.shape[1], flat % log_probs.shape[1]

    return step(data(2), jax.nn.log_softmax(data(2, 7, seed=1), axis=-1))


def convolution_by_rolls(jax, jnp, lax):
    @jax.jit
    def blur(image, kernel):
        padded = jnp.pad(image, 1, mode="edge")
        rows, columns = image.shape
        parts = [
            kernel[i, j] * padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)
        ]
        return jnp.stack(parts).sum(axis=0)

    kernel = jnp.outer(jnp.array([1.0, 2.0, 1.0]), jnp.array([1.0, 2.0, 1.0])) / 16
    return blur(data(6, 7), kernel)


def newton_with_hessian(jax, jnp, lax):
    def loss(x):
        return jnp.sum(x**4) + jnp.sum(x[:-1] * x[1:]) + 0.5 * x @ x

    x = data(2)
    for _ in range(3):
        h, g = jax.hessian(loss)(x), jax.grad(loss)(x)
        (a, b), (c, d) = np.asarray(h)
        x = x - np.array([[d, -b], [-c, a]]) @ np.asarray(g) / (a * d - b * c)
    return x, jax.jacfwd(jax.grad(loss))(x), jax.jacrev(lambda x: {"y": x**2})(x)["y"]


def gradient_clipping_by_custom_vjp(jax, jnp, lax):
    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def clip_gradient(limit, x):
        return x

    clip_gradient.defvjp(
        lambda limit, x: (x, None), lambda limit, _, g: (jnp.clip(g, -limit, limit),)
    )
    return jax.jit(jax.grad(lambda x: jnp.sum(clip_gradient(0.5, x) ** 2)))(data(6))


def log1pexp_by_custom_jvp(jax, jnp, lax):
    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log1p(jnp.exp(x))

    @log1pexp.defjvp
    def log1pexp_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t

    return jax.vmap(jax.grad(log1pexp))(jnp.array([-5.0, 0.0, 5.0, 500.0]))


def embedding_and_segment_means(jax, jnp, lax):
    @functools.partial(jax.jit, static_argnames="segments")
    def pooled(table, tokens, ids, segments):
        rows = table[tokens]
        sums = jnp.zeros((segments, table.shape[1])).at[ids].add(rows)
        counts = jnp.zeros(segments).at[ids].add(1.0)
        return sums / counts[:, None]

    return pooled(data(10, 3), np.array([1, 5, 5, 9, 0]), np.array([0, 0, 1, 1, 1]), segments=2)


def quantile_loss_and_masks(jax, jnp, lax):
    def loss(pred, target, q, mask=None):
        error = target - pred
        values = jnp.maximum(q * error, (q - 1) * error)
        return values.mean() if mask is None else jnp.sum(jnp.where(mask, values, 0)) / jnp.sum(mask)

    pred, target = data(9), data(9, seed=1)
    by_q = jax.vmap(loss, in_axes=(None, None, 0))(pred, target, jnp.array([0.1, 0.5, 0.9]))
    return by_q, jax.grad(loss)(pred, target, 0.9, target > 0)


def recurrence_with_switch(jax, jnp, lax):
    branches = [lambda x: x + 1, lambda x: x * 2, lambda x: jnp.sqrt(x)]

    @jax.jit
    def run(x, program):
        return lax.scan(lambda x, op: (lax.switch(op, branches, x), x), x, program)

    last, path = run(jnp.array(3.0), np.array([0, 1, 1, 2, 0], dtype=np.int32))
    return last, path, lax.cond(last > 0, lambda x: -x, lambda x: x, last)


def positional_encoding(jax, jnp, lax):
    def encode(length, dim):
        position = jnp.arange(length)[:, None]
        div = jnp.exp(jnp.arange(0, dim, 2) * (-jnp.log(10000.0) / dim))
        table = jnp.zeros((length, dim))
        table = jax.jit(lambda t: t.at[:, 0::2].set(jnp.sin(position * div)))(table)
        return jax.jit(lambda t: t.at[:, 1::2].set(jnp.cos(position * div)))(table)

    return encode(7, 6)


def layer_norm_and_gelu(jax, jnp, lax):
    @jax.jit
    def block(x, gamma, beta):
        mean = jnp.mean(x, -1, keepdims=True)
        var = jnp.var(x, -1, keepdims=True)
        return jax.nn.gelu((x - mean) / jnp.sqrt(var + 1e-6) * gamma + beta)

    return block(data(4, 6), jnp.ones(6), jnp.zeros(6)), jax.nn.relu(data(3)), jax.nn.silu(data(3))


def stop_gradient_target(jax, jnp, lax):
    def loss(params, x):
        target = lax.stop_gradient(jnp.tanh(x @ params))
        return jnp.mean((x @ params - target) ** 2)

    return jax.grad(loss)(data(3), data(5, 3, seed=1))


def batched_gather_and_updates(jax, jnp, lax):
    x = data(4, 3)

    @jax.jit
    def f(x, i):
        window = lax.dynamic_slice_in_dim(x, i, 2)
        row = lax.dynamic_index_in_dim(x, i, keepdims=False)
        x = lax.dynamic_update_slice_in_dim(x, window * 2, 0, axis=0)
        x = lax.dynamic_update_index_in_dim(x, row, 3, axis=0)
        return x.at[jnp.arange(3), jnp.arange(3)].set(0.0).at[-1].mul(2.0), window, row

    return f(x, 1), jax.ops.segment_sum(x, np.array([0, 1, 0, 1]), num_segments=2)


def counts_and_positions(jax, jnp, lax):
    @jax.jit
    def f(i):
        positions = jnp.nonzero(i > 0, size=4, fill_value=-1)[0]
        return jnp.bincount(i, length=4), positions, jnp.unique(i, size=3)

    return f(np.array([0, 1, 1, 3]))


def hessian_vector_products(jax, jnp, lax):
    def f(x):
        return jnp.sum(x**3) + jnp.prod(x)

    x, v = data(4), data(4, seed=1)
    forward = jax.jvp(jax.grad(f), (x,), (v,))[1]
    backward = jax.jit(jax.grad(lambda x: jnp.vdot(jax.grad(f)(x), v)))(x)
    return forward, backward


def per_example_gradients(jax, jnp, lax):
    def loss(params, x, y):
        return (params["w"] @ x + params["b"] - y) ** 2

    params = {"w": data(3), "b": np.float64(0.5)}
    gradients = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, data(5, 3, seed=1), data(5, seed=2))
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree_util.tree_leaves(gradients)))
    return jax.tree.map(lambda leaf: leaf / norm, gradients)


def keyword_arguments(jax, jnp, lax):
    @jax.jit
    def f(x, **options):
        y = x * options["scale"]
        return y if options.get("shift") is None else y + options["shift"]

    return f(data(3), scale=2.0), f(data(3), scale=data(3, seed=1), shift=1.0)


def functions_of_lax(jax, jnp, lax):
    x, y, k = data(4, 5), data(5, 3, seed=1), np.array([2, 0, 1, 5])

    def products(x, y):
        batches = jnp.stack([x, x + 1]), jnp.stack([y, y - 1])
        numbers = (([2], [1]), ([0], [0]))
        return lax.dot(x, y), lax.dot(x[0], y), lax.dot(x[0], x[1]), lax.batch_matmul(*batches), \
            lax.dot_general(*batches, numbers), lax.dot_general(x, y, (([1], [0]), ([], []))), \
            lax.dot_general(x, x, (([], []), ([0], [0])))

    def scans(x):
        along = [scan(x, axis, reverse) for scan in (lax.cumsum, lax.cumprod) for axis in (0, 1)
                 for reverse in (False, True)]
        return along, lax.cummax(x), lax.cummin(x, axis=1), lax.cumlogsumexp(x), lax.cumsum(x)

    def reductions(x):
        mask = x > 0
        return lax.reduce_sum(x, (0,)), lax.reduce_prod(x, (0, 1)), lax.reduce_max(x, [1]), \
            lax.reduce_min(x, (0,)), lax.reduce_and(mask, (1,)), lax.reduce_or(mask, (0,)), \
            lax.argmax(x, 1, jnp.int32), lax.argmin(x, 0, index_dtype=jnp.int32)

    def shapes(x):
        config = ((1, 2, 1), (-1, 0, 2))
        return lax.slice(x, (1, 0), (4, 5)), lax.slice(x, (0, 1), (4, 4), (2, 1)), \
            lax.slice_in_dim(x, 1, 3), lax.slice_in_dim(x, 0, 5, 2, axis=1), lax.index_in_dim(x, 2), \
            lax.index_in_dim(x, -1, 1, keepdims=False), lax.split(x, (1, 3)), lax.split(x, [2, 3], axis=1), \
            lax.squeeze(x[None], (0,)), lax.rev(x, (0, 1)), lax.collapse(x[None], 0, 2), lax.collapse(x, 0), \
            lax.broadcast(x, (2, 1)), lax.pad(x, 7.0, config), lax.pad(x, x[0, 0], ((0, -1, 0), (3, 0, 0))), \
            lax.full_like(x, 2), lax.full_like(x, 1.5, jnp.float32, (2,)), lax.integer_pow(x, 3), \
            lax.broadcasted_iota(jnp.int32, (2, 3), 1), lax.broadcasted_iota(jnp.float32, (2, 3), 0)

    def orders(x, k):
        return lax.sort(x), lax.sort(x, dimension=0), lax.sort_key_val(k, x[:, 0]), \
            lax.sort_key_val(x, x * 2, 0), lax.select_n(x > 0, x, -x), lax.select_n(k % 3, k, k * 10, k * 100)

    found = [products(x, y), scans(x), reductions(x), shapes(x), orders(x, k)]
    compiled = [jax.jit(products)(x, y), jax.jit(scans)(x), jax.jit(reductions)(x), jax.jit(shapes)(x),
                jax.jit(orders)(x, k)]
    return found, compiled


def collectives(jax, jnp, lax):
    x = data(4, 5, seed=11)

    def share(x):
        total = lax.psum({"square": x * x, "one": 1}, "i")
        spread = lax.pmax(x, "i") - lax.pmin(x, "i")
        return x / jnp.sqrt(total["square"]) + spread * lax.axis_index("i") - total["one"] * lax.pmean(x, "i")

    def crossed(x):
        both = lax.psum(x, ("i", "j")) - lax.psum(x, "j") * lax.axis_index("i")
        return both + lax.all_gather(x, "i").sum() + lax.all_gather(x, "j")[2]

    def gathered(x):
        return lax.all_gather(x, "i", axis=1), lax.all_gather(x, "i", axis=-1, tiled=True), \
            lax.ppermute(x, "i", [(0, 1), (1, 3), (2, 0), (3, 2)]), lax.all_to_all(x, "i", 1, 0)

    def error(x):
        each = jax.vmap(lambda x: x / lax.psum(x * x, "i") + lax.pmean(x, "i"), axis_name="i")
        return jnp.sum(each(x) ** 2)

    def name_both(function, **axes):
        return jax.vmap(jax.vmap(function, axis_name="j"), axis_name="i", **axes)

    return jax.vmap(share, axis_name="i")(x), jax.jit(jax.vmap(share, 1, 1, axis_name="i"))(x), \
        name_both(crossed)(x), name_both(crossed, in_axes=1)(x), jax.grad(error)(x), \
        jax.vmap(gathered, axis_name="i")(data(4, 3, 4, seed=12)), \
        jax.vmap(lambda: lax.axis_index("i") * 2, axis_name="i", axis_size=3)()


def sorts_by_keys(jax, jnp, lax):
    keys = np.array([3, 1, 2, 1, 3]), np.array([1.0, 2.0, 3.0, 0.5, 0.5])
    rows = data(3, 4, seed=5)

    def orders(a, b, rows):
        c = jnp.arange(5)
        return [lax.sort((a, b, c), num_keys=count) for count in (1, 2, 3)], lax.sort((rows, rows * 2), 0)

    return orders(*keys, rows), jax.jit(orders)(*keys, rows)


def dot_product_attention(jax, jnp, lax):
    def each(query, key, value, bias, mask):
        attend = jax.nn.dot_product_attention
        lengths = jnp.array([1, 3], jnp.int32)
        return attend(query, key, value), attend(query, key, value, bias), \
            attend(query, key, value, None, mask), \
            attend(query, key, value, is_causal=True, scale=0.5), attend(query[0], key[0], value[0]), \
            attend(query, key, value, local_window_size=(1, 2)), \
            attend(query, key, value, query_seq_lengths=lengths, key_value_seq_lengths=lengths), \
            attend(query, key, value, return_residual=True)

    arrays = [data(2, 5, 4, 8, seed=1), data(2, 6, 2, 8, seed=2), data(2, 6, 2, 8, seed=3)]
    arrays = [*map(np.float32, arrays), np.float32(data(1, 4, 5, 6, seed=4)), data(2, 1, 5, 6, seed=5) > -1]
    gradient = jax.grad(lambda q: jnp.sum(jax.nn.dot_product_attention(q, *arrays[1:3], is_causal=True) ** 2))
    found = each(*arrays), jax.jit(each)(*arrays), gradient(arrays[0])
    # Sums in 32 bits differ in their last digits, so the tolerance is relative to 10.
    return jax.tree.map(lambda x: x.astype(jnp.float64) + 10, found)


def paths_of_trees(jax, jnp, lax):
    tree = {"a": [1.0, (2.0,)], "b": 3.0}
    texts = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(tree)]
    simple = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in
              jax.tree.flatten_with_path(tree)[0]]
    assert texts == ["['a'][0]", "['a'][1][0]", "['b']"] and simple == ["a/0", "a/1/0", "b"]
    scaled = jax.tree.map_with_path(lambda path, x, y: x * len(path) + y, tree, tree)
    bound = jax.tree_util.Partial(lambda x, y: x * y, jnp.arange(3.0))
    return scaled, jax.tree.broadcast({"a": 0.0, "b": 1.0}, tree), jax.jit(lambda f, x: f(x))(bound, 2.0), \
        jax.tree.reduce_associative(lambda x, y: x + y, tree)


def activations_of_integers(jax, jnp, lax):
    n = jnp.arange(1, 4)
    return [jax.nn.relu(n), jax.nn.relu6(n), jax.nn.sparse_plus(n / 2), jax.nn.sparse_sigmoid(n / 2), \
            jax.nn.log1mexp(n / 3), *(function(n) for function in (
                jax.nn.elu, jax.nn.gelu, jax.nn.log_sigmoid, jax.nn.mish, jax.nn.selu, jax.nn.softmax,
                jax.nn.softplus, jax.nn.log_softmax, jax.nn.logsumexp, jax.nn.soft_sign, jax.nn.tanh))]


PROGRAMS = [
    value for value in list(globals().values()) if getattr(value, "__code__", None) and value is not data
]


def leaves(tree):
    """The leaves of a tree, with the keys of dicts in JAX's order."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]
