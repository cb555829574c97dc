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
