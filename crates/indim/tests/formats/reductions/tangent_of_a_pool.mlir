module @jit_tangent_of_a_pool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x5x6x2xf32>, %arg1: tensor<1x5x6x2xf32>) -> (tensor<1x3x3x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0:2 = "stablehlo.reduce_window"(%arg0, %arg1, %cst, %cst_0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %1 = stablehlo.compare GE, %arg2, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %arg2, %arg4 : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %arg3, %arg5 : tensor<i1>, tensor<f32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<f32>
    }) : (tensor<1x5x6x2xf32>, tensor<1x5x6x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>)
    return %0#1 : tensor<1x3x3x2xf32>
  }
}

