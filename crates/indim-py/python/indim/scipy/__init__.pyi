from . import ndimage as ndimage, signal as signal, special as special, stats as stats
