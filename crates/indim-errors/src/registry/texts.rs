//! Errors of texts: expressions, statements, literals, types, graphs in text form.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    ASSIGNED_TWICE = "assigned-twice" {
        title: "A name is assigned twice",
        explanation: "A name has one value in the whole text. Use another name for the second value.",
        example: Command(&["indim eval 'a = x; a = x + 1; a' x=1.0"]),
        raised_by: ["indim-text"],
    }
    ASSIGNED_INPUT = "assigned-input" {
        title: "A statement assigns the name of an input",
        explanation: "Inputs cannot be reassigned. Use another name.",
        example: Command(&["indim eval 'x = 2.0; x' x=1.0"]),
        raised_by: ["indim-text"],
    }
    ASSIGNED_FUNCTION = "assigned-function" {
        title: "A statement assigns the name of a function",
        explanation: "Names of functions are reserved. Use another name.",
        example: Command(&["indim eval 'sin = x; sin' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNNAMED_STATEMENT = "unnamed-statement" {
        title: "A statement other than the last one assigns no name",
        explanation: "Nothing can use its value. Write `name = ...`, or remove the statement.",
        example: Command(&["indim eval 'x + 1; x' x=1.0"]),
        raised_by: ["indim-text"],
    }
    WRONG_VALUE_COUNT = "wrong-value-count" {
        title: "An assignment has more names than values, or fewer",
        explanation: "Give one name for each value.",
        example: Command(&["indim eval 'a, b = x; a' x=1.0"]),
        raised_by: ["indim-text"],
    }
    SEVERAL_RESULTS = "several-results" {
        title: "A text has several results, and the caller needs one",
        explanation: "End the text with one result, or give an output for each.",
        example: Command(&["indim eval 'a = x; b = x + 1; a, b' x=1.0 --output one.npy"]),
        raised_by: ["indim-cli", "indim-text"],
    }
    UNKNOWN_RESULT = "unknown-result" {
        title: "No statement assigns the name of a requested result",
        explanation: "The message lists the results, or suggests a similar name. Correct the name, or \
            assign a value to it.",
        example: Command(&["indim eval 'a = x; b = x + 1; a, b' x=1.0 --output c=c.npy"]),
        raised_by: ["indim-cli", "indim-text"],
    }
    EMPTY_EXPRESSION = "empty-expression" {
        title: "The text has no expression",
        explanation: "The text is empty, or has only comments. Write an expression, such as `x + 1`.",
        example: Command(&["indim eval ''"]),
        raised_by: ["indim-text"],
    }
    UNEXPECTED_CHARACTER = "unexpected-character" {
        title: "A character has no meaning in expressions",
        explanation: "Remove the character. Outside of names, expressions are ASCII.",
        example: Command(&["indim eval 'x $ 1' x=1.0"]),
        raised_by: ["indim-text"],
    }
    STRING_LITERAL = "string-literal" {
        title: "Expressions have no strings",
        explanation: "Write element types and modes without quotes, as in `x.astype(f32)`.",
        example: Command(&["indim eval 'x + \"a\"' x=1.0"]),
        raised_by: ["indim-text"],
    }
    BAD_NUMBER = "bad-number" {
        title: "A number is malformed",
        explanation: "Write numbers in Python's syntax: `1`, `2.5`, `1e-3`, `0x1f`, `2j`.",
        example: Command(&["indim eval 'x + 1e' x=1.0"]),
        raised_by: ["indim-text"],
    }
    NUMBER_TOO_LARGE = "number-too-large" {
        title: "A number is too large to be parsed",
        explanation: "Whole numbers have at most 128 bits, and sizes and entries of lists have at most 64 \
            bits. Write a larger number as a float, such as `1e40`.",
        example: Command(&["indim eval 'x + 99999999999999999999999999999999999999999' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNEXPECTED_TOKEN = "unexpected-token" {
        title: "An expression has an unexpected token",
        explanation: "The message states what is expected at the caret. Correct the expression there.",
        example: Command(&["indim eval 'x +' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNCLOSED = "unclosed" {
        title: "A bracket is never closed",
        explanation: "The caret marks the opening bracket. Write the closing bracket.",
        example: Command(&["indim eval '(x + 1' x=1.0"]),
        raised_by: ["indim-text"],
    }
    CHAINED_COMPARISON = "chained-comparison" {
        title: "Comparisons do not chain",
        explanation: "In Python, `a < b < c` needs a single truth value, which an array does not have. \
            Write `(a < b) & (b < c)`.",
        example: Command(&["indim eval '0 < x < 1' x=1.0"]),
        raised_by: ["indim-text"],
    }
    FOREIGN_OPERATOR = "foreign-operator" {
        title: "A Python operator does not work on arrays",
        explanation: "`and`, `or` and `not` need a single truth value. Write `&`, `|` and `~`, with \
            parentheses around comparisons.",
        example: Command(&["indim eval 'x and x' x=1.0"]),
        raised_by: ["indim-text"],
    }
    FOREIGN_SPELLING = "foreign-spelling" {
        title: "The syntax of another language is used",
        explanation: "The message states what to write instead, such as `where(c, x, y)` for `c ? x : y`.",
        example: Command(&["indim eval 'x ? 1' x=1.0"]),
        raised_by: ["indim-text"],
    }
    NOT_ELEMENT_WISE = "not-element-wise" {
        title: "indim does not compute this function",
        explanation: "Expressions have no `median`, `unique`, `trace` or `cross`. Compute the value \
            with another library, and bind the result to a name. Write `take` for `gather`, and for `conv` \
            a sum over `sliding_window_view`.",
        example: Command(&["indim eval 'median(x)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    BAD_INDEX = "bad-index" {
        title: "A number is not an index",
        explanation: "An index is a whole number of at most 64 bits.",
        example: Command(&["indim eval 'x[1.5]' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    SQUEEZED_SIZE = "squeezed-size" {
        title: "`squeeze` names an axis whose size is not 1",
        explanation: "`squeeze` removes only axes of size 1. Index the axis, as in `x[0]`, or reduce it, \
            as in `sum(x, axis=0)`.",
        example: Command(&["indim eval 'squeeze(x, axis=0)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    UNKNOWN_FUNCTION = "unknown-function" {
        title: "No function has this name",
        explanation: "The message suggests a similar name, if there is one. docs/expressions.md describes \
            all functions, and `indim ops` lists most of them.",
        example: Command(&["indim eval 'sni(x)' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNKNOWN_KEYWORD = "unknown-keyword" {
        title: "A function does not have this keyword",
        explanation: "The message lists the keywords of the function. Use one of them.",
        example: Command(&["indim eval 'sum(x, axes=0)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    DUPLICATE_KEYWORD = "duplicate-keyword" {
        title: "A keyword is given twice in one call",
        explanation: "Remove one of the two.",
        example: Command(&["indim eval 'sum(x, axis=0, axis=0)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    MISSING_ARGUMENT = "missing-argument" {
        title: "A call lacks a required argument",
        explanation: "The message names the argument. Add it: for example, `reshape(x, [2, 1])`.",
        example: Command(&["indim eval 'reshape(x)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    BAD_ARGUMENT = "bad-argument" {
        title: "An argument has the wrong kind",
        explanation: "Axes, shapes and parameters must be numbers that are known before the run; they \
            cannot be arrays.",
        example: Command(&["indim eval 'elu(x, alpha=x)' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNKNOWN_NAME = "unknown-name" {
        title: "A name is not bound",
        explanation: "Give the name a value, as in `x=data.npy` on the command line or `x=x` in Python. Or \
            correct the name: the message suggests a similar one, if there is one.",
        example: Command(&["indim eval 'x + y' x=1.0"]),
        raised_by: ["indim-cli", "indim-text"],
    }
    AMBIGUOUS_FUNCTION = "ambiguous-function" {
        title: "A function has different meanings in NumPy and in XLA",
        explanation: "`mod` and `remainder` have the sign of the divisor in NumPy, and of the dividend in \
            XLA. Write `py_mod` for NumPy's meaning, or `rem` for XLA's.",
        example: Command(&["indim eval 'mod(x, 2.0)' x=1.0 --rule xla"]),
        raised_by: ["indim-text"],
    }
    AXIS_OR_OPERAND = "axis-or-operand" {
        title: "The second argument could be an axis or an operand",
        explanation: "In NumPy `max(x, 0)` reduces along axis 0; in other systems it compares with 0. \
            Write `axis=0`, or `maximum(x, 0)`.",
        example: Words("The text `max(x, 0)` is evaluated in Python. The command compares with 0."),
        raised_by: ["indim-text"],
    }
    NEGATIVE_SIZE = "negative-size" {
        title: "A shape has a negative size",
        explanation: "Sizes are 0 or more. In `reshape` one size can be -1, and is computed from the \
            others.",
        example: Command(&["indim eval 'broadcast_to(x, [-2])' x=1.0"]),
        raised_by: ["indim-text"],
    }
    SIZE_NOT_INFERABLE = "size-not-inferable" {
        title: "No size in place of -1 keeps the number of elements",
        explanation: "The product of the other sizes must divide the number of elements and not be 0, and \
            only one size can be -1.",
        example: Command(&["indim eval 'reshape(x, [-1, 4])' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    LITERAL_NOT_WHOLE = "literal-not-whole" {
        title: "An operator on whole numbers has a fractional operand",
        explanation: "Between literals, bitwise operators such as `<<` and `&` take whole numbers. Remove \
            the fraction.",
        example: Command(&["indim eval 'x + (1.5 << 2)' x=1.0"]),
        raised_by: ["indim-text"],
    }
    LITERAL_OVERFLOW = "literal-overflow" {
        title: "Arithmetic of literals overflows 128 bits",
        explanation: "Arithmetic between integer literals is exact, with at most 128 bits. Write one of \
            the literals as a float, as in `4.0`.",
        example: Command(&["indim eval 'x + 2 ** 127 * 4' x=1.0"]),
        raised_by: ["indim-text"],
    }
    LITERAL_DIVISION_BY_ZERO = "literal-division-by-zero" {
        title: "A literal is divided by zero",
        explanation: "Correct the divisor. Or bind it to an array, because dividing an array by zero has a \
            defined result.",
        example: Command(&["indim eval 'x + 1 // 0' x=1.0"]),
        raised_by: ["indim-text"],
    }
    LITERAL_NEGATIVE_SHIFT = "literal-negative-shift" {
        title: "A literal is shifted by a negative amount",
        explanation: "Shift in the other direction, as in `1 >> 1` for `1 << -1`.",
        example: Command(&["indim eval 'x + (1 << -1)' x=1.0"]),
        raised_by: ["indim-text"],
    }
    NO_PROMOTION = "no-promotion" {
        title: "Two element types have no common type",
        explanation: "`bf16` and the types that are only stored, such as `f8e5m2`, are not promoted. \
            Convert one operand, as in `f32(x)`.",
        example: Command(&["indim explain 'x + y' 'x=bf16[2]' 'y=f16[2]' --rule numpy"]),
        raised_by: ["indim-text"],
    }
    NOT_DEFINED_IN_NUMPY = "not-defined-in-numpy" {
        title: "NumPy does not define the operation on the common type",
        explanation: "For example, bitwise operations take only integers and truth values. The message \
            states what to write instead, if there is an equivalent.",
        example: Command(&["indim explain 'x ^ y' 'x=f32[2]' 'y=f32[2]' --rule numpy"]),
        raised_by: ["indim-text"],
    }
    NEGATIVE_INTEGER_POWER = "negative-integer-power" {
        title: "An integer is raised to a negative power",
        explanation: "The result would not be a whole number. Convert the base: `f64(x) ** -1`.",
        example: Command(&["indim eval 'x ** -1' x=2 --rule numpy"]),
        raised_by: ["indim-text"],
    }
    TEXT_TOO_LONG = "text-too-long" {
        title: "A text is longer than the limit",
        explanation: "Limits bound the time and memory that a text can take. Split the text, or raise the \
            limit in Rust with `ParseLimits`.",
        example: Words("An expression of 2 MiB is parsed in Rust or Python. Shells cannot pass it as an \
            argument."),
        raised_by: ["indim-text"],
    }
    TOO_DEEP = "too-deep" {
        title: "A text is nested deeper than the limit",
        explanation: "Split the expression into statements that name its parts.",
        example: Command(&["indim eval \"$(printf '%5000s' x | tr ' ' '-')\" x=1.0"]),
        raised_by: ["indim-text"],
    }
    TOO_MANY_NODES = "too-many-nodes" {
        title: "A text has more operands and operations than the limit",
        explanation: "Split the computation, or raise the limit in Rust with `ParseLimits`.",
        example: Words("A sum of 100,001 operands is parsed in Rust or Python. Shells cannot pass it as an \
            argument."),
        raised_by: ["indim-text"],
    }
    BAD_SHAPE = "bad-shape" {
        title: "A text is not a shape or type",
        explanation: "Write an element type and the sizes in brackets, as in `f32[2,3]`.",
        example: Command(&["indim explain 'x' 'x=f32[2;3]'"]),
        raised_by: ["indim-graph"],
    }
    UNKNOWN_ELEMENT_TYPE = "unknown-element-type" {
        title: "No element type has this name",
        explanation: "The types are `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`, \
            `c64` and `c128`; `f8e4m3fn`, `f8e5m2`, `f8e4m3fnuz`, `f8e5m2fnuz`, `f8e4m3b11fnuz`, `i4` and \
            `u4` are only stored. indim reads no other types from files.",
        example: Command(&["indim explain 'x' 'x=f33[2]'"]),
        raised_by: ["indim", "indim-io", "indim-stores", "indim-text"],
    }
    UNEXPECTED = "unexpected" {
        title: "A model file or the text of a graph has an unexpected token",
        explanation: "The message states the line, the column and what is expected there. Correct the \
            text, or export the file again.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x ; tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model", "indim-text"],
    }
    UNKNOWN_OPERATION = "unknown-operation" {
        title: "No operation has this name",
        explanation: "`indim ops` lists the operations that this command describes. docs/expressions.md \
            describes all functions, also `reshape`, `transpose` and `iota`. In the text form of a graph, \
            the name must be that of a node.",
        example: Command(&["indim ops sni"]),
        raised_by: ["indim-cli", "indim-text"],
    }
    UNDEFINED_VALUE = "undefined-value" {
        title: "A text uses a value that no earlier line defines",
        explanation: "Each line of the text of a graph can use only values of earlier lines. Correct the \
            name, or reorder the lines.",
        example: Words("The text of a graph uses `%7` in its first line."),
        raised_by: ["indim-text"],
    }
    DUPLICATE_VALUE = "duplicate-value" {
        title: "A value is defined twice in the text of a graph",
        explanation: "Each line of the text of a graph defines new values. Rename one of the two.",
        example: Words("The text of a graph has two lines that define `%0`."),
        raised_by: ["indim-text"],
    }
    BAD_ELEMENT = "bad-element" {
        title: "An element of a constant is not a value of its element type",
        explanation: "Write whole numbers within the range of an integer type, and `true` or `false` for \
            `bool`.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.constant dense<[1.0, true]> : tensor<2xf32>",
            "  return %y : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model", "indim-text"],
    }
    WRONG_ELEMENT_COUNT = "wrong-element-count" {
        title: "The number of elements of a constant does not match its shape",
        explanation: "Give one element for each position of the shape. In model files, a single element \
            can fill the whole shape.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>",
            "  return %y : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model", "indim-text"],
    }
    BAD_LITERAL = "bad-literal" {
        title: "An array literal is malformed",
        explanation: "Write a number, nested lists of numbers, or an element type with such a list, as in \
            `f32([[1, 2], [3, 4]])`.",
        example: Command(&["indim eval 'x' 'x=[1.0, ]]'"]),
        raised_by: ["indim"],
    }
    WRONG_ELEMENT = "wrong-element" {
        title: "A list has an entry that is not a number or a truth value",
        explanation: "Elements are numbers, `true` and `false`, `nan` and `inf`.",
        example: Command(&["indim eval 'x' 'x=[1.0, a]'"]),
        raised_by: ["indim"],
    }
    ELEMENT_DOES_NOT_FIT = "element-does-not-fit" {
        title: "An element is out of range of the literal's type",
        explanation: "Choose a type that can represent it, as in `i64([3000000000])`.",
        example: Command(&["indim eval 'x' 'x=u8([300])'"]),
        raised_by: ["indim"],
    }
    MIXED_ELEMENTS = "mixed-elements" {
        title: "A literal mixes truth values and numbers",
        explanation: "Write either truth values or numbers, or state the type.",
        example: Command(&["indim eval 'x' 'x=[1.0, true]'"]),
        raised_by: ["indim"],
    }
    RAGGED_LITERAL = "ragged-literal" {
        title: "Lists of a literal have different lengths or depths",
        explanation: "Lists at the same depth must have the same length. The caret marks the first that \
            differs.",
        example: Command(&["indim eval 'x' 'x=[[1, 2], [3]]'"]),
        raised_by: ["indim"],
    }
    AXIS_NAMES_NOT_TAKEN = "axis-names-not-taken" {
        title: "Axes have names under a rule that matches axes by position",
        explanation: "Choose rule `named`, or leave the axis names out.",
        example: Command(&["indim explain 'x' 'x=f32[a: 3]' --rule numpy"]),
        raised_by: ["indim"],
    }
    SIZE_NOT_FREE = "size-not-free" {
        title: "A symbolic size must be a number",
        explanation: "The message says what needs it. Write a number instead of the name.",
        example: Command(&["indim explain 'sliding_window_view(x, 2, axis=0)' 'x=f32[n]'"]),
        raised_by: ["indim"],
    }
}
