"""Every operation under XLA's rule: ``broadcast_dimensions`` on operations of two operands."""

from ._operations import export

export(globals(), "xla")
del export
