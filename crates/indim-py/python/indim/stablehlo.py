"""Every operation under StableHLO's rule: equal shapes."""

from ._operations import export

export(globals(), "stablehlo")
del export
