"""Makes the `.npy` and `.npz` fixtures in the folder of this file: `pip install numpy==2.4.6`, then `python
make_npy.py`.

`npy_files.npz` holds files as NumPy writes them, one per member; `npy_files.txt` says of each what is in it:
name, element type, shape, and the elements in row-major order as little-endian bytes in hexadecimal.
`saved.npz` and `compressed.npz` are made by `np.savez` and `np.savez_compressed`.
"""

import io
import pathlib
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).parent
NAMES = {
    "b1": "bool",
    "i1": "i8",
    "i2": "i16",
    "i4": "i32",
    "i8": "i64",
    "u1": "u8",
    "u2": "u16",
    "u4": "u32",
    "u8": "u64",
    "f2": "f16",
    "f4": "f32",
    "f8": "f64",
    "c8": "c64",
    "c16": "c128",
}
SHAPES = [
    (),
    (0,),
    (3, 0, 2),
    (1,),
    (5,),
    (2, 1),
    (2, 3, 4),
    (1, 2, 3, 2),
    (2, 1, 2, 1, 3),
    (2, 1, 2, 1, 2, 2),
]
# Headers whose padding just fits, and headers whose padding just does not.
LONG_SHAPES = [(1,) * rank for rank in (6, 7, 8, 9, 10, 15, 16, 17, 32, 63, 64)] + [
    (1000, 0),
    (123456789012, 0),
]


def six_elements(code):
    """Elements that show a wrong type, a wrong byte order or a lost bit."""
    kind = np.dtype(code).kind
    if kind == "b":
        return [True, False, False, True, True, False]
    if kind in "iu":
        limits = np.iinfo(code)
        return [limits.min, limits.max, 1, 0, limits.max // 3, limits.min // 5 + 7]
    if kind == "f":
        limits = np.finfo(code)
        return [-0.0, np.inf, np.nan, limits.max, limits.smallest_subnormal, -1 / 3]
    part = np.finfo(code)
    return [
        complex(-0.0, np.inf),
        complex(np.nan, 1),
        complex(1, -2),
        part.max,
        complex(0, 1 / 3),
        complex(-1, -0.0),
    ]


def arrays():
    """Names, arrays as they are saved, and versions of the format."""
    for code in NAMES:
        for order in "<>" if np.dtype(code).itemsize > 1 else "|":
            array = np.array(six_elements(code), dtype=code).reshape(2, 3).astype(order + code)
            yield f"{code}_{'big' if order == '>' else 'little'}_c", array, None
            yield f"{code}_{'big' if order == '>' else 'little'}_f", np.asfortranarray(array), None
    for shape in SHAPES:
        text = "x".join(map(str, shape)) or "scalar"
        for code, name in (("<f8", "f8"), (">i2", "big_i2"), ("|u1", "u1")):
            array = (np.arange(np.prod(shape, dtype=int)) * 3 - 7).astype(code).reshape(shape)
            yield f"shape_{text}_{name}_c", array, None
            yield f"shape_{text}_{name}_f", np.asfortranarray(array).reshape(shape, order="A"), None
    for shape in LONG_SHAPES:
        yield f"long_{len(shape)}_{shape[0]}_f4", np.ones(shape, dtype="<f4"), None
    for version in ((1, 0), (2, 0), (3, 0)):
        yield f"version_{version[0]}", np.arange(6, dtype="<i4").reshape(2, 3), version


def line(name, array):
    little = array.astype(array.dtype.newbyteorder("<"))
    shape = ",".join(map(str, array.shape)) or "-"
    return f"{name} {NAMES[array.dtype.str[1:]]} {shape} {little.tobytes('C').hex() or '-'}\n"


def main():
    lines = []
    with zipfile.ZipFile(HERE / "npy_files.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array, version in arrays():
            file = io.BytesIO()
            np.lib.format.write_array(file, array, version=version)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), file.getvalue(), zipfile.ZIP_DEFLATED)
            lines.append(line(name, array))
    (HERE / "npy_files.txt").write_text("".join(lines))
    members = {
        "x": np.arange(6.0).reshape(2, 3),
        "steps": np.arange(70_000, dtype="i4"),
        "none": np.zeros((0, 3)),
    }
    members["steps"][:] = np.arange(70_000) % 250
    np.savez(HERE / "saved.npz", x=members["x"], none=members["none"])
    np.savez_compressed(HERE / "compressed.npz", **members)


main()
