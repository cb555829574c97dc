"""Run a conformance kit of ONNX models in onnxruntime and compare.

indim oracle --kit kit --rule numpy --files onnx
python run_onnxruntime.py kit
"""

import argparse
from pathlib import Path

import numpy as np
import onnxruntime
from comparison import compare_kit


def run(folder: Path, inputs: list[np.ndarray]) -> np.ndarray:
    """The result of the model in a folder of the kit; the program's own error where it refuses."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    feeds = {f"x{index}": array for index, array in enumerate(inputs)}
    return session.run(None, feeds)[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kit", type=Path)
    raise SystemExit(compare_kit(parser.parse_args().kit, run))
