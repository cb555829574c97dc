//! Files of arrays.

use super::{ErrorCode, ErrorEntry};

codes! {
    IO = "io" {
        title: "The system refuses to read or to write",
        explanation: "The message is the system's: a file does not exist, is not readable, or the disk \
            is full.",
        raised_by: ["indim", "indim-cli", "indim-stores"],
    }
    NOT_A_FILE = "not-a-file" {
        title: "A path names a folder, a device or a pipe where a regular file is needed",
        explanation: "Give a regular file. Standard input is written `-`.",
        raised_by: ["indim", "indim-stores"],
    }
    OWNER_NOT_KEPT = "owner-not-kept" {
        title: "A file of another owner cannot be replaced without changing its owner",
        explanation: "Results replace a file in one step and keep its owner, which only a privileged \
            user can set. Write to another path.",
        raised_by: ["indim"],
    }
    NOT_NPY = "not-npy" {
        title: "A file does not begin as `.npy` files do",
        explanation: "The file is of another format, or empty. The ending of its name says how it is read.",
        raised_by: ["indim"],
    }
    UNKNOWN_VERSION = "unknown-version" {
        title: "A `.npy` file has a version that is not known",
        explanation: "Versions 1 to 3 are read. Save the array anew.",
        raised_by: ["indim"],
    }
    BAD_HEADER = "bad-header" {
        title: "The header of a file of arrays is damaged",
        explanation: "The header does not follow its format, or is longer than any writer makes it. Save \
            the array anew.",
        raised_by: ["indim"],
    }
    ELEMENT_TYPE_NOT_IN_FORMAT = "element-type-not-in-format" {
        title: "A format has no elements of this type",
        explanation: "Write another format, or convert the array.",
        raised_by: ["indim"],
    }
    WRONG_LENGTH = "wrong-length" {
        title: "A file has another number of bytes than its shape asks for",
        explanation: "The file is cut, or was written over. Copy or save it anew.",
        raised_by: ["indim"],
    }
    BAD_ARCHIVE = "bad-archive" {
        title: "A `.npz` archive is damaged",
        explanation: "The archive cannot be read as a ZIP file. Copy or save it anew.",
        raised_by: ["indim"],
    }
    MEMBER_NOT_NAMED = "member-not-named" {
        title: "A file holds several arrays, and none is named",
        explanation: "Name one behind the path, as in `file.npz:name`.",
        raised_by: ["indim"],
    }
    NO_MEMBER = "no-member" {
        title: "A file holds no array of this name",
        explanation: "The message lists the names.",
        raised_by: ["indim"],
    }
    OUTSIDE_OF_ARRAY = "outside-of-array" {
        title: "A region reaches beyond its array",
        explanation: "Offset and size of a region lie within the shape.",
        raised_by: ["indim-stores"],
    }
    WRONG_PIECE = "wrong-piece" {
        title: "A written piece is not of the type and shape of its region",
        explanation: "Write pieces of the element type of the result and of the shape of the region.",
        raised_by: ["indim-stores"],
    }
    INCOMPLETE = "incomplete" {
        title: "A result is finished before all elements are written",
        explanation: "Write every region once before finishing.",
        raised_by: ["indim-stores"],
    }
    FILE_CHANGED = "file-changed" {
        title: "A file changed while it was read",
        explanation: "The result could mix old and new elements. Let its writer finish first, or read a \
            copy.",
        raised_by: ["indim-cli", "indim-stores"],
    }
    NOT_ZARR = "not-zarr" {
        title: "A folder is no array of Zarr",
        explanation: "It has no `zarr.json` and no `.zarray`. Give the folder of an array.",
        raised_by: ["indim-stores"],
    }
    BAD_ZARR = "bad-zarr" {
        title: "An array of Zarr is damaged, or uses an extension that is not supported",
        explanation: "The message says which part of the metadata or which chunk.",
        raised_by: ["indim-stores"],
    }
    ZARR_GROUP = "zarr-group" {
        title: "A folder is a group of Zarr, not an array",
        explanation: "The message lists the arrays in it. Give the path of one.",
        raised_by: ["indim-stores"],
    }
    ZARR_IN_PLACE = "zarr-in-place" {
        title: "A result would overwrite an array that is read",
        explanation: "A Zarr array cannot be input and output of one run. Write to another path.",
        raised_by: ["indim-stores"],
    }
    WRONG_OPTIONS = "wrong-options" {
        title: "Options of an output exclude one another",
        explanation: "The message says which: chunks that do not fit the array, or an option that the \
            format does not have.",
        raised_by: ["indim-stores"],
    }
    BAD_PNG = "bad-png" {
        title: "A PNG file is damaged, or of a kind that is not supported",
        explanation: "Copy it, or save it anew.",
        raised_by: ["indim-stores"],
    }
    BAD_TIFF = "bad-tiff" {
        title: "A TIFF file is damaged, or of a kind that is not supported",
        explanation: "The message says which part. Save it anew without extensions.",
        raised_by: ["indim-stores"],
    }
    NO_PAGE = "no-page" {
        title: "A file has no page of this number",
        explanation: "Pages of a TIFF file are counted from 0. The message says how many there are.",
        raised_by: ["indim-stores"],
    }
    SEVERAL_PAGES = "several-pages" {
        title: "A TIFF file has several pages, and none is named",
        explanation: "Name one behind the path, as in `file.tif:0`.",
        raised_by: ["indim-stores"],
    }
    NOT_A_PICTURE = "not-a-picture" {
        title: "An array is no picture of the output's format",
        explanation: "PNG and TIFF take `[height, width]` or `[height, width, channels]` with 1 to 4 \
            channels, in the element types that the message lists.",
        raised_by: ["indim-stores"],
    }
    WRONG_ORDER = "wrong-order" {
        title: "Rows of a picture are written out of order",
        explanation: "Pictures are written from the first row to the last.",
        raised_by: ["indim-stores"],
    }
    BAD_CSV = "bad-csv" {
        title: "A CSV table is damaged",
        explanation: "Rows have the same number of fields, quotes are closed, and the text is UTF-8. The \
            message states the line.",
        raised_by: ["indim-stores"],
    }
    NO_COLUMN = "no-column" {
        title: "A CSV table has no such column, or none is named",
        explanation: "Name one behind the path, as in `table.csv:column`. The message lists the columns.",
        raised_by: ["indim-stores"],
    }
    NOT_A_NUMBER = "not-a-number" {
        title: "A field of a CSV column is no number",
        explanation: "The message states the line. Columns hold numbers, or truth values, throughout.",
        raised_by: ["indim-stores"],
    }
    UNKNOWN_FORMAT = "unknown-format" {
        title: "The format of a file is not known",
        explanation: "The ending of a name, or the beginning of a file, says its format. Formats are \
            listed in the message or by `--help`.",
        raised_by: ["indim", "indim-cli", "indim-model"],
    }
}
