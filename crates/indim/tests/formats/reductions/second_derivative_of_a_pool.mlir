module @jit_second_derivative_of_a_pool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x4x5x1xf32>, %arg1: tensor<1x4x5x1xf32>) -> (tensor<1x4x5x1xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %13 = stablehlo.minimum %arg2, %arg3 : tensor<f32>
      stablehlo.return %13 : tensor<f32>
    }) : (tensor<1x4x5x1xf32>, tensor<f32>) -> tensor<1x4x5x1xf32>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2:2 = "stablehlo.reduce_window"(%arg0, %arg1, %cst_0, %cst_1) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %13 = stablehlo.compare LE, %arg2, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %14 = stablehlo.select %13, %arg2, %arg4 : tensor<i1>, tensor<f32>
      %15 = stablehlo.select %13, %arg3, %arg5 : tensor<i1>, tensor<f32>
      stablehlo.return %14, %15 : tensor<f32>, tensor<f32>
    }) : (tensor<1x4x5x1xf32>, tensor<1x4x5x1xf32>, tensor<f32>, tensor<f32>) -> (tensor<1x4x5x1xf32>, tensor<1x4x5x1xf32>)
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x4x5x1xf32>
    %4 = stablehlo.multiply %3, %1 : tensor<1x4x5x1xf32>
    %5 = stablehlo.multiply %2#1, %4 : tensor<1x4x5x1xf32>
    %cst_3 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x4x5x1xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<1x4x5x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x4x5x1xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<1x4x5x1xf32>
    %cst_5 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %10 = stablehlo.pad %arg0, %cst_5, low = [0, 0, 0, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<1x4x5x1xf32>, tensor<f32>) -> tensor<1x5x6x1xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = "stablehlo.select_and_scatter"(%10, %9, %cst_6) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %13 = stablehlo.compare LE, %arg2, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    }, {
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %13 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %13 : tensor<f32>
    }) : (tensor<1x5x6x1xf32>, tensor<1x4x5x1xf32>, tensor<f32>) -> tensor<1x5x6x1xf32>
    %12 = stablehlo.slice %11 [0:1, 0:4, 0:5, 0:1] : (tensor<1x5x6x1xf32>) -> tensor<1x4x5x1xf32>
    return %12 : tensor<1x4x5x1xf32>
  }
}

