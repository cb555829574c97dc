"""Compiled functions that other processes can import; not a test."""

import numpy as np

import indim


@indim.jit
def standardise(x, mean, deviation):
    return (x - mean) / deviation


@indim.jit(static="power")
def scaled(x, power=2):
    return x**power + 1


@indim.jit
def outer_sum(x, y):
    return np.sqrt(x) + y


MONTHS = np.arange(12)


@indim.jit
def anomaly(x, month):
    """``x`` minus its monthly mean, divided by its monthly deviation; months along the first axis."""
    of_each = np.where((month == MONTHS[:, None])[:, :, None, None], x, np.nan)
    mean, deviation = np.nanmean(of_each, axis=1), np.nanstd(of_each, axis=1)
    return (x - np.take(mean, month, axis=0)) / np.take(deviation, month, axis=0)
