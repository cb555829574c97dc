//! Errors of the command, the oracle and the site; broken invariants.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    ELEMENT_LIMIT = "element-limit" {
        title: "A result exceeds the element limit of the oracle",
        explanation: "Raise `--limit-elements`, or leave `data` out: without data, the oracle judges \
            shapes of any size.",
        example: Command(&[
            "echo '{\"rule\":\"numpy\",\"op\":\"exp\",\"operands\":[{\"shape\":[2],\"data\":[1,2]}]}' |",
            "  indim oracle --limit-elements 1",
        ]),
        raised_by: ["indim-oracle"],
    }
    BAD_REQUEST = "bad-request" {
        title: "A request to the oracle or the site is malformed",
        explanation: "The message names the missing or malformed field. docs/oracle.md lists the fields.",
        example: Command(&["echo '{}' | indim oracle"]),
        raised_by: ["indim-oracle", "indim-web"],
    }
    BAD_BINDING = "bad-binding" {
        title: "An argument does not have the form NAME=VALUE",
        explanation: "Write a name, `=`, and a file or a literal: `x=data.npy`, `x=[1, 2]`.",
        example: Command(&["indim eval 'x' 2.0"]),
        raised_by: ["indim-cli"],
    }
    NO_SUCH_SOURCE = "no-such-source" {
        title: "A value is neither a file nor a literal",
        explanation: "Check the path of the file, or write a literal: a number or a list, such as `[1, \
            2]`.",
        example: Command(&["indim eval 'x' x=y"]),
        raised_by: ["indim-cli"],
    }
    TERMINAL = "terminal" {
        title: "A terminal would have to read or show the bytes of an array",
        explanation: "Redirect standard input or output to a file or a pipe, or name a file instead of \
            `-`.",
        example: Words("`indim eval 'x' x=-` runs with a terminal as standard input."),
        raised_by: ["indim-cli"],
    }
    FORMAT = "format" {
        title: "An array cannot be printed in this format",
        explanation: "The message states the reason. Choose another `--format`, or write to a file with \
            `--output`.",
        example: Command(&["indim eval 'x' 'x=[[[1.0]]]' --format csv"]),
        raised_by: ["indim-cli"],
    }
    DUPLICATE_OUTPUT = "duplicate-output" {
        title: "Two results have the same output file",
        explanation: "Give each result a file of its own, outside the folders of other results.",
        example: Command(&["indim eval 'a = x; b = x; a, b' x=1.0 --output a=x.npy --output b=x.npy"]),
        raised_by: ["indim-cli"],
    }
    BAD_NAME = "bad-name" {
        title: "The name of a result cannot be a file name",
        explanation: "The name is empty or too long. Write all results to one archive: `-o all.npz`.",
        example: Command(&[
            "cat > p.mlir <<end",
            "func.func @main(%x: tensor<2xf32>)",
            "  -> (tensor<2xf32> {jax.result_info = \"$(printf '%300s' | tr ' ' y)\"}) {",
            "  return %x : tensor<2xf32>",
            "}",
            "end",
            "indim run p.mlir 'x=[1, 2]' --output results/",
        ]),
        raised_by: ["indim-cli"],
    }
    DUPLICATE_NAME = "duplicate-name" {
        title: "A name is bound twice",
        explanation: "Give each name one value.",
        example: Command(&["indim eval 'x' x=1.0 x=2.0"]),
        raised_by: ["indim-cli", "indim-web"],
    }
    UNUSED_NAME = "unused-name" {
        title: "A name bound on the command line does not occur in the expression",
        explanation: "Remove the argument, or correct the name. The message lists the names in the \
            expression.",
        example: Command(&["indim eval 'x' x=1.0 y=2.0"]),
        raised_by: ["indim-cli"],
    }
    OUTPUT_NEEDED = "output-needed" {
        title: "A program of this format is not written to standard output",
        explanation: "Standard output is for text in one file. Binary formats, and formats with a separate \
            file of weights, need `--output FILE`.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x : tensor<2xf32>",
            "}",
            "end",
            "indim convert p.mlir --to onnx",
        ]),
        raised_by: ["indim-cli"],
    }
    RULE_NOT_IN_FORMAT = "rule-not-in-format" {
        title: "A test kit for the rule cannot be written in this format",
        explanation: "The format has no operator that broadcasts by this rule. The message lists the rules \
            of the format.",
        example: Command(&["indim oracle --kit kit --rule numpy --files stablehlo"]),
        raised_by: ["indim-cli"],
    }
    TOO_MANY_OPERANDS = "too-many-operands" {
        title: "A broadcast has more operands than the site draws",
        explanation: "Remove operands, or use `indim explain`, which does not have this limit.",
        example: Words("A request to the site has a broadcast of 100 operands."),
        raised_by: ["indim-web"],
    }
    NAME_TOO_LONG = "name-too-long" {
        title: "A name is longer than the site draws",
        explanation: "Use a shorter name.",
        example: Words("A request to the site has an operand with a name of 1000 letters."),
        raised_by: ["indim-web"],
    }
    BAD_FIELD = "bad-field" {
        title: "A field of the site's form cannot be parsed",
        explanation: "The message states the expected form. Correct the field.",
        example: Words("A request to the site has `axis` with the text `one`."),
        raised_by: ["indim-web"],
    }
    INTERNAL_ERROR = "internal-error" {
        title: "An invariant of indim is broken",
        explanation: "This is a bug in indim, not an error in your input. Report it with the version of \
            indim, the message, and the program or the output of `indim explain` for it. The command exits \
            with code 70; Python raises `indim.InternalError`.",
        example: Words("An assertion of indim fails."),
        raised_by: ["indim"],
    }
    UNKNOWN_ERROR_CODE = "unknown-error-code" {
        title: "No error has this code",
        explanation: "The message suggests a similar code, if there is one. `indim explain --code list` \
            lists all codes.",
        example: Command(&["indim explain --code size-mismatched"]),
        raised_by: ["indim"],
    }
}
