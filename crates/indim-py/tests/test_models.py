"""Model files of other systems, loaded and called."""

import pickle

import numpy as np
import pytest

import indim

ADD = b"""
func.func @main(%x: tensor<2x3xf32> loc("x"), %v: tensor<3xf32> loc("v")) -> tensor<2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.add %x, %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
"""

MASKED = b"""
func.func @main(%m: tensor<3xi1> loc("m"), %x: tensor<3xi32> loc("x")) -> (tensor<3xi32>, tensor<3xi1>) {
  %0 = stablehlo.constant dense<0> : tensor<3xi32>
  %1 = stablehlo.select %m, %x, %0 : tensor<3xi1>, tensor<3xi32>
  %2 = stablehlo.not %m : tensor<3xi1>
  return %1, %2 : tensor<3xi32>, tensor<3xi1>
}
"""

SCALED = b"""
func.func @main(%x: tensor<2xf32> loc("x"), %s: tensor<f32> loc("s"),
                %n: tensor<i32> loc("n")) -> tensor<2xf32> {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<2xf32>
  %2 = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %4 = stablehlo.add %1, %3 : tensor<2xf32>
  return %4 : tensor<2xf32>
}
"""

X = np.arange(6, dtype=np.float32).reshape(2, 3)
V = np.array([10, 20, 30], dtype=np.float32)


def test_a_program_is_called_by_position_and_by_name():
    model = indim.load(ADD)
    for result in (model(X, V), model(x=X, v=V), model(X, v=V), model(X[::-1][::-1], V)):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, X + V)


def test_the_inputs_are_described():
    model = indim.load(ADD)
    assert model.inputs == (
        indim.ModelInput("x", "float32", (2, 3), False, False),
        indim.ModelInput("v", "float32", (3,), False, False),
    )
    assert len(model.outputs) == 1
    assert repr(model).startswith("<indim.Model (x: float32[2, 3], v: float32[3]) -> ")


def test_several_results_are_a_tuple_and_truth_values_are_any_bytes():
    mask = np.array([0, 2, 1], dtype=np.uint8).view(bool)
    values, inverse = indim.load(MASKED)(mask, np.array([1, 2, 3], dtype=np.int32))
    np.testing.assert_array_equal(values, np.array([0, 2, 3], dtype=np.int32))
    np.testing.assert_array_equal(inverse, [True, False, False])


def test_numbers_take_the_type_of_the_input():
    model = indim.load(SCALED)
    np.testing.assert_array_equal(model(np.array([1, 2], dtype=np.float32), 0.5, 3), [3.5, 4.0])
    with pytest.raises(TypeError, match="has the element type int32"):
        model(np.zeros(2, dtype=np.float32), 0.5, 2.5)
    with pytest.raises(OverflowError):
        model(np.zeros(2, dtype=np.float32), 0.5, 1 << 40)
    # Numbers among types and arrays.
    for x in ("f32[2]", np.zeros(2, dtype=np.float32)):
        assert model.explain(x, 0.5, 3).json == model.explain(x, "f32[]", "i32[]").json
        assert model.to("hlo", x, 0.5, 3).text == model.to("hlo", x, "f32[]", "i32[]").text
    # A NumPy scalar has a type of its own.
    with pytest.raises(indim.FormatError, match=r"the input s is f32\[\], f16\[\] was given"):
        model.explain("f32[2]", np.float16(0.5), "i32[]")
    with pytest.raises(indim.FormatError, match=r"the input x is f32\[2\], f32\[\] was given"):
        model.explain(0.5, 0.5, 3)


def test_a_number_is_an_array_of_its_own_type_to_the_compiled_model():
    compiled = indim.load(b"HloModule m\nENTRY e {\n  ROOT x = f64[] parameter(0)\n}\n")._model
    np.testing.assert_array_equal(compiled.run([2.5], "K")[0], np.float64(2.5))
    with pytest.raises(indim.FormatError, match=r"the input x is f64\[\], i64\[\] was given"):
        compiled.run([2], "K")


def test_what_does_not_fit_is_refused():
    model = indim.load(ADD)
    with pytest.raises(indim.FormatError, match="the input v is f32\\[3\\], f32\\[4\\] was given") as raised:
        model(X, np.zeros(4, dtype=np.float32))
    assert raised.value.code == "input-type"
    with pytest.raises(indim.FormatError, match="f64"):
        model(X.astype(np.float64), V)
    with pytest.raises(indim.FormatError, match="the input v is not given"):
        model(X)
    with pytest.raises(TypeError, match="takes 2 inputs, 3 were given"):
        model(X, V, V)
    with pytest.raises(TypeError, match="given twice"):
        model(X, x=X)
    with pytest.raises(TypeError, match="no input is called `w`: the inputs are x, v"):
        model(X, w=V)


