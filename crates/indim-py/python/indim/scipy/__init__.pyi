from . import signal as signal, special as special, stats as stats
