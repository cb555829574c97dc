"""``dot_product_attention`` of ``jax.nn``: a composition of products and a softmax."""

from __future__ import annotations

import numpy as np

from . import none
from ._functions import asarray
from ._products import einsum


def dot_product_attention(
    query,
    key,
    value,
    bias=None,
    mask=None,
    *,
    scale=None,
    is_causal=False,
    query_seq_lengths=None,
    key_value_seq_lengths=None,
    local_window_size=None,
    implementation=None,
    return_residual=False,
):
    """``softmax(scale * query @ key.T + bias) @ value`` for each head, as ``jax.nn`` computes it.

    The axes of ``query`` are batch (optional), position, head and feature; ``key`` and ``value`` have the
    batch, their own positions, and as many heads, or a divisor of this number. ``bias`` and ``mask``
    broadcast to batch, head, position of the query, position of the key. The softmax has at least 32 bits.
    """
    if implementation == "cudnn":
        raise ValueError("implementation='cudnn' needs a GPU: leave it out, or write 'xla'")
    if implementation not in (None, "xla"):
        raise ValueError(f"Unsupported implementation option: {implementation}")
    query, key, value = (asarray(array) for array in (query, key, value))
    shape = tuple(query.shape)
    query, key, value = (_with_batch(name, array) for name, array in zip(_NAMES, (query, key, value)))
    _check(query, key, value)
    batches, queries, heads, features = query.shape
    groups = key.shape[2]
    # Heads of the query that share a head of the key are an axis of their own.
    query = query.reshape(batches, queries, groups, heads // groups, features)
    logits = _product("btkgh,bskh->bkgts", query, key, np.promote_types(query.dtype, np.float32))
    logits = logits * np.asarray(features**-0.5 if scale is None else scale, logits.dtype)
    if bias is not None:
        logits = (logits + _grouped("bias", bias, groups, heads)).astype(logits.dtype)
    lengths = query_seq_lengths, key_value_seq_lengths
    chosen = _chosen(queries, key.shape[1], is_causal, lengths, local_window_size)
    if mask is not None:
        mask = asarray(mask)
        if mask.dtype != np.bool_:
            raise ValueError(f"`mask` has truth values, not {mask.dtype}: an additive mask is a `bias`")
        chosen.append(_grouped("mask", mask, groups, heads))
    for choice in chosen:
        masked = np.asarray(_MASKED_FRACTION * float(np.finfo(np.float32).max), logits.dtype)
        logits = np.where(choice, logits, masked)
    weights = none.softmax(logits, -1).astype(key.dtype)
    found = _product("bkgts,bskh->btkgh", weights, value, None).astype(key.dtype)
    found = found.reshape(batches, queries, heads, features)
    if query_seq_lengths is not None:
        is_inside = np.arange(queries)[None, :] < asarray(query_seq_lengths)[:, None]
        found = found * is_inside[:, :, None, None].astype(found.dtype)
    found = found.reshape(shape)
    if not return_residual:
        return found
    from .lax import stop_gradient

    residual = none.logsumexp(logits, -1).astype(key.dtype).reshape(batches, heads, queries)
    return found, stop_gradient(np.swapaxes(residual, 1, 2).reshape(shape[:-1]))


_NAMES = ("query", "key", "value")

#: A masked logit is this fraction of the largest float32, as in JAX.
_MASKED_FRACTION = -0.7


def _product(text, x, y, dtype):
    return einsum(text, x, y, preferred_element_type=dtype)


def _with_batch(name, array):
    """An array with the axis of the batch."""
    if array.ndim not in (3, 4):
        raise ValueError(f"`{name}` has the axes (batch,) position, head and feature, not {array.ndim}")
    return array[None] if array.ndim == 3 else array


def _check(query, key, value):
    """Refuses arrays whose axes do not belong together."""
    if tuple(value.shape) != tuple(key.shape):
        raise ValueError(f"`value` has the shape {tuple(value.shape)}, and `key` {tuple(key.shape)}")
    if (query.shape[0], query.shape[3]) != (key.shape[0], key.shape[3]):
        raise ValueError(
            f"`query` has {query.shape[0]} batches of {query.shape[3]} features, and `key` {key.shape[0]} of "
            f"{key.shape[3]}"
        )
    if not query.dtype == key.dtype == value.dtype:
        raise ValueError(f"one element type, not {query.dtype}, {key.dtype} and {value.dtype}")
    if key.shape[2] == 0 or query.shape[2] % key.shape[2]:
        raise ValueError(
            f"{query.shape[2]} heads of `query` are no multiple of the {key.shape[2]} heads of `key`"
        )


def _grouped(name, array, groups, heads):
    """A bias or mask with its axis of heads split as that of the query is."""
    array = asarray(array)
    if array.ndim > 4:
        raise ValueError(f"`{name}` has up to four axes, not {array.ndim}")
    array = array.reshape((1,) * (4 - array.ndim) + tuple(array.shape))
    batches, own, *positions = array.shape
    if own not in (1, heads):
        raise ValueError(f"`{name}` has {own} heads, and `query` {heads}")
    return array.reshape(batches, *((1, 1) if own == 1 else (groups, heads // groups)), *positions)


def _chosen(queries, keys, is_causal, lengths, window):
    """The masks of an order, of lengths and of a window. A query sees a key if all masks are true there."""
    row, column = np.arange(queries)[:, None], np.arange(keys)
    masks = []
    if is_causal:
        masks.append(row >= column)
    if window is not None:
        left, right = (window, window) if isinstance(window, int) else window
        masks.append((row <= column + left) & (row >= column - right))
    for length, positions in zip(lengths, (row, column)):
        if length is not None:
            masks.append(positions < asarray(length)[:, None, None, None, None])
    return masks
