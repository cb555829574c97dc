"""Pictures of bytes, normalised per channel in one pass, whichever axis the channels are on."""

import numpy as np

import indim


@indim.jit(static="channel")
def normalise(pictures, mean, deviation, channel):
    scaled = pictures.astype(np.float32) / 255
    centred = indim.sub(scaled, mean, broadcast_dimensions=(channel,))
    return indim.div(centred, deviation, broadcast_dimensions=(channel,))


random = np.random.default_rng(0)
mean = np.array([0.485, 0.456, 0.406], np.float32)
deviation = np.array([0.229, 0.224, 0.225], np.float32)
channels_last = random.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
channels_first = channels_last.transpose(0, 3, 1, 2)

last = normalise(channels_last, mean, deviation, channel=3)
first = normalise(channels_first, mean, deviation, channel=1)

assert np.array_equal(last.transpose(0, 3, 1, 2), first)
assert np.array_equal(last, (channels_last.astype(np.float32) / 255 - mean) / deviation)
print(f"{last.shape} and {first.shape}, the same numbers; the first pixel is {last[0, 0, 0]}")
