"""Every operation under XLA's rule: ``broadcast_dimensions`` on operations of two operands."""

import indim as _package  # Waits for a thread that imports the package.

from ._operations import export

export(globals(), "xla")
del export
