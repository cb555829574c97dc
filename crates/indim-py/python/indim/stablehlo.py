"""Every operation under StableHLO's rule: equal shapes."""

import indim as _package  # Waits for a thread that imports the package.

from ._operations import export

export(globals(), "stablehlo")
del export
