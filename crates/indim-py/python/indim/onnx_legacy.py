"""Every operation under ONNX's rule before opset 7, with ``broadcast = 1``."""

from ._operations import export

export(globals(), "onnx-legacy")
del export
