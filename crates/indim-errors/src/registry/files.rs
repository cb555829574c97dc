//! Errors of array files.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    IO = "io" {
        title: "The system cannot read or write a file",
        explanation: "The message is that of the operating system: for example, the file does not exist, \
            you may not read it, or the disk is full. Check the path, the permissions and the free space.",
        example: Command(&["indim eval 'x' x=missing.npy"]),
        raised_by: ["indim", "indim-cli", "indim-io"],
    }
    NOT_A_FILE = "not-a-file" {
        title: "A path names a folder, a device or a pipe where a regular file is needed",
        explanation: "Give the path of a regular file. To read from a pipe, write `-` for standard input. \
            To write into a folder, name a file in it, as in `folder/result.npy`.",
        example: Command(&[
            "mkdir x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim-io", "indim-stores"],
    }
    OWNER_NOT_KEPT = "owner-not-kept" {
        title: "A result cannot replace a file of another user or group",
        explanation: "The new file would keep the owner of the old one, which only a privileged user can \
            set. Write to another path, or remove the old file first.",
        example: Words("A result replaces a file of another user, in a folder that both users may write to."),
        raised_by: ["indim-io"],
    }
    NOT_NPY = "not-npy" {
        title: "A file is not a `.npy` file",
        explanation: "The file is empty, or has another format. indim expects `.npy` if neither the ending \
            of the name nor the beginning of the file shows another format. Give the file the ending of \
            its format, or save the array with `numpy.save`.",
        example: Command(&[
            "printf 'no array' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim-io"],
    }
    UNKNOWN_VERSION = "unknown-version" {
        title: "A `.npy` file has an unknown version",
        explanation: "indim reads versions 1.0 to 3.0 of the format. Save the array again with \
            `numpy.save`.",
        example: Command(&[
            "printf '\\223NUMPY\\011\\000\\166\\000' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim-io"],
    }
    BAD_HEADER = "bad-header" {
        title: "The header of an array file is damaged",
        explanation: "The header cannot be parsed, or is longer than the file or than the limit. Copy or \
            save the file again.",
        example: Command(&[
            "printf '\\223NUMPY\\001\\000\\002\\000{}' > x.npy",
            "indim eval 'x' x=x.npy",
        ]),
        raised_by: ["indim-io"],
    }
    ELEMENT_TYPE_NOT_IN_FORMAT = "element-type-not-in-format" {
        title: "A file format cannot store this element type",
        explanation: "Write the result to a `.npy` file, or convert it to a type that the format has, as \
            in `f32(x)`.",
        example: Command(&["indim eval 'x' 'x=c128([1])' -o x.safetensors"]),
        raised_by: ["indim-io", "indim-stores"],
    }
    WRONG_LENGTH = "wrong-length" {
        title: "The number of bytes in a file does not match its shape",
        explanation: "The file is truncated, or another program has overwritten it, or a pipe ended early. \
            Copy or save the array again.",
        example: Command(&[
            "indim eval 'x' 'x=[1.0, 2.0]' --output x.npy",
            "head -c 130 x.npy > cut.npy",
            "indim eval 'x' x=cut.npy",
        ]),
        raised_by: ["indim-io"],
    }
    BAD_ARCHIVE = "bad-archive" {
        title: "A `.npz` or `.safetensors` file is damaged",
        explanation: "The `.npz` file cannot be read as a ZIP file, or the header of the `.safetensors` \
            file is wrong. Copy or save it again.",
        example: Command(&[
            "printf 'no archive' > x.npz",
            "indim eval 'x' x=x.npz:a",
        ]),
        raised_by: ["indim-io"],
    }
    MEMBER_NOT_NAMED = "member-not-named" {
        title: "The path of an archive names none of its arrays",
        explanation: "A `.npz` or `.safetensors` file can have several arrays. Name one after a colon, as \
            in `file.npz:name`. The message lists the names.",
        example: Command(&[
            "indim eval 'a = x; b = x; a, b' x=1.0 --output x.npz",
            "indim eval 'x' x=x.npz",
        ]),
        raised_by: ["indim-io"],
    }
    NO_MEMBER = "no-member" {
        title: "An archive has no array of this name",
        explanation: "Use a name that the message lists.",
        example: Command(&[
            "indim eval 'a = x; b = x; a, b' x=1.0 --output x.npz",
            "indim eval 'x' x=x.npz:c",
        ]),
        raised_by: ["indim-io"],
    }
    OUTSIDE_OF_ARRAY = "outside-of-array" {
        title: "A region extends beyond its array",
        explanation: "Along each axis, the offset of the region plus its size must not exceed the size of \
            the array.",
        example: Words("A store reads rows 0 to 9 of an array with 3 rows."),
        raised_by: ["indim-io"],
    }
    READ_ONCE = "read-once" {
        title: "A pipe is asked for elements that it has already passed",
        explanation: "A pipe delivers its elements once, from the first to the last. Store the array in a \
            file, which can be read in any order.",
        example: Words("Your program reads rows 4 to 7 of a pipe, and then rows 0 to 3."),
        raised_by: ["indim-io"],
    }
    WRONG_PIECE = "wrong-piece" {
        title: "The type or shape of a written piece differs from that of its region",
        explanation: "Write pieces with the element type of the result and the shape of the region.",
        example: Words("A piece of type `f64` is written to a result of type `f32`."),
        raised_by: ["indim-io"],
    }
    INCOMPLETE = "incomplete" {
        title: "A result is finished before all elements are written",
        explanation: "Write every region once before you finish the result.",
        example: Words("A result of 10 rows is finished after 9 rows are written."),
        raised_by: ["indim-io"],
    }
    FILE_CHANGED = "file-changed" {
        title: "A file changed while it was read",
        explanation: "The result could mix old and new elements. Wait for the writer to finish, or read a \
            copy.",
        example: Words("Another process writes to an input while indim reads it piece by piece."),
        raised_by: ["indim-cli", "indim-io"],
    }
    NOT_ZARR = "not-zarr" {
        title: "A path is not a Zarr array",
        explanation: "A Zarr array is a folder with `zarr.json` or `.zarray`. Give the path of such a \
            folder. Unpack a store in a ZIP file first.",
        example: Command(&[
            "mkdir x.zarr",
            "indim eval 'x' x=x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    BAD_ZARR = "bad-zarr" {
        title: "A Zarr array is damaged, or uses an unsupported extension",
        explanation: "The message names the chunk or the part of the metadata. Copy the array again, or \
            save it without the extension.",
        example: Command(&[
            "mkdir x.zarr",
            "printf '{' > x.zarr/zarr.json",
            "indim eval 'x' x=x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    ZARR_GROUP = "zarr-group" {
        title: "A folder is a Zarr group, not an array",
        explanation: "The message lists the arrays in the group. Give the path of one, as in \
            `group.zarr/name`.",
        example: Command(&[
            "mkdir g.zarr",
            "printf '{\"zarr_format\": 3, \"node_type\": \"group\"}' > g.zarr/zarr.json",
            "indim eval 'x' x=g.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    ZARR_IN_PLACE = "zarr-in-place" {
        title: "A Zarr array cannot be written to this path",
        explanation: "Another file, folder or Zarr group has this path, the name is not allowed, or the \
            folder around it is not a Zarr group that can list the array. Write to another path, such as \
            `out.zarr`, or remove the existing file or group.",
        example: Command(&[
            "touch x.zarr",
            "indim eval 'x' 'x=[1.0, 2.0]' --output x.zarr",
        ]),
        raised_by: ["indim-stores"],
    }
    WRONG_OPTIONS = "wrong-options" {
        title: "Options of an output do not fit its array",
        explanation: "An array needs one chunk size and one axis name for each axis. Correct the number of \
            chunk sizes or axis names.",
        example: Words("A Zarr array with two axes is created in Rust with one chunk size."),
        raised_by: ["indim-stores"],
    }
    BAD_PNG = "bad-png" {
        title: "A PNG file is damaged, or of an unsupported kind",
        explanation: "The message states the problem. Copy the file again, or save it in another format.",
        example: Command(&[
            "printf 'not an image' > x.png",
            "indim eval 'x' x=x.png",
        ]),
        raised_by: ["indim-stores"],
    }
    BAD_TIFF = "bad-tiff" {
        title: "A TIFF file is damaged, or of an unsupported kind",
        explanation: "The message names the damaged or unsupported part. Copy the file again, or save it \
            without this feature.",
        example: Command(&[
            "printf 'not an image' > x.tif",
            "indim eval 'x' x=x.tif",
        ]),
        raised_by: ["indim-stores"],
    }
    NO_PAGE = "no-page" {
        title: "A TIFF file has no page with this number",
        explanation: "Pages are counted from 0, so the last page of a file with three pages is 2. Give a \
            smaller number.",
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
        explanation: "PNG and TIFF store arrays of shape `[height, width]` or `[height, width, channels]`, \
            with 1 to 4 channels. The message lists their element types. Reshape or convert the array, as \
            in `u8(x)`.",
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
        title: "A CSV table is malformed",
        explanation: "The table is empty, a row has more or fewer fields than the rows before it, a quote \
            is not closed, or the text is not UTF-8. The message states the problem. Correct the table.",
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
        explanation: "All fields of a column must be numbers, or all must be truth values. The message \
            states the line. Correct the field, or select another column.",
        example: Command(&[
            "printf 'a\\n1\\ntwo\\n' > x.csv",
            "indim eval 'x' x=x.csv:a",
        ]),
        raised_by: ["indim-stores"],
    }
    UNKNOWN_FORMAT = "unknown-format" {
        title: "The format of a file is unknown",
        explanation: "indim identifies a format by the ending of the name or by the beginning of the file. \
            Use a format that the message or `--help` lists, or correct the ending.",
        example: Command(&["indim eval 'x' x=1.0 --output x.jpeg"]),
        raised_by: ["indim-cli", "indim-model", "indim-stores"],
    }
    REMOTE_OFF = "remote-off" {
        title: "This build has no remote stores",
        explanation: "Names such as `s3://bucket/x.zarr` need the feature `remote`, which is not a default \
            feature. Install the command with it: `cargo install indim-cli --features remote`; in Rust, \
            `cargo add indim --features remote`. Or copy the object to a file first.",
        example: Words("`indim eval 'x' x=s3://bucket/x.npy`, by a command without the feature `remote`."),
        raised_by: ["indim-stores"],
    }
    REMOTE_NAME = "remote-name" {
        title: "A remote name or a setting of a remote store is wrong",
        explanation: "A name has the form `s3://BUCKET/PATH`, `gs://BUCKET/PATH`, `az://CONTAINER/PATH` or \
            `https://HOST/PATH`. A web address with a password or a query is refused, because messages \
            would show it. The name of a result has the ending `.zarr` or `.npy`. The message states what \
            is wrong with a name or an environment variable.",
        example: Words("`indim eval 'x' x=s3://bucket`, which names no object."),
        raised_by: ["indim-cli", "indim-remote", "indim-stores"],
    }
    REQUEST_FAILED = "request-failed" {
        title: "A request to a remote store failed",
        explanation: "The message has the answer of the server, and how often the request was repeated. \
            Requests are repeated up to four times after an answer 5xx, a broken connection, or a timeout: \
            30 seconds without a byte, or the seconds in `INDIM_REMOTE_TIMEOUT`. After 403, check the \
            credentials in the environment.",
        example: Words("The server answers 403 to the request for a chunk."),
        raised_by: ["indim-remote"],
    }
}
