"""Every operation under NumPy's rule: right-aligned axes, sizes of 1 expand, element types are promoted."""

from ._operations import export

export(globals(), "numpy")
del export
