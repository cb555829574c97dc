"""Writes `operators.txt`: the operators of ONNX's own domain, each with the opsets that changed it. It takes
the package `onnx`."""

from pathlib import Path

import onnx
from onnx import defs


def main():
    changed = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            changed.setdefault(schema.name, {})[schema.since_version] = schema.deprecated
    for versions in changed.values():
        # An operator without a successor of the same name ends with a version that only deprecates it.
        if versions[max(versions)]:
            del versions[max(versions)]
    lines = [f"# ONNX {onnx.__version__}, opset {defs.onnx_opset_version()}"]
    lines += [" ".join([name, *map(str, sorted(changed[name]))]) for name in sorted(changed)]
    Path(__file__).with_name("operators.txt").write_text("\n".join(lines) + "\n")


main()
