"""Every operation under the rule without broadcasts: equal shapes, equal element types."""

from ._operations import export

export(globals(), "none")
del export
