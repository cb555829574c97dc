//! Front ends: the command, the oracle, the site; broken invariants.

use super::{ErrorCode, ErrorEntry};

codes! {
    ELEMENT_LIMIT = "element-limit" {
        title: "The oracle does not evaluate results of this size",
        explanation: "Leave `data` out: shapes are answered for any size. Or raise `--element-limit`.",
        raised_by: ["indim"],
    }
    BAD_REQUEST = "bad-request" {
        title: "A request to the oracle or to the site is not well formed",
        explanation: "The message says which field is missing or has another form. docs/oracle.md lists \
            the fields.",
        raised_by: ["indim", "indim-web"],
    }
    BAD_BINDING = "bad-binding" {
        title: "An argument is not of the form NAME=VALUE",
        explanation: "Write a name, `=` and a file or a literal: `x=data.npy`, `x=[1, 2]`.",
        raised_by: ["indim-cli"],
    }
    NO_SUCH_SOURCE = "no-such-source" {
        title: "A value is neither a file nor a literal",
        explanation: "Check the path, or write a number or a list.",
        raised_by: ["indim-cli"],
    }
    TERMINAL = "terminal" {
        title: "Standard input or output is a terminal where bytes of an array are needed",
        explanation: "Redirect it into a file or a pipe, or name a file.",
        raised_by: ["indim-cli"],
    }
    FORMAT = "format" {
        title: "An array cannot be printed in this format",
        explanation: "Choose another `--format`, or an output file.",
        raised_by: ["indim-cli"],
    }
    DUPLICATE_OUTPUT = "duplicate-output" {
        title: "Two results go to the same file",
        explanation: "Give each result a file of its own.",
        raised_by: ["indim-cli"],
    }
    BAD_NAME = "bad-name" {
        title: "The name of a result cannot be a name of a file",
        explanation: "It has a separator of paths, or a name that the system reserves. Rename the \
            result, or state the file.",
        raised_by: ["indim-cli"],
    }
    DUPLICATE_NAME = "duplicate-name" {
        title: "A name is bound twice",
        explanation: "Give each name one value.",
        raised_by: ["indim-cli", "indim-web"],
    }
    UNUSED_NAME = "unused-name" {
        title: "A bound name does not occur in the expression",
        explanation: "Remove it, or correct the name: the message suggests a near one.",
        raised_by: ["indim-cli"],
    }
    OUTPUT_NEEDED = "output-needed" {
        title: "A program in bytes needs a file to be written to",
        explanation: "Standard output takes texts only. Give `--output FILE`.",
        raised_by: ["indim-cli"],
    }
    RULE_NOT_IN_FORMAT = "rule-not-in-format" {
        title: "A kit of tests cannot be written in this format for the rule",
        explanation: "The format has no operator that broadcasts by this rule. The message lists the \
            rules it has.",
        raised_by: ["indim-cli"],
    }
    TOO_MANY_OPERANDS = "too-many-operands" {
        title: "The site draws fewer operands",
        explanation: "Remove operands; the command takes any number.",
        raised_by: ["indim-web"],
    }
    NAME_TOO_LONG = "name-too-long" {
        title: "A name is longer than the site draws",
        explanation: "Use a shorter name.",
        raised_by: ["indim-web"],
    }
    BAD_FIELD = "bad-field" {
        title: "A field of the site's form cannot be read",
        explanation: "The message says what belongs there.",
        raised_by: ["indim-web"],
    }
    INTERNAL_ERROR = "internal-error" {
        title: "An invariant of indim is broken",
        explanation: "This is a mistake in indim, not in your input. Report it, with the version of \
            indim, the program or its text from `explain`, and the message. The command ends \
            with exit code 70, Python raises `indim.InternalError`.",
        raised_by: ["indim"],
    }
    UNKNOWN_ERROR_CODE = "unknown-error-code" {
        title: "No error has this code",
        explanation: "The message suggests a near one. `indim explain --code list` lists all codes.",
        raised_by: ["indim"],
    }
}
