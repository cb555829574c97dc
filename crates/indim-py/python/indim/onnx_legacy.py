"""Every operation under ONNX's rule before opset 7, with ``broadcast = 1``."""

import indim as _package  # Waits for a thread that imports the package.

from ._operations import export

export(globals(), "onnx-legacy")
del export
