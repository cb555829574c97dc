//! Programs of other systems: StableHLO, HLO, OpenVINO IR, ONNX.

use super::{ErrorCode, ErrorEntry};

codes! {
    UNSUPPORTED_OP = "unsupported-op" {
        title: "The program has operations that indim does not have",
        explanation: "The message lists each with its number and its first place. Parts before them can \
            be cut out with the tools of the other system.",
        raised_by: ["indim-model"],
    }
    UNSUPPORTED = "unsupported" {
        title: "The program uses something that is not supported",
        explanation: "The message says what. Export the program without it.",
        raised_by: ["indim-model"],
    }
    LIMIT = "limit" {
        title: "The file asks for more than a limit allows",
        explanation: "Limits bound what a file can cost: operations, elements, depth. Raise the limit of \
            the call if the file is trusted.",
        raised_by: ["indim-model"],
    }
    UNDEFINED = "undefined" {
        title: "A name is used that nothing defines",
        explanation: "Values, functions and aliases are defined in the file before they are used. The \
            file was edited, or cut.",
        raised_by: ["indim-model"],
    }
    OPERATOR_TOO_NEW = "operator-too-new" {
        title: "An operator is newer than the opset that the file imports",
        explanation: "Export the file with an opset that has the operator.",
        raised_by: ["indim-model"],
    }
    DUPLICATE = "duplicate" {
        title: "A name is defined twice",
        explanation: "Each value and each function has one definition.",
        raised_by: ["indim-model"],
    }
    CYCLE = "cycle" {
        title: "A function or a layer depends on itself",
        explanation: "Functions do not call themselves, and layers do not wait for their own results.",
        raised_by: ["indim-model"],
    }
    ATTRIBUTE = "attribute" {
        title: "An attribute is missing or has a value that is not allowed",
        explanation: "The message names the attribute and what is wrong with it.",
        raised_by: ["indim-model"],
    }
    WRONG_COUNT = "wrong-count" {
        title: "An operation has another number of operands, results or regions than it takes",
        explanation: "The message states both. The file is damaged, or of another version.",
        raised_by: ["indim-model"],
    }
    ELIDED_ELEMENTS = "elided-elements" {
        title: "The elements of a constant were left out of the file",
        explanation: "Printers elide large constants. Write the file with all elements.",
        raised_by: ["indim-model"],
    }
    TYPE_MISMATCH = "type-mismatch" {
        title: "The file states another type than follows from the operands",
        explanation: "The file is inconsistent. Export it anew.",
        raised_by: ["indim-model"],
    }
    DAMAGED = "damaged" {
        title: "The file is cut or damaged",
        explanation: "The library that reads the encoding says why. Copy or export it anew.",
        raised_by: ["indim-model"],
    }
    FILE_BESIDE = "file-beside" {
        title: "A file that belongs to the program cannot be read",
        explanation: "Weights lie in a file beside the program, whose name the message has. Put it there.",
        raised_by: ["indim-model"],
    }
    DEPENDS_ON_DATA = "depends-on-data" {
        title: "A size depends on elements that only a run knows",
        explanation: "The message lists the values from which the size comes. Give these inputs as \
            constants, or export with fixed sizes.",
        raised_by: ["indim-model"],
    }
    WHICH_FUNCTION = "which-function" {
        title: "The file has several functions that may be meant",
        explanation: "Name one with `--function`.",
        raised_by: ["indim-model"],
    }
    INPUT_MISSING = "input-missing" {
        title: "An input of the program is not given",
        explanation: "Give it by name: `name=file.npy`.",
        raised_by: ["indim-model"],
    }
    INPUT_ELEMENTS = "input-elements" {
        title: "An input that says a shape is given without elements",
        explanation: "Sizes of the program follow from its elements. Give the array, not only its type.",
        raised_by: ["indim-model"],
    }
    SEVERAL_PROGRAMS = "several-programs" {
        title: "Several programs are given where one is needed",
        explanation: "Give one file. For OpenVINO IR give the `.xml`; its `.bin` is found beside it.",
        raised_by: ["indim-cli"],
    }
    NO_TEST = "no-test" {
        title: "A folder has no test to run",
        explanation: "Tests of ONNX are folders with `model.onnx` and `test_data_set_0`.",
        raised_by: ["indim-cli"],
    }
}
