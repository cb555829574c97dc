//! Errors of model files: StableHLO, HLO, OpenVINO IR, ONNX.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    UNSUPPORTED_OP = "unsupported-op" {
        title: "The program has operations that indim does not support",
        explanation: "The message lists each operation with its count and first location. Compute the \
            results of these operations with another runtime, and pass them to `indim run` with `--from \
            NAME=SOURCE`. `--to NAME` stops before them.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.cholesky %x",
            "  return %y : tensor<2xf32>",
            "}",
            "end",
            "indim run p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    UNSUPPORTED = "unsupported" {
        title: "The program uses an unsupported feature",
        explanation: "The message names the feature. Export the program without it.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xf64>",
            "  return %y : tensor<2xf64>",
            "}",
            "end",
            "indim run p.mlir 'f32([1, 2])'",
        ]),
        raised_by: ["indim-model"],
    }
    LIMIT = "limit" {
        title: "A model file exceeds a limit",
        explanation: "Limits on sizes, operations and nesting bound the time and memory that a file can \
            take. If you trust the file, raise them in Rust with `ReadOptions::limits`. The command and \
            Python have fixed limits.",
        example: Command(&[
            "cat > p.hlo <<end",
            "HloModule p",
            "ENTRY main {",
            "  ROOT x = f32[$(printf '%70s' | sed 's/ /1,/g')1] parameter(0)",
            "}",
            "end",
            "indim explain p.hlo",
        ]),
        raised_by: ["indim-model"],
    }
    UNDEFINED = "undefined" {
        title: "A model file uses a name that it does not define",
        explanation: "The message states the name. Correct it, or export the file again, because it may be \
            truncated.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.sine %z : tensor<2xf32>",
            "  return %y : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    OPERATOR_TOO_NEW = "operator-too-new" {
        title: "An operator is newer than the opset that the file imports",
        explanation: "The message states the opset that introduced the operator. Export the file for this \
            opset or a later one.",
        example: Command(&[
            "printf '\\010\\010\\072\\062\\012\\013\\012\\001x\\022\\001y\\042\\003Erf\\022\\001gZ\\017\
                \\012\\001x\\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002b\\017\\012\\001y\
                \\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002B\\002\\020\\007' > p.onnx",
            "indim explain p.onnx",
        ]),
        raised_by: ["indim-model"],
    }
    DUPLICATE = "duplicate" {
        title: "A model file defines a name twice",
        explanation: "Names of values, functions, inputs and layers must be unique. Rename one of the two.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %x = stablehlo.sine %x : tensor<2xf32>",
            "  return %x : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    CYCLE = "cycle" {
        title: "A function or a layer depends on itself",
        explanation: "indim supports neither recursive functions nor cycles of layers. Write the recursion \
            as a loop, or export the program again.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>",
            "  return %y : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    ATTRIBUTE = "attribute" {
        title: "An attribute is missing or has an illegal value",
        explanation: "The message names the attribute and the problem. Correct the attribute, or export \
            the program again.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.transpose %x : (tensor<2xf32>) -> tensor<2xf32>",
            "  return %y : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    WRONG_COUNT = "wrong-count" {
        title: "An operation has the wrong number of operands, results or regions",
        explanation: "The message states both numbers. The file is damaged, or follows another version of \
            its format. Export it again.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.sine %x, %x : tensor<2xf32>",
            "  return %y : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    ELIDED_ELEMENTS = "elided-elements" {
        title: "The file omits the elements of a constant",
        explanation: "Printers omit the elements of large constants. Print or export the program again \
            with all elements.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.constant dense_resource<__elided__> : tensor<2xf32>",
            "  return %y : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    TYPE_MISMATCH = "type-mismatch" {
        title: "A type in the file differs from the type that the operands give",
        explanation: "The file is inconsistent. Correct the type, or export the file again.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.sine %x : tensor<3xf32>",
            "  return %y : tensor<3xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    DAMAGED = "damaged" {
        title: "The file is truncated or damaged",
        explanation: "The message is that of the library that decodes the file. Copy or export the file \
            again.",
        example: Command(&[
            "printf '<net' > p.xml",
            "indim explain p.xml",
        ]),
        raised_by: ["indim-model"],
    }
    FILE_BESIDE = "file-beside" {
        title: "The separate weights file of a program cannot be read",
        explanation: "The weights of this program are in another file, which is missing or too short. Put \
            the file that the message names into the folder of the program, or export the program again.",
        example: Command(&[
            "cat > p.xml <<'end'",
            "<net name=\"p\" version=\"11\">",
            "  <layers>",
            "    <layer id=\"0\" name=\"c\" type=\"Const\" version=\"opset1\">",
            "      <data element_type=\"f32\" shape=\"2\" offset=\"0\" size=\"8\"/>",
            "      <output><port id=\"0\" precision=\"FP32\"><dim>2</dim></port></output>",
            "    </layer>",
            "    <layer id=\"1\" name=\"y\" type=\"Result\" version=\"opset1\">",
            "      <input><port id=\"0\" precision=\"FP32\"><dim>2</dim></port></input>",
            "    </layer>",
            "  </layers>",
            "  <edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"0\"/></edges>",
            "</net>",
            "end",
            "indim explain p.xml",
        ]),
        raised_by: ["indim-model"],
    }
    DEPENDS_ON_DATA = "depends-on-data" {
        title: "A size depends on elements that are known only at run time",
        explanation: "The message lists the values that determine the size. `indim run` computes most such \
            models of ONNX and OpenVINO in stages, but a converted program has fixed sizes. Export the \
            program with fixed sizes, or pass the last of these values to `indim run` with `--from \
            NAME=SOURCE`.",
        example: Command(&[
            "printf '\\010\\010\\072R\\012\\027\\012\\001x\\022\\001s\\042\\004Cast\\052\\011\\012\\002to\
                \\030\\007\\240\\001\\002\\012\\022\\012\\001x\\012\\001s\\022\\001y\\042\\007Reshape\\022\
                \\001gZ\\017\\012\\001x\\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002b\\017\
                \\012\\001y\\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002B\\002\\020\\021' \
                > p.onnx",
            "indim convert p.onnx --to stablehlo -o p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    WHICH_FUNCTION = "which-function" {
        title: "The file has several functions, and none is selected",
        explanation: "`indim run`, `indim explain`, `indim convert` and `indim compare` select a function \
            with `--function NAME`, Python with `function=`. Without it, the function `@main` or the only \
            public function is selected.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x : tensor<2xf32>",
            "}",
            "func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    INPUT_MISSING = "input-missing" {
        title: "An input of the program is missing",
        explanation: "Give the input by name, as in `name=file.npy`. The message lists all inputs.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x : tensor<2xf32>",
            "}",
            "end",
            "indim run p.mlir",
        ]),
        raised_by: ["indim-model"],
    }
    INPUT_ELEMENTS = "input-elements" {
        title: "An input that determines a shape has no elements",
        explanation: "The elements of this input are sizes in the program. Give an array, such as \
            `s='i64([2, 1])'`, instead of a type.",
        example: Command(&[
            "printf '\\010\\010\\072J\\012\\022\\012\\001x\\012\\001s\\022\\001y\\042\\007Reshape\\022\
                \\001gZ\\017\\012\\001x\\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002Z\\017\
                \\012\\001s\\022\\012\\012\\010\\010\\007\\022\\004\\012\\002\\010\\002b\\017\\012\\001y\
                \\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002B\\002\\020\\021' > p.onnx",
            "indim explain p.onnx 'x=f32[2]' 's=i64[2]'",
        ]),
        raised_by: ["indim-model"],
    }
    SEVERAL_PROGRAMS = "several-programs" {
        title: "A file has several programs, and the command needs one",
        explanation: "Lines `// -----` separate programs in a StableHLO file. Split the file at these \
            lines. `indim check` takes such a file, and runs all programs that state their expected \
            results.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x : tensor<2xf32>",
            "}",
            "// -----",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  return %x : tensor<2xf32>",
            "}",
            "end",
            "indim explain p.mlir",
        ]),
        raised_by: ["indim-cli"],
    }
    NO_TEST = "no-test" {
        title: "A folder has no test to run",
        explanation: "An ONNX test is a folder with `model.onnx` and `test_data_set_0`. Give the path of \
            such a folder, or of a folder that contains several.",
        example: Command(&[
            "mkdir tests",
            "indim check tests",
        ]),
        raised_by: ["indim-cli"],
    }
    NOTHING_COMPARED = "nothing-compared" {
        title: "A dump has no value of the model that indim computes",
        explanation: "No array of the dump has the name of a value that indim computes, or the dump lacks \
            the inputs of these values. Name each file after a value of the program; `indim explain` \
            prints the names. Give missing inputs as `NAME=SOURCE`.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %0 = stablehlo.add %x, %x : tensor<2xf32>",
            "  return %0 : tensor<2xf32>",
            "}",
            "end",
            "mkdir values",
            "indim eval x 'x=f32([2, 4])' -o values/y.npy",
            "indim compare p.mlir --dump values",
        ]),
        raised_by: ["indim-cli"],
    }
    OPERAND_SHAPES = "operand-shapes" {
        title: "The shapes of the operands do not fit the operator",
        explanation: "For example, the inner sizes of a matrix product, the channels of a convolution, or \
            the other sizes of a concatenation differ. The message names the node, its operands and their \
            types. Correct the shapes where the model is made.",
        example: Words("`indim lint` of an ONNX model with a product of `f32[5, 8]` and `f32[6, 4]`."),
        raised_by: ["indim-model"],
    }
}
