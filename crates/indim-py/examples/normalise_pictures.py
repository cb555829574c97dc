"""Pictures of bytes, normalised by the mean and the deviation of each channel, for any axis of channels."""

import numpy as np

import indim


@indim.jit(static="channel")
def normalise(pictures, channel):
    scaled = pictures.astype(np.float32) / 255
    others = tuple(axis for axis in range(1, 4) if axis != channel)
    mean, deviation = (function(scaled, axis=others, keepdims=True) for function in (np.mean, np.std))
    return (scaled - mean) / deviation


random = np.random.default_rng(0)
channels_last = random.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
channels_first = channels_last.transpose(0, 3, 1, 2)

last = normalise(channels_last, channel=3)
first = normalise(channels_first, channel=1)

assert np.allclose(last.transpose(0, 3, 1, 2), first, rtol=1e-6)
assert np.allclose(last.mean(axis=(1, 2)), 0, atol=1e-6) and np.allclose(last.std(axis=(1, 2)), 1, atol=1e-6)
print(f"{last.shape} and {first.shape}, the same numbers; the first pixel is {last[0, 0, 0]}")
