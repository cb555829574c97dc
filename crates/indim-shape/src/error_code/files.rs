//! Files of arrays.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    IO = "io" {
        title: "The system refuses to read or to write",
        explanation: "The message is the system's: a file does not exist, is not readable, or the disk \
            is full.",
        example: Command(&["indim eval 'x' x=missing.npy"]),
        raised_by: ["indim", "indim-cli", "indim-stores"],
    }
    NOT_A_FILE = "not-a-file" {
        title: "A path names a folder, a device or a pipe where a regular file is needed",
        explanation: "Give a regular file. Standard input is written `-`.",
        example: Command(&[
            "mkdir x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim", "indim-stores"],
    }
    OWNER_NOT_KEPT = "owner-not-kept" {
        title: "A file of another owner cannot be replaced without changing its owner",
        explanation: "Results replace a file in one step and keep its owner, which only a privileged \
            user can set. Write to another path.",
        example: Words("A result replaces a file that another user owns, in a folder that both may write \
            to."),
        raised_by: ["indim"],
    }
    NOT_NPY = "not-npy" {
        title: "A file does not begin as `.npy` files do",
        explanation: "The file is of another format, or empty. The ending of its name says how it is read.",
        example: Command(&[
            "printf 'no array' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim"],
    }
    UNKNOWN_VERSION = "unknown-version" {
        title: "A `.npy` file has a version that is not known",
        explanation: "Versions 1 to 3 are read. Save the array anew.",
        example: Command(&[
            "printf '\\223NUMPY\\011\\000\\166\\000' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim"],
    }
    BAD_HEADER = "bad-header" {
        title: "The header of a file of arrays is damaged",
        explanation: "The header does not follow its format, or is longer than any writer makes it. Save \
            the array anew.",
        example: Command(&[
            "printf '\\223NUMPY\\001\\000\\002\\000{}' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim"],
    }
    ELEMENT_TYPE_NOT_IN_FORMAT = "element-type-not-in-format" {
        title: "A format has no elements of this type",
        explanation: "Write another format, or convert the array.",
        example: Words("`c128` is written into a file of safetensors, in Rust."),
        raised_by: ["indim"],
    }
    WRONG_LENGTH = "wrong-length" {
        title: "A file has another number of bytes than its shape asks for",
        explanation: "The file is cut, or was written over. Copy or save it anew.",
        example: Command(&[
            "indim eval 'x' 'x=[1.0, 2.0]' --output x.npy",
            "head -c 130 x.npy > cut.npy",
            "indim eval 'x' x=cut.npy",
        ]),
        raised_by: ["indim"],
    }
    BAD_ARCHIVE = "bad-archive" {
        title: "A `.npz` archive is damaged",
        explanation: "The archive cannot be read as a ZIP file. Copy or save it anew.",
        example: Command(&[
            "printf 'no archive' > x.npz",
            "indim eval 'x' x=x.npz:a",
        ]),
        raised_by: ["indim"],
    }
    MEMBER_NOT_NAMED = "member-not-named" {
        title: "A file holds several arrays, and none is named",
        explanation: "Name one behind the path, as in `file.npz:name`.",
        example: Command(&[
            "indim eval 'a = x; b = x; a, b' x=1.0 --output x.npz",
            "indim eval 'x' x=x.npz",
        ]),
        raised_by: ["indim"],
    }
    NO_MEMBER = "no-member" {
        title: "A file holds no array of this name",
        explanation: "The message lists the names.",
        example: Command(&[
            "indim eval 'a = x; b = x; a, b' x=1.0 --output x.npz",
            "indim eval 'x' x=x.npz:c",
        ]),
        raised_by: ["indim"],
    }
    OUTSIDE_OF_ARRAY = "outside-of-array" {
        title: "A region reaches beyond its array",
        explanation: "Offset and size of a region lie within the shape.",
        example: Words("A store is asked for rows 0 to 9 of an array with 3 rows."),
        raised_by: ["indim-stores"],
    }
    WRONG_PIECE = "wrong-piece" {
        title: "A written piece is not of the type and shape of its region",
        explanation: "Write pieces of the element type of the result and of the shape of the region.",
        example: Words("A piece of type `f64` is written to a result of type `f32`."),
        raised_by: ["indim-stores"],
    }
    INCOMPLETE = "incomplete" {
        title: "A result is finished before all elements are written",
        explanation: "Write every region once before finishing.",
        example: Words("A result of 10 rows is finished after 9 are written."),
        raised_by: ["indim-stores"],
    }
    FILE_CHANGED = "file-changed" {
        title: "A file changed while it was read",
        explanation: "The result could mix old and new elements. Let its writer finish first, or read a \
            copy.",
        example: Words("Another process writes to an input while it is read piece by piece."),
        raised_by: ["indim-cli", "indim-stores"],
    }
    NOT_ZARR = "not-zarr" {
        title: "A folder is no array of Zarr",
        explanation: "It has no `zarr.json` and no `.zarray`. Give the folder of an array.",
        example: Command(&[
            "mkdir x.zarr",
            "indim eval 'x' x=x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    BAD_ZARR = "bad-zarr" {
        title: "An array of Zarr is damaged, or uses an extension that is not supported",
        explanation: "The message says which part of the metadata or which chunk.",
        example: Command(&[
            "mkdir x.zarr",
            "printf '{' > x.zarr/zarr.json",
            "indim eval 'x' x=x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    ZARR_GROUP = "zarr-group" {
        title: "A folder is a group of Zarr, not an array",
        explanation: "The message lists the arrays in it. Give the path of one.",
        example: Command(&[
            "mkdir g.zarr",
            "printf '{\"zarr_format\": 3, \"node_type\": \"group\"}' > g.zarr/zarr.json",
            "indim eval 'x' x=g.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    ZARR_IN_PLACE = "zarr-in-place" {
        title: "A Zarr array cannot be written to this path",
        explanation: "The path has something else: a file, a group of Zarr, or a link that leads nowhere. \
            Or the group around it would not list the array. Write to another path, or remove what is \
            there.",
        example: Command(&[
            "touch x.zarr",
            "indim eval 'x' 'x=[1.0, 2.0]' --output x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    WRONG_OPTIONS = "wrong-options" {
        title: "Options of an output do not fit its array",
        explanation: "Chunks and names of axes are given one for each axis of the array.",
        example: Words("An array of Zarr with two axes is created in Rust with one size of chunks."),
        raised_by: ["indim-stores"],
    }
    BAD_PNG = "bad-png" {
        title: "A PNG file is damaged, or of a kind that is not supported",
        explanation: "Copy it, or save it anew.",
        example: Command(&[
            "printf 'no picture' > x.png",
            "indim eval 'x' x=x.png",
        ]),
        raised_by: ["indim-stores"],
    }
    BAD_TIFF = "bad-tiff" {
        title: "A TIFF file is damaged, or of a kind that is not supported",
        explanation: "The message says which part. Save it anew without extensions.",
        example: Command(&[
            "printf 'no picture' > x.tif",
            "indim eval 'x' x=x.tif",
        ]),
        raised_by: ["indim-stores"],
    }
    NO_PAGE = "no-page" {
        title: "A file has no page of this number",
        explanation: "Pages of a TIFF file are counted from 0. The message says how many there are.",
        example: Command(&[
            "indim eval 'x' 'x=u8([[1, 2]])' --output x.tif",
            "indim eval 'x' x=x.tif:7",
        ]),
        raised_by: ["indim-stores"],
    }
    SEVERAL_PAGES = "several-pages" {
        title: "A TIFF file has several pages, and none is named",
        explanation: "Name one behind the path, as in `file.tif:0`.",
        example: Words("A TIFF file of three pages is read without the number of a page: `indim eval 'x' \
            x=pages.tif`."),
        raised_by: ["indim-stores"],
    }
    NOT_A_PICTURE = "not-a-picture" {
        title: "An array is no picture of the output's format",
        explanation: "PNG and TIFF take `[height, width]` or `[height, width, channels]` with 1 to 4 \
            channels, in the element types that the message lists.",
        example: Command(&["indim eval 'x' 'x=[1.0, 2.0]' --output x.png"]),
        raised_by: ["indim-stores"],
    }
    WRONG_ORDER = "wrong-order" {
        title: "Rows of a picture are written out of order",
        explanation: "Pictures are written from the first row to the last.",
        example: Words("Row 5 of a PNG file is written before row 4."),
        raised_by: ["indim-stores"],
    }
    BAD_CSV = "bad-csv" {
        title: "A CSV table is damaged",
        explanation: "Rows have the same number of fields, quotes are closed, and the text is UTF-8. The \
            message states the line.",
        example: Command(&[
            "printf '' > x.csv",
            "indim eval 'x' x=x.csv:a",
        ]),
        raised_by: ["indim-stores"],
    }
    NO_COLUMN = "no-column" {
        title: "A CSV table has no such column, or none is named",
        explanation: "Name one behind the path, as in `table.csv:column`. The message lists the columns.",
        example: Command(&[
            "printf 'a,b\\n1,2\\n' > x.csv",
            "indim eval 'x' x=x.csv:c",
        ]),
        raised_by: ["indim-stores"],
    }
    NOT_A_NUMBER = "not-a-number" {
        title: "A field of a CSV column is no number",
        explanation: "The message states the line. Columns hold numbers, or truth values, throughout.",
        example: Command(&[
            "printf 'a\\n1\\ntwo\\n' > x.csv",
            "indim eval 'x' x=x.csv:a",
        ]),
        raised_by: ["indim-stores"],
    }
    UNKNOWN_FORMAT = "unknown-format" {
        title: "The format of a file is not known",
        explanation: "The ending of a name, or the beginning of a file, says its format. Formats are \
            listed in the message or by `--help`.",
        example: Command(&["indim eval 'x' x=1.0 --output x.jpeg"]),
        raised_by: ["indim", "indim-cli", "indim-model"],
    }
}
