//! Errors of array files.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    IO = "io" {
        title: "The system cannot read or write a file",
        explanation: "The message is the system's: for example, a file does not exist or is not readable, \
            or the disk is full.",
        example: Command(&["indim eval 'x' x=missing.npy"]),
        raised_by: ["indim", "indim-cli", "indim-stores"],
    }
    NOT_A_FILE = "not-a-file" {
        title: "A path names a folder, a device or a pipe where a regular file is needed",
        explanation: "Give a regular file. Write `-` for standard input.",
        example: Command(&[
            "mkdir x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim-stores"],
    }
    OWNER_NOT_KEPT = "owner-not-kept" {
        title: "A file of another owner cannot be replaced without changing its owner",
        explanation: "A result replaces a file atomically and keeps its owner, which only a privileged \
            user can set. Write to another path.",
        example: Words("A result replaces a file of another user, in a folder that both users may write to."),
        raised_by: ["indim-stores"],
    }
    NOT_NPY = "not-npy" {
        title: "A file does not begin like a `.npy` file",
        explanation: "The file has another format, or is empty. indim reads a file in the format that the \
            ending of its name states.",
        example: Command(&[
            "printf 'no array' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim-stores"],
    }
    UNKNOWN_VERSION = "unknown-version" {
        title: "A `.npy` file has an unknown version",
        explanation: "indim reads versions 1 to 3. Save the array again.",
        example: Command(&[
            "printf '\\223NUMPY\\011\\000\\166\\000' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim-stores"],
    }
    BAD_HEADER = "bad-header" {
        title: "The header of an array file is damaged",
        explanation: "The header does not follow its format, or is longer than its limit. Save the array \
            again.",
        example: Command(&[
            "printf '\\223NUMPY\\001\\000\\002\\000{}' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim-stores"],
    }
    ELEMENT_TYPE_NOT_IN_FORMAT = "element-type-not-in-format" {
        title: "A format does not have this element type",
        explanation: "Write another format, or convert the array.",
        example: Command(&["indim eval 'x' 'x=c128([1])' -o x.safetensors"]),
        raised_by: ["indim-stores"],
    }
    WRONG_LENGTH = "wrong-length" {
        title: "The length of a file does not match its shape",
        explanation: "The file is truncated, or was overwritten. Copy or save it again.",
        example: Command(&[
            "indim eval 'x' 'x=[1.0, 2.0]' --output x.npy",
            "head -c 130 x.npy > cut.npy",
            "indim eval 'x' x=cut.npy",
        ]),
        raised_by: ["indim-stores"],
    }
    BAD_ARCHIVE = "bad-archive" {
        title: "A `.npz` archive is damaged",
        explanation: "The archive cannot be read as a ZIP file. Copy or save it again.",
        example: Command(&[
            "printf 'no archive' > x.npz",
            "indim eval 'x' x=x.npz:a",
        ]),
        raised_by: ["indim-stores"],
    }
    MEMBER_NOT_NAMED = "member-not-named" {
        title: "A file has several arrays, and none is selected",
        explanation: "Name an array after the path, as in `file.npz:name`.",
        example: Command(&[
            "indim eval 'a = x; b = x; a, b' x=1.0 --output x.npz",
            "indim eval 'x' x=x.npz",
        ]),
        raised_by: ["indim-stores"],
    }
    NO_MEMBER = "no-member" {
        title: "A file has no array of this name",
        explanation: "The message lists the names.",
        example: Command(&[
            "indim eval 'a = x; b = x; a, b' x=1.0 --output x.npz",
            "indim eval 'x' x=x.npz:c",
        ]),
        raised_by: ["indim-stores"],
    }
    OUTSIDE_OF_ARRAY = "outside-of-array" {
        title: "A region exceeds its array",
        explanation: "Offset and size of a region must be within the shape.",
        example: Words("A store reads rows 0 to 9 of an array with 3 rows."),
        raised_by: ["indim-stores"],
    }
    READ_ONCE = "read-once" {
        title: "A pipe is asked for elements that it has passed",
        explanation: "A pipe is read once, in the order of its elements. Store the array in a file to \
                      read it in any order.",
        example: Words("A program of one's own reads rows 4 to 7 of a pipe, and then rows 0 to 3."),
        raised_by: ["indim-stores"],
    }
    WRONG_PIECE = "wrong-piece" {
        title: "The type or shape of a written piece differs from that of its region",
        explanation: "Write pieces with the element type of the result and the shape of the region.",
        example: Words("A piece of type `f64` is written to a result of type `f32`."),
        raised_by: ["indim-stores"],
    }
    INCOMPLETE = "incomplete" {
        title: "A result is finished before all elements are written",
        explanation: "Write every region once before you finish the result.",
        example: Words("A result of 10 rows is finished after 9 rows are written."),
        raised_by: ["indim-stores"],
    }
    FILE_CHANGED = "file-changed" {
        title: "A file changed while it was read",
        explanation: "The result could mix old and new elements. Wait for the writer to finish, or read a \
            copy.",
        example: Words("Another process writes to an input while indim reads it piece by piece."),
        raised_by: ["indim-cli", "indim-stores"],
    }
    NOT_ZARR = "not-zarr" {
        title: "A folder is no Zarr array",
        explanation: "The folder has neither `zarr.json` nor `.zarray`. Give the folder of an array.",
        example: Command(&[
            "mkdir x.zarr",
            "indim eval 'x' x=x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    BAD_ZARR = "bad-zarr" {
        title: "A Zarr array is damaged, or uses an unsupported extension",
        explanation: "The message names the part of the metadata, or the chunk.",
        example: Command(&[
            "mkdir x.zarr",
            "printf '{' > x.zarr/zarr.json",
            "indim eval 'x' x=x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    ZARR_GROUP = "zarr-group" {
        title: "A folder is a Zarr group, not an array",
        explanation: "The message lists the arrays in the group. Give the path of one.",
        example: Command(&[
            "mkdir g.zarr",
            "printf '{\"zarr_format\": 3, \"node_type\": \"group\"}' > g.zarr/zarr.json",
            "indim eval 'x' x=g.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    ZARR_IN_PLACE = "zarr-in-place" {
        title: "A Zarr array cannot be written to this path",
        explanation: "The path is a file, a Zarr group or a broken link, or its parent group would not \
            list the array. Write to another path, or remove the existing file or group.",
        example: Command(&[
            "touch x.zarr",
            "indim eval 'x' 'x=[1.0, 2.0]' --output x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    WRONG_OPTIONS = "wrong-options" {
        title: "Options of an output do not fit its array",
        explanation: "Give one chunk size and one axis name for each axis of the array.",
        example: Words("A Zarr array with two axes is created in Rust with one chunk size."),
        raised_by: ["indim-stores"],
    }
    BAD_PNG = "bad-png" {
        title: "A PNG file is damaged, or of an unsupported kind",
        explanation: "Copy the file, or save it again.",
        example: Command(&[
            "printf 'not an image' > x.png",
            "indim eval 'x' x=x.png",
        ]),
        raised_by: ["indim-stores"],
    }
    BAD_TIFF = "bad-tiff" {
        title: "A TIFF file is damaged, or of an unsupported kind",
        explanation: "The message names the part. Save the file again without extensions.",
        example: Command(&[
            "printf 'not an image' > x.tif",
            "indim eval 'x' x=x.tif",
        ]),
        raised_by: ["indim-stores"],
    }
    NO_PAGE = "no-page" {
        title: "A file has no page of this number",
        explanation: "Pages of a TIFF file are counted from 0. The message states their number.",
        example: Command(&[
            "indim eval 'x' 'x=u8([[1, 2]])' --output x.tif",
            "indim eval 'x' x=x.tif:7",
        ]),
        raised_by: ["indim-stores"],
    }
    SEVERAL_PAGES = "several-pages" {
        title: "A TIFF file has several pages, and none is selected",
        explanation: "Give a page number after the path, as in `file.tif:0`.",
        example: Words("A TIFF file of three pages is read without a page number: `indim eval 'x' \
            x=pages.tif`."),
        raised_by: ["indim-stores"],
    }
    NOT_AN_IMAGE = "not-an-image" {
        title: "An array does not have the shape or type of an image",
        explanation: "PNG and TIFF take `[height, width]` or `[height, width, channels]` with 1 to 4 \
            channels, in the element types that the message lists.",
        example: Command(&["indim eval 'x' 'x=[1.0, 2.0]' --output x.png"]),
        raised_by: ["indim-stores"],
    }
    WRONG_ORDER = "wrong-order" {
        title: "Rows of an image are written out of order",
        explanation: "Write images from the first row to the last.",
        example: Words("Row 5 of a PNG file is written before row 4."),
        raised_by: ["indim-stores"],
    }
    BAD_CSV = "bad-csv" {
        title: "A CSV table is damaged",
        explanation: "All rows must have the same number of fields, quotes must be closed, and the text \
            must be UTF-8. The message states the line.",
        example: Command(&[
            "printf '' > x.csv",
            "indim eval 'x' x=x.csv:a",
        ]),
        raised_by: ["indim-stores"],
    }
    NO_COLUMN = "no-column" {
        title: "A CSV table has no such column, or none is selected",
        explanation: "Name a column after the path, as in `table.csv:column`. The message lists the columns.",
        example: Command(&[
            "printf 'a,b\\n1,2\\n' > x.csv",
            "indim eval 'x' x=x.csv:c",
        ]),
        raised_by: ["indim-stores"],
    }
    NOT_A_NUMBER = "not-a-number" {
        title: "A field of a CSV column is not a number",
        explanation: "All fields of a column must be numbers, or all truth values. The message states the \
            line.",
        example: Command(&[
            "printf 'a\\n1\\ntwo\\n' > x.csv",
            "indim eval 'x' x=x.csv:a",
        ]),
        raised_by: ["indim-stores"],
    }
    UNKNOWN_FORMAT = "unknown-format" {
        title: "The format of a file is unknown",
        explanation: "indim identifies a format by the ending of the name or by the beginning of the file. \
            The message or `--help` lists the formats.",
        example: Command(&["indim eval 'x' x=1.0 --output x.jpeg"]),
        raised_by: ["indim-cli", "indim-model", "indim-stores"],
    }
}
