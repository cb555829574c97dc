"""Every operation under Paddle's rule as OpenVINO documents it: the other operands onto the first, from
``axis`` on."""

import indim as _package  # Waits for a thread that imports the package.

from ._operations import export

export(globals(), "pdpd")
del export