def test_a_file_is_refused_with_its_line(tmp_path):
    path = tmp_path / "dot.mlir"
    path.write_bytes(
        b"func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
        b"  %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>\n"
        b"  return %0 : tensor<2x2xf32>\n}\n"
    )
    with pytest.raises(indim.FormatError, match=r"dot.mlir:2:") as raised:
        indim.load(path)(np.ones((2, 2), np.float32))
    assert raised.value.code == "unsupported-op"
    with pytest.raises(FileNotFoundError):
        indim.load(tmp_path / "missing.onnx")
    with pytest.raises(indim.FormatError, match="this is no StableHLO"):
        indim.load(b"\x93NUMPY")


def test_a_program_is_explained_with_places():
    explanation = indim.load(ADD).explain()
    assert "add(x, v)" in explanation
    assert "--> <bytes>:" in explanation
    assert explanation.json["broadcasts"][0]["place"].startswith("<bytes>:")
    assert indim.load(ADD).explain("f32[2, 3]", V).json["outputs"][0]["shape"] == [2, 3]


def test_a_program_is_pickled(tmp_path):
    for model in (indim.load(ADD), indim.load(_written(tmp_path))):
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again(X, V), X + V)


def _written(folder):
    path = folder / "add.mlir"
    path.write_bytes(ADD)
    return path


def test_a_program_is_written_for_another_system(tmp_path):
    model = indim.load(ADD)
    path = tmp_path / "add.xml"
    written = model.to("openvino", path=path)
    assert written.composed == [] and bytes(written) == path.read_bytes() and "Add" in written.text
    assert written.external_file[0] == "add.bin" and (tmp_path / "add.bin").exists()
    np.testing.assert_array_equal(indim.load(path)(X, V), X + V)
    with pytest.raises(ValueError, match="is not a format: stablehlo"):
        model.to("onxx")


def test_a_jitted_function_is_written_for_another_system(tmp_path):
    @indim.jit
    def standardised(x, m):
        return indim.exp2(x - m), (x - x.mean(axis=0)) * 0.5

    path = tmp_path / "f.xml"
    written = standardised.export("openvino", "f32[2, 3]", "f32[3]", path=path)
    assert [composed.operation for composed in written.composed] == ["exp2"]
    results = indim.load(path)(X, V)
    for result, expected in zip(results, standardised(X, V)):
        np.testing.assert_allclose(result, expected, rtol=1e-6)
    with pytest.raises(indim.FormatError) as raised:
        standardised.export("openvino", "f32[2, 3]", "f32[3]", exact=True)
    assert raised.value.code == "unsupported-op"


FOREIGN = b"""
func.func @main(%x: tensor<2xf32> loc("x"), %k: tensor<2xf32> loc("k")) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1:2 = stablehlo.custom_call @foreign(%0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = stablehlo.multiply %1#0, %1#1 : tensor<2xf32>
  %3 = stablehlo.add %2, %k : tensor<2xf32>
  return %3 : tensor<2xf32>
}
"""


def test_a_program_with_a_foreign_operation_runs_in_parts():
    model = indim.load(FOREIGN)
    with pytest.raises(indim.FormatError) as error:
        model(np.ones(2, np.float32), np.ones(2, np.float32))
    assert error.value.code == "unsupported-op"
    assert "the program runs if given 1#0: f32[2], 1#1: f32[2]" in str(error.value)
    assert 'load(..., inputs=["1#0", "1#1"])' in str(error.value)

    before = indim.load(FOREIGN, outputs=["0"])
    assert (before.outputs, [declared.name for declared in before.inputs]) == (("0",), ["x"])
    x = np.array([1, 2], np.float32)
    doubled = before(x)
    np.testing.assert_array_equal(doubled, 2 * x)
    behind = indim.load(FOREIGN, inputs=["1#0", "1#1"])
    assert [declared.name for declared in behind.inputs] == ["k", "1#0", "1#1"]
    results = behind(x, doubled, x)
    np.testing.assert_array_equal(results, doubled * x + x)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(behind))(x, doubled, x), results)


def test_names_of_a_part_are_lists_of_values_that_exist():
    with pytest.raises(TypeError, match="inputs is a list of names"):
        indim.load(FOREIGN, inputs="1#0")
    with pytest.raises(indim.FormatError, match="no value is called nothing"):
        indim.load(FOREIGN, outputs=["nothing"])


