module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x11xf32>, %arg1: tensor<3x11xf32>, %arg2: tensor<3x11xf32>, %arg3: tensor<3x11xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<3xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0:4 = stablehlo.reduce(%arg0 init: %cst), (%arg1 init: %cst_0), (%arg2 init: %cst_1), (%arg3 init: %cst_2) across dimensions = [1] : (tensor<3x11xf32>, tensor<3x11xf32>, tensor<3x11xf32>, tensor<3x11xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
     reducer(%arg4: tensor<f32>, %arg8: tensor<f32>) (%arg5: tensor<f32>, %arg9: tensor<f32>) (%arg6: tensor<f32>, %arg10: tensor<f32>) (%arg7: tensor<f32>, %arg11: tensor<f32>)  {
      %1 = stablehlo.multiply %arg4, %arg8 : tensor<f32>
      %2 = stablehlo.multiply %arg5, %arg10 : tensor<f32>
      %3 = stablehlo.add %1, %2 : tensor<f32>
      %4 = stablehlo.multiply %arg4, %arg9 : tensor<f32>
      %5 = stablehlo.multiply %arg5, %arg11 : tensor<f32>
      %6 = stablehlo.add %4, %5 : tensor<f32>
      %7 = stablehlo.multiply %arg6, %arg8 : tensor<f32>
      %8 = stablehlo.multiply %arg7, %arg10 : tensor<f32>
      %9 = stablehlo.add %7, %8 : tensor<f32>
      %10 = stablehlo.multiply %arg6, %arg9 : tensor<f32>
      %11 = stablehlo.multiply %arg7, %arg11 : tensor<f32>
      %12 = stablehlo.add %10, %11 : tensor<f32>
      stablehlo.return %3, %6, %9, %12 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    }
    return %0#0, %0#1, %0#2, %0#3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
}

