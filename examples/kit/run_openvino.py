"""Run a conformance kit of OpenVINO networks in OpenVINO and compare.

indim oracle --kit kit --rule pdpd --files openvino
python run_openvino.py kit --device CPU
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import openvino
from comparison import compare_kit


def run(device: str, folder: Path, inputs: list[np.ndarray]) -> np.ndarray:
    """The result of the network in a folder of the kit; the program's own error where it refuses."""
    # Without it the CPU computes floats with fewer bits where it can.
    settings = {"INFERENCE_PRECISION_HINT": "f32"} if device == "CPU" else {}
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(folder / "model.xml"), device, settings)
    return np.array(compiled(inputs)[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kit", type=Path)
    parser.add_argument("--device", default="CPU", help="CPU, or TEMPLATE where that plugin is installed")
    arguments = parser.parse_args()
    raise SystemExit(compare_kit(arguments.kit, partial(run, arguments.device)))
