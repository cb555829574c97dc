// Each channel of a picture shifted and scaled: what JAX makes of (x - m[:, None, None]) * s[:, None, None].
module @normalise {
  func.func public @main(%x: tensor<1x3x1x2xf32> loc("x"), %m: tensor<3xf32> loc("m"),
                         %s: tensor<3xf32> loc("s")) -> tensor<1x3x1x2xf32> {
    %0 = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x2xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<1x3x1x2xf32>
    %2 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x2xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<1x3x1x2xf32>
    return %3 : tensor<1x3x1x2xf32>
  }
}