CHAIN = b"""
func.func @main(%x: tensor<2xf32> loc("x"), %k: tensor<2xf32> loc("k")) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1:2 = stablehlo.custom_call @both(%0, %k)
      : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = stablehlo.multiply %1#0, %0 : tensor<2xf32>
  %3 = stablehlo.custom_call @last(%2) : (tensor<2xf32>) -> tensor<2xf32>
  %4 = stablehlo.add %3, %1#1 : tensor<2xf32>
  return %4, %2 : tensor<2xf32>, tensor<2xf32>
}
"""


def test_functions_compute_the_nodes_that_indim_lacks():
    calls = []

    def both(a, b):
        calls.append((a, b))
        return a - b, a * b

    functions = {"stablehlo.custom_call @both": both, "3": np.negative}
    model = indim.load(CHAIN, provide=functions)
    assert isinstance(model, indim.ProvidedModel)
    assert ([declared.name for declared in model.inputs], len(model.outputs)) == (["x", "k"], 2)
    x, k = np.array([1, 2], np.float32), np.array([3, 5], np.float32)
    for results in (model(x, k), model(k=k, x=x), indim.load(CHAIN, provide=functions)(x, k)):
        product = (2 * x - k) * 2 * x
        np.testing.assert_array_equal(results[0], -product + 2 * x * k)
        np.testing.assert_array_equal(results[1], product)
    np.testing.assert_array_equal(calls[0], (2 * x, k))
    assert repr(model).startswith("<indim.ProvidedModel (x: float32[2], k: float32[2]) -> ")


def test_a_program_with_a_foreign_operation_is_checked_and_completed():
    model = indim.load(FOREIGN)
    assert model.lint().broadcasts == indim.lint(FOREIGN).broadcasts
    assert repr(model) == "<indim.OpaqueModel of '<bytes>': functions for none>"
    for use in (lambda: model.inputs, lambda: model.outputs, lambda: model.to("onnx")):
        with pytest.raises(indim.FormatError, match="custom_call @foreign is not supported"):
            use()
    operator = "stablehlo.custom_call @foreign"
    assert model.provide(operator, lambda x: (x, 2 * x)) is model
    assert [declared.name for declared in model.inputs] == ["x", "k"]
    x, k = np.array([1, 2], np.float32), np.array([3, 5], np.float32)
    np.testing.assert_array_equal(model(x, k), 8 * x * x + k)
    # Another function for the same operation replaces the first.
    np.testing.assert_array_equal(model.provide(operator, lambda x: (x, x))(x=x, k=k), 4 * x * x + k)
    provided = indim.load(FOREIGN, provide={operator: lambda x: (x, x)})
    assert provided.lint().broadcasts == model.lint().broadcasts
    # An unknown name leaves the model as it is.
    with pytest.raises(ValueError, match="provide has a function for 'other'"):
        model.provide("other", np.negative)
    np.testing.assert_array_equal(model(x, k), 4 * x * x + k)


def test_a_part_needs_only_the_functions_of_its_nodes():
    middle = indim.load(CHAIN, outputs=["2"], provide={"stablehlo.custom_call @both": lambda a, b: (a, b)})
    x, k = np.array([1, 2], np.float32), np.array([3, 5], np.float32)
    np.testing.assert_array_equal(middle(x, k), 4 * x * x)
    behind = indim.load(CHAIN, inputs=["1#0", "1#1"], provide={"3": np.negative})
    results = behind(x=x, **{"1#0": k, "1#1": x})
    np.testing.assert_array_equal(results[0], -(k * 2 * x) + x)
    with pytest.raises(indim.FormatError, match="custom_call @last is not supported") as error:
        indim.load(CHAIN, provide={"stablehlo.custom_call @both": np.add})
    assert error.value.code == "unsupported-op"


@pytest.mark.parametrize("name", ["stablehlo.custom_call @bot", "stablehlo.add", "9"])
def test_a_function_for_no_foreign_node_is_an_error(name):
    functions = {"stablehlo.custom_call @both": lambda a, b: (a, b), "3": np.negative, name: np.negative}
    with pytest.raises(ValueError, match=f"function for '{name}', but .*: 'stablehlo.custom_call @both', "):
        indim.load(CHAIN, provide=functions)


