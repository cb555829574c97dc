//! Errors of model files: StableHLO, HLO, OpenVINO IR, ONNX.

use super::ErrorExample::{Command, Words};
use super::{ErrorCode, ErrorEntry};

codes! {
    UNSUPPORTED_OP = "unsupported-op" {
        title: "The program has operations that indim does not support",
        explanation: "The message lists each operation with its count and first location. Extract the part \
            of the program before them with the tools of its system.",
        example: Command(&[
            "cat > p.mlir <<'end'",
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
            "  %y = stablehlo.fft %x",
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
        title: "The file exceeds a limit",
        explanation: "Limits on operations, elements and depth bound the cost of a file. If you trust the \
            file, raise the limit of the call.",
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
        title: "A name is not defined",
        explanation: "A file defines values, functions and aliases before their use. This file was edited \
            or truncated.",
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
        explanation: "Export the file with an opset that has the operator.",
        example: Command(&[
            "printf '\\010\\010\\072\\062\\012\\013\\012\\001x\\022\\001y\\042\\003Erf\\022\\001gZ\\017\
                \\012\\001x\\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002b\\017\\012\\001y\
                \\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002B\\002\\020\\007' > p.onnx",
            "indim explain p.onnx",
        ]),
        raised_by: ["indim-model"],
    }
    DUPLICATE = "duplicate" {
        title: "A name is defined twice",
        explanation: "Each value and each function has one definition. Rename one.",
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
        explanation: "Recursive functions and cycles of layers are not supported.",
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
        explanation: "The message names the attribute and the error.",
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
        explanation: "The message states both numbers. The file is damaged, or of another version.",
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
        explanation: "Printers elide large constants. Write the file with all elements.",
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
        title: "A stated type does not follow from the operands",
        explanation: "The file is inconsistent. Export it again.",
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
        explanation: "The message is that of the library that decodes the file. Copy or export it again.",
        example: Command(&[
            "printf '<net' > p.xml",
            "indim explain p.xml",
        ]),
        raised_by: ["indim-model"],
    }
    FILE_BESIDE = "file-beside" {
        title: "A file of weights that belongs to the program cannot be read",
        explanation: "The weights are in a separate file in the folder of the program. The message states \
            its name. Put the file there.",
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
        explanation: "The message lists the values that determine the size. Give these inputs as constants, \
            or export the program with fixed sizes.",
        example: Command(&[
            "printf '\\010\\010\\072R\\012\\027\\012\\001x\\022\\001s\\042\\004Cast\\052\\011\\012\\002to\
                \\030\\007\\240\\001\\002\\012\\022\\012\\001x\\012\\001s\\022\\001y\\042\\007Reshape\\022\
                \\001gZ\\017\\012\\001x\\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002b\\017\
                \\012\\001y\\022\\012\\012\\010\\010\\001\\022\\004\\012\\002\\010\\002B\\002\\020\\021' \
                > p.onnx",
            "indim run p.onnx 'f32([1, 2])'",
        ]),
        raised_by: ["indim-model"],
    }
    WHICH_FUNCTION = "which-function" {
        title: "The file has several functions, and none is selected",
        explanation: "Select one with `--function`.",
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
        explanation: "Give the input by name: `name=file.npy`.",
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
        explanation: "The elements of this input are sizes of the program. Give the array, not only its \
            type.",
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
        explanation: "Lines `// -----` separate programs in a StableHLO file. Give a file with one program, \
            or run all with `indim check`.",
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
        explanation: "An ONNX test is a folder with `model.onnx` and `test_data_set_0`.",
        example: Command(&[
            "mkdir tests",
            "indim check tests",
        ]),
        raised_by: ["indim-cli"],
    }
    NOTHING_COMPARED = "nothing-compared" {
        title: "A dump has no value of the model that indim computes",
        explanation: "The names of the arrays in the dump are those of no value, or of inputs and constants \
            only, or the dump lacks the inputs that its values need. A file is called like a value of the \
            program; give inputs as `NAME=SOURCE`.",
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
        explanation: "The inner sizes of a matrix product, the channels of a convolution, or the other \
            sizes of a concatenation differ. The message names the node, its operands and their types.",
        example: Words("`indim lint` of an ONNX model with a product of `f32[5, 8]` and `f32[6, 4]`."),
        raised_by: ["indim-model"],
    }
}
