#loc1 = loc("a.py":3:4)
func.func @main(%0: tensor<f32> loc("x"), %1: tensor<f32> loc(#loc2), %2: tensor<f32> loc(#loc1), %3: tensor<f32> loc("x"), %4: tensor<f32>) -> (tensor<f32> {jax.result_info = "result['loss']"}, tensor<f32>) {
  return %0, %4 : tensor<f32>, tensor<f32>
}
#loc2 = loc("y"(#loc1))