def test_results_of_functions_are_checked():
    x = np.array([1, 2], np.float32)
    one = indim.load(CHAIN, provide={"stablehlo.custom_call @both": np.add, "3": np.negative})
    with pytest.raises(ValueError, match="has 2 results, 1 were returned"):
        one(x, x)
    functions = {"1#0": lambda a, b: (a, b), "3": lambda a: np.zeros(3, np.float32)}
    wide = indim.load(CHAIN, outputs=["4"], provide=functions)
    with pytest.raises(indim.FormatError) as error:
        wide(x, x)
    assert error.value.code == "input-type"


def test_models_with_functions_are_pickled():
    model = pickle.loads(pickle.dumps(indim.load(CHAIN, outputs=["2"], provide={"1#0": np.frexp})))
    assert [declared.name for declared in model.inputs] == ["x", "k"]


IN_A_BRANCH = b"""
func.func @main(%x: tensor<2xf32> loc("x"), %i: tensor<i32> loc("i")) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = "stablehlo.case"(%i) ({
    %2 = stablehlo.custom_call @foreign(%0) : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %2 : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  %3 = stablehlo.negate %1 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
"""


def test_a_branch_with_a_foreign_node_is_provided_as_a_whole():
    with pytest.raises(ValueError, match="in a body of stablehlo.case 1,.*provide {'1': function} instead"):
        indim.load(IN_A_BRANCH, provide={"stablehlo.custom_call @foreign": np.negative})

    def case(i, x, doubled):
        return np.sqrt(doubled) if i == 0 else x

    model = indim.load(IN_A_BRANCH, provide={"1": case})
    assert [declared.name for declared in model.inputs] == ["x", "i"]
    x = np.array([2, 8], np.float32)
    np.testing.assert_array_equal(model(x, 0), [-2, -4])
    np.testing.assert_array_equal(model(x, 1), -x)


def test_a_body_that_reads_an_operand_of_its_branch_does_not_give_it_twice():
    negated = b"%2 = stablehlo.custom_call @foreign(%0) : (tensor<2xf32>) -> tensor<2xf32>"
    read = negated.replace(b"(%0) : (tensor<2xf32>)", b"(%0, %i) : (tensor<2xf32>, tensor<i32>)")
    model = indim.load(IN_A_BRANCH.replace(negated, read), provide={"1": lambda i, x, doubled: doubled + x})
    np.testing.assert_array_equal(model(np.array([2, 8], np.float32), 1), [-6, -24])


def message(*fields):
    """A message of protobuf: each field is its number with an integer, a text or an inner message."""

    def varint(number):
        return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)

    def encoded(number, content):
        if isinstance(content, int):
            return varint(8 * number) + varint(content)
        content = content.encode() if isinstance(content, str) else content
        return varint(8 * number + 2) + varint(len(content)) + content

    return b"".join(encoded(*field) for field in fields)


def onnx_node(operator, operands, results, domain=""):
    names = [*((1, name) for name in operands), *((2, name) for name in results)]
    return message(*names, (4, operator), (7, domain))


def onnx_value(name):
    sizes = message((1, message((1, 2))))
    return message((1, name), (2, message((1, message((1, 1), (2, sizes))))))


def whitened_twice():
    """y = -f(-f(x)), by two calls of a function of the model; f is foreign."""
    inner = [onnx_node("Foreign", ["p"], ["q"], "com.acme"), onnx_node("Neg", ["q"], ["r"])]
    opsets = [message((1, ""), (2, 17)), message((1, "com.acme"), (2, 1)), message((1, "my"), (2, 1))]
    names = [(1, "Whitened"), (10, "my"), (4, "p"), (5, "r")]
    function = message(*names, *((7, node) for node in inner), *((9, opset) for opset in opsets[:2]))
    calls = [onnx_node("Whitened", ["x"], ["a"], "my"), onnx_node("Whitened", ["a"], ["y"], "my")]
    graph = message(*((1, call) for call in calls), (2, "g"), (11, onnx_value("x")), (12, onnx_value("y")))
    return message((1, 8), (7, graph), *((8, opset) for opset in opsets), (25, function))


def test_nodes_of_called_functions_are_provided():
    content = whitened_twice()
    with pytest.raises(indim.FormatError, match="com.acme.Foreign is not supported"):
        indim.load(content)(np.ones(2, np.float32))
    model = indim.load(content, provide={"com.acme.Foreign": lambda x: x + 10})
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(model(x), x)
    assert model.to("onnx").carried == {"com.acme.Foreign": 2, "Neg": 2}
    # By the name of its result in the first call, and from there on.
    part = indim.load(content, inputs=["a::q"], outputs=["a"])
    np.testing.assert_array_equal(part(x), -x)


