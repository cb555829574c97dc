"""Every operation under Paddle's rule as OpenVINO documents it: the other operands onto the first, from
``axis`` on."""

from ._operations import export

export(globals(), "pdpd")
del export
