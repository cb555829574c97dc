//! Texts: expressions, statements, literals, types, graphs in text form.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    ASSIGNED_TWICE = "assigned-twice" {
        title: "A name is assigned twice",
        explanation: "Each name of a program stands for one value. Use another name for the second.",
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
        explanation: "Names of functions keep their meaning. Use another name.",
        example: Command(&["indim eval 'sin = x; sin' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNNAMED_STATEMENT = "unnamed-statement" {
        title: "A statement before the last has no name",
        explanation: "Its value could not be used. Write `name = ...`, or remove the statement.",
        example: Command(&["indim eval 'x + 1; x' x=1.0"]),
        raised_by: ["indim-text"],
    }
    WRONG_VALUE_COUNT = "wrong-value-count" {
        title: "An assignment has another number of names than values",
        explanation: "Give one name for each value.",
        example: Command(&["indim eval 'a, b = x; a' x=1.0"]),
        raised_by: ["indim-text"],
    }
    SEVERAL_RESULTS = "several-results" {
        title: "A text with several results stands where one is needed",
        explanation: "The caller needs one array. Name the result that is wanted, or give an output for \
            each.",
        example: Command(&["indim eval 'a = x; b = x + 1; a, b' x=1.0 --output one.npy"]),
        raised_by: ["indim-cli", "indim-text"],
    }
    UNKNOWN_RESULT = "unknown-result" {
        title: "No statement has the name of a result that is asked for",
        explanation: "The message lists the names. Correct it.",
        example: Command(&["indim eval 'a = x; b = x + 1; a, b' x=1.0 --output c=c.npy"]),
        raised_by: ["indim-cli", "indim-text"],
    }
    EMPTY_EXPRESSION = "empty-expression" {
        title: "There is no expression",
        explanation: "The text is empty, or has only comments.",
        example: Command(&["indim eval ''"]),
        raised_by: ["indim-text"],
    }
    UNEXPECTED_CHARACTER = "unexpected-character" {
        title: "A character has no meaning in expressions",
        explanation: "Remove it. Outside of names expressions are ASCII.",
        example: Command(&["indim eval 'x $ 1' x=1.0"]),
        raised_by: ["indim-text"],
    }
    STRING_LITERAL = "string-literal" {
        title: "There are no strings in expressions",
        explanation: "Write element types and modes without quotes, as in `x.astype(f32)`.",
        example: Command(&["indim eval 'x + \"a\"' x=1.0"]),
        raised_by: ["indim-text"],
    }
    BAD_NUMBER = "bad-number" {
        title: "A text that begins like a number is none",
        explanation: "Write numbers as Python does: `1`, `2.5`, `1e-3`, `0x1f`, `2j`.",
        example: Command(&["indim eval 'x + 1e' x=1.0"]),
        raised_by: ["indim-text"],
    }
    NUMBER_TOO_LARGE = "number-too-large" {
        title: "A number is too large to be read",
        explanation: "Whole numbers have at most 128 bits, sizes at most those of this machine.",
        example: Command(&["indim eval 'x + 99999999999999999999999999999999999999999' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNEXPECTED_TOKEN = "unexpected-token" {
        title: "Another thing belongs in this place of an expression",
        explanation: "The caret marks the place, and the message says what may stand there.",
        example: Command(&["indim eval 'x +' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNCLOSED = "unclosed" {
        title: "A bracket is never closed",
        explanation: "The caret marks the bracket. Close it.",
        example: Command(&["indim eval '(x + 1' x=1.0"]),
        raised_by: ["indim-text"],
    }
    CHAINED_COMPARISON = "chained-comparison" {
        title: "Comparisons do not chain",
        explanation: "`a < b < c` needs one truth value in Python and is refused for arrays. Write `(a < \
            b) & (b < c)`.",
        example: Command(&["indim eval '0 < x < 1' x=1.0"]),
        raised_by: ["indim-text"],
    }
    FOREIGN_OPERATOR = "foreign-operator" {
        title: "An operator of Python does not work on arrays",
        explanation: "`and`, `or` and `not` need one truth value. Write `&`, `|`, `~`, with parentheses \
            around comparisons.",
        example: Command(&["indim eval 'x and x' x=1.0"]),
        raised_by: ["indim-text"],
    }
    FOREIGN_SPELLING = "foreign-spelling" {
        title: "A spelling belongs to another language",
        explanation: "The message gives the one of expressions, as `**` for `^` of powers.",
        example: Command(&["indim eval 'x ? 1' x=1.0"]),
        raised_by: ["indim-text"],
    }
    NOT_ELEMENT_WISE = "not-element-wise" {
        title: "A function neither computes element by element nor reduces",
        explanation: "Sorting, solving or multiplying matrices is not an operation of indim. Compute it \
            where the arrays come from, and bind the result to a name.",
        example: Command(&["indim eval 'sort(x)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    BAD_INDEX = "bad-index" {
        title: "A number is no index",
        explanation: "Indices are whole numbers of 64 bits.",
        example: Command(&["indim eval 'x[1.5]' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    SQUEEZED_SIZE = "squeezed-size" {
        title: "`squeeze` names an axis whose size is not 1",
        explanation: "Only axes of size 1 can be removed without losing elements.",
        example: Command(&["indim eval 'squeeze(x, axis=0)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    UNKNOWN_FUNCTION = "unknown-function" {
        title: "No function has this name",
        explanation: "The message suggests a near one. `indim ops` lists all.",
        example: Command(&["indim eval 'sni(x)' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNKNOWN_KEYWORD = "unknown-keyword" {
        title: "A function does not have this keyword",
        explanation: "The message lists the keywords that it takes.",
        example: Command(&["indim eval 'sum(x, axes=0)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    DUPLICATE_KEYWORD = "duplicate-keyword" {
        title: "A keyword is given twice in one call",
        explanation: "Remove one.",
        example: Command(&["indim eval 'sum(x, axis=0, axis=0)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    MISSING_ARGUMENT = "missing-argument" {
        title: "A call lacks an argument that it needs",
        explanation: "The message names it. `indim ops NAME` prints the call.",
        example: Command(&["indim eval 'reshape(x)' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    BAD_ARGUMENT = "bad-argument" {
        title: "An argument is not of the kind that the function takes",
        explanation: "Axes, shapes and parameters are numbers that are known before the run; arrays \
            cannot stand for them.",
        example: Command(&["indim eval 'elu(x, alpha=x)' x=1.0"]),
        raised_by: ["indim-text"],
    }
    UNKNOWN_NAME = "unknown-name" {
        title: "Nothing is bound to a name",
        explanation: "Bind it, as in `x=data.npy` or `x=x` in Python, or correct it: the message \
            suggests a near name.",
        example: Command(&["indim eval 'x + y' x=1.0"]),
        raised_by: ["indim-cli", "indim-text"],
    }
    AMBIGUOUS_FUNCTION = "ambiguous-function" {
        title: "A function has different meanings in NumPy and in XLA",
        explanation: "`mod` takes the sign of the divisor in one and of the dividend in the other. Write \
            the name that says which: `py_mod` or `rem`.",
        example: Command(&["indim eval 'mod(x, 2.0)' x=1.0 --rule xla"]),
        raised_by: ["indim-text"],
    }
    AXIS_OR_OPERAND = "axis-or-operand" {
        title: "A second argument may be an axis or an operand",
        explanation: "`max(x, 0)` reduces along axis 0 for NumPy and compares with 0 elsewhere. Write \
            `axis=0`, or `maximum(x, 0)`.",
        example: Words("The text `max(x, 0)` is evaluated in Python. The command compares with 0."),
        raised_by: ["indim-text"],
    }
    NEGATIVE_SIZE = "negative-size" {
        title: "A shape has a negative size",
        explanation: "Sizes are 0 or more. In a reshape one size may be -1: it follows from the others.",
        example: Command(&["indim eval 'broadcast_to(x, [-2])' x=1.0"]),
        raised_by: ["indim-text"],
    }
    SIZE_NOT_INFERABLE = "size-not-inferable" {
        title: "No size in place of -1 keeps the number of elements",
        explanation: "The other sizes must divide the number of elements, and only one size can be -1.",
        example: Command(&["indim eval 'reshape(x, [-1, 4])' 'x=[2.0, 1.0]'"]),
        raised_by: ["indim-text"],
    }
    LITERAL_NOT_WHOLE = "literal-not-whole" {
        title: "An operator on whole numbers meets another number",
        explanation: "`//`, `%`, `<<`, `&` and the like of written numbers take whole numbers.",
        example: Command(&["indim eval 'x + (1.5 << 2)' x=1.0"]),
        raised_by: ["indim-text"],
    }
    LITERAL_OVERFLOW = "literal-overflow" {
        title: "Written numbers lead out of 128 bits",
        explanation: "Arithmetic of literals is exact within 128 bits. Write one of them as a float.",
        example: Command(&["indim eval 'x + 2 ** 127 * 4' x=1.0"]),
        raised_by: ["indim-text"],
    }
    LITERAL_DIVISION_BY_ZERO = "literal-division-by-zero" {
        title: "Written numbers divide by zero",
        explanation: "Correct the divisor, or bind it to an array: a division of arrays by zero has a \
            defined result.",
        example: Command(&["indim eval 'x + 1 // 0' x=1.0"]),
        raised_by: ["indim-text"],
    }
    LITERAL_NEGATIVE_SHIFT = "literal-negative-shift" {
        title: "A written number is shifted by a negative amount",
        explanation: "Shift the other way.",
        example: Command(&["indim eval 'x + (1 << -1)' x=1.0"]),
        raised_by: ["indim-text"],
    }
    NO_PROMOTION = "no-promotion" {
        title: "Two element types have no common type",
        explanation: "NumPy promotes these types to one that does not hold both, or not at all. Convert \
            one operand.",
        example: Command(&["indim explain 'x + y' 'x=bf16[2]' 'y=f16[2]' --rule numpy"]),
        raised_by: ["indim-text"],
    }
    NOT_DEFINED_IN_NUMPY = "not-defined-in-numpy" {
        title: "NumPy does not define the operation on the common type",
        explanation: "Bitwise operations take integers and truth values. The message says what to write \
            instead, if something is meant by it.",
        example: Command(&["indim explain 'x ^ y' 'x=f32[2]' 'y=f32[2]' --rule numpy"]),
        raised_by: ["indim-text"],
    }
    NEGATIVE_INTEGER_POWER = "negative-integer-power" {
        title: "An integer has a negative power",
        explanation: "The result would not be whole. Convert the base: `f64(x) ** -1`.",
        example: Command(&["indim eval 'x ** -1' x=2 --rule numpy"]),
        raised_by: ["indim-text"],
    }
    TEXT_TOO_LONG = "text-too-long" {
        title: "A text is longer than the limit",
        explanation: "Limits bound the work that a text can cause. Raise the limit of the call, or split \
            the text.",
        example: Words("An expression of 2 MiB is parsed in Rust or Python. A shell does not pass it."),
        raised_by: ["indim-text"],
    }
    TOO_DEEP = "too-deep" {
        title: "A text nests more deeply than the limit",
        explanation: "Split the expression by statements that name its parts.",
        example: Command(&["indim eval \"$(printf '%5000s' x | tr ' ' '-')\" x=1.0"]),
        raised_by: ["indim-text"],
    }
    TOO_MANY_NODES = "too-many-nodes" {
        title: "A text has more nodes than the limit",
        explanation: "Split the computation, or raise the limit of the call.",
        example: Words("A sum of 100,001 operands is parsed in Rust or Python. A shell does not pass it."),
        raised_by: ["indim-text"],
    }
    BAD_SHAPE = "bad-shape" {
        title: "A text is no shape or element type with a shape",
        explanation: "Write `f32[2,3]`: an element type and the sizes in brackets.",
        example: Command(&["indim explain 'x' 'x=f32[2;3]'"]),
        raised_by: ["indim-text"],
    }
    UNKNOWN_ELEMENT_TYPE = "unknown-element-type" {
        title: "No element type has this name",
        explanation: "The types are `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`, \
            `c64` and `c128`. In files: indim reads those of them that the format has.",
        example: Command(&["indim explain 'x' 'x=f33[2]'"]),
        raised_by: ["indim", "indim-stores", "indim-text"],
    }
    UNEXPECTED = "unexpected" {
        title: "Another thing belongs in this place",
        explanation: "The message marks the line and column, and says what may stand there.",
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
        explanation: "`indim ops` lists all. In the text of a graph, names are those of its nodes.",
        example: Command(&["indim ops sni"]),
        raised_by: ["indim-cli", "indim-text"],
    }
    UNDEFINED_VALUE = "undefined-value" {
        title: "A text uses a value that is not defined before",
        explanation: "Values of a graph are defined before their use. Correct the name or reorder the \
            lines.",
        example: Words("The text of a graph uses `%7` in its first line."),
        raised_by: ["indim-text"],
    }
    DUPLICATE_VALUE = "duplicate-value" {
        title: "A value is defined twice in the text of a graph",
        explanation: "Each value has one line. Rename one.",
        example: Words("The text of a graph has two lines that define `%0`."),
        raised_by: ["indim-text"],
    }
    BAD_ELEMENT = "bad-element" {
        title: "A text is no element of its type",
        explanation: "Write numbers as the type has them: no fraction for integers, `true` and `false` \
            for `bool`.",
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
        title: "A constant has another number of elements than its shape",
        explanation: "Give one element, or one for each place.",
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
        title: "An array literal is not well formed",
        explanation: "Write a number, nested lists of numbers, or a type with them: `f32([[1, 2], [3, \
            4]])`.",
        example: Command(&["indim eval 'x' 'x=[1.0, ]]'"]),
        raised_by: ["indim"],
    }
    WRONG_ELEMENT = "wrong-element" {
        title: "A list holds something that is no element",
        explanation: "Elements are numbers, `true` and `false`, `nan` and `inf`.",
        example: Command(&["indim eval 'x' 'x=[1.0, a]'"]),
        raised_by: ["indim"],
    }
    ELEMENT_DOES_NOT_FIT = "element-does-not-fit" {
        title: "An element is no value of the literal's type",
        explanation: "Choose a type that holds it, as `i64([3000000000])`.",
        example: Command(&["indim eval 'x' 'x=u8([300])'"]),
        raised_by: ["indim"],
    }
    MIXED_ELEMENTS = "mixed-elements" {
        title: "A literal mixes truth values and numbers",
        explanation: "Write one kind, or state the type.",
        example: Command(&["indim eval 'x' 'x=[1.0, true]'"]),
        raised_by: ["indim"],
    }
    RAGGED_LITERAL = "ragged-literal" {
        title: "Lists of a literal have different lengths or depths",
        explanation: "Lists at the same depth have the same length. The caret marks the first that differs.",
        example: Command(&["indim eval 'x' 'x=[[1, 2], [3]]'"]),
        raised_by: ["indim"],
    }
    AXIS_NAMES_NOT_TAKEN = "axis-names-not-taken" {
        title: "Axes have names under a rule that matches by position",
        explanation: "Choose rule `named`, or leave the names out.",
        example: Command(&["indim explain 'x' 'x=f32[a: 3]' --rule numpy"]),
        raised_by: ["indim"],
    }
    SIZE_NOT_FREE = "size-not-free" {
        title: "A size with a name is needed as a number",
        explanation: "The program depends on this size, as `mean` over it or a reshape by it. Write the \
            number in place of the name.",
        example: Command(&["indim explain 'x[:2]' 'x=f32[n]'"]),
        raised_by: ["indim"],
    }
}