POSITIONS = b"""<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="4"/>
<output><port id="0" precision="FP32" names="x"><dim>4</dim></port></output></layer>
<layer id="1" name="i" type="NonZero" version="opset3"><data output_type="i64"/>
<input><port id="0"><dim>4</dim></port></input>
<output><port id="1" precision="I64" names="i"><dim>1</dim><dim>-1</dim></port></output></layer>
<layer id="2" name="f" type="Parameter" version="opset1"><data element_type="i64" shape="1,1"/>
<output><port id="0" precision="I64" names="f"><dim>1</dim><dim>1</dim></port></output></layer>
<layer id="3" name="m" type="Multiply" version="opset1">
<input><port id="0"><dim>1</dim><dim>-1</dim></port><port id="1"><dim>1</dim><dim>1</dim></port></input>
<output><port id="2" precision="I64" names="m"><dim>1</dim><dim>-1</dim></port></output></layer>
<layer id="4" name="r" type="Result" version="opset1">
<input><port id="0"><dim>1</dim><dim>-1</dim></port></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="3" to-port="0"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="3" from-port="2" to-layer="4" to-port="0"/></edges></net>"""


def test_a_model_with_sizes_from_data_runs_in_stages():
    model = indim.load(POSITIONS)
    assert ([declared.name for declared in model.inputs], model.outputs) == (["x", "f"], ("m",))
    factor = np.array([[10]], np.int64)
    for x in ([0, 2, -1, 0], [0, 0, 0, 0], [np.nan, 1, 1, 1]):
        x = np.array(x, np.float32)
        expected = np.flatnonzero(x)[None, :] * 10
        for given in (x, np.repeat(x, 2)[::2]):
            result = model(given, f=factor)
            assert result.dtype == np.int64
            np.testing.assert_array_equal(result, expected)
    with pytest.raises(indim.FormatError, match="NonZero is not supported") as error:
        model.to("onnx")
    assert error.value.code == "unsupported-op"
    with pytest.raises(indim.FormatError) as error:
        model(np.zeros(3, np.float32), factor)
    assert error.value.code == "input-type"
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again(np.ones(4, np.float32), factor), [[0, 10, 20, 30]])


def test_stages_take_masks_and_obey_the_memory_limit():
    text = POSITIONS.replace(b'element_type="f32"', b'element_type="boolean"').replace(b"FP32", b"BOOL")
    model, factor = indim.load(text), np.array([[10]], np.int64)
    # Any byte but 0 is true.
    mask = np.array([0, 2, 1, 0], np.uint8).view(bool)
    for given in (mask, np.repeat(mask, 2)[::2]):
        np.testing.assert_array_equal(model(given, factor), [[10, 20]])
    indim.limit_memory(1)
    try:
        with pytest.raises(MemoryError, match="memory"):
            indim.load(POSITIONS, outputs=["i"])(np.ones(4, np.float32))
    finally:
        indim.limit_memory(None)


def test_nodes_that_indim_lacks_are_copied_into_a_file_of_the_same_format(tmp_path):
    functions = {"stablehlo.custom_call @both": lambda a, b: (a + b, a - b), "3": np.negative}
    model = indim.load(CHAIN, provide=functions)
    path = tmp_path / "written.mlir"
    written = model.to("stablehlo", path=path)
    assert written.carried == {"stablehlo.custom_call @both": 1, "stablehlo.custom_call @last": 1}
    assert path.read_bytes() == written.content
    inputs = {declared.name: np.ones(declared.shape, declared.dtype) for declared in model.inputs}
    again = indim.load(path, provide=functions)
    np.testing.assert_array_equal(again(**inputs), model(**inputs))
    with pytest.raises(indim.FormatError, match="custom_call @both"):
        model.to("onnx")


def test_a_loop_is_copied_into_a_file_of_the_same_format():
    text = b"""
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.add %x, %x : tensor<2xf32>
  %2:2 = stablehlo.while(%i = %0, %v = %1) : tensor<i32>, tensor<2xf32>
   cond {
    %3 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.compare LT, %i, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %3 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %i, %3 : tensor<i32>
    %5 = stablehlo.add %v, %x : tensor<2xf32>
    stablehlo.return %4, %5 : tensor<i32>, tensor<2xf32>
  }
  return %2#1 : tensor<2xf32>
}
"""
    written = indim.load(text).to("stablehlo")
    assert written.carried == {"stablehlo.while": 1}
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(indim.load(written.content)(x), 5 * x)
    assert indim.load(ADD).to("stablehlo").carried == {}
    with pytest.raises(indim.FormatError, match="while"):
        indim.load(text).to("hlo")
