"""Every operation under The rule without a broadcast: equal shapes, equal element types."""

from ._operations import export

export(globals(), "none")
del export
