module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x5xf32>, %arg1: tensor<7x5xf32>, %arg2: tensor<7x5xf32>) -> (tensor<5xf32> {jax.result_info = "result[0]"}, tensor<5xf32> {jax.result_info = "result[1]"}, tensor<5xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0:3 = stablehlo.reduce(%arg0 init: %cst), (%arg1 init: %cst_0), (%arg2 init: %cst_1) across dimensions = [0] : (tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>)
     reducer(%arg3: tensor<f32>, %arg6: tensor<f32>) (%arg4: tensor<f32>, %arg7: tensor<f32>) (%arg5: tensor<f32>, %arg8: tensor<f32>)  {
      %1 = stablehlo.add %arg5, %arg8 : tensor<f32>
      %2 = stablehlo.subtract %arg6, %arg3 : tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.compare GT, %1, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.divide %arg8, %1 : tensor<f32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %5 = func.call @_where(%3, %4, %c) : (tensor<i1>, tensor<f32>, tensor<i32>) -> tensor<f32>
      %6 = stablehlo.multiply %2, %5 : tensor<f32>
      %7 = stablehlo.add %arg3, %6 : tensor<f32>
      %8 = stablehlo.add %arg4, %arg7 : tensor<f32>
      %9 = stablehlo.multiply %2, %2 : tensor<f32>
      %10 = stablehlo.multiply %9, %arg5 : tensor<f32>
      %11 = stablehlo.multiply %10, %5 : tensor<f32>
      %12 = stablehlo.add %8, %11 : tensor<f32>
      stablehlo.return %7, %12, %1 : tensor<f32>, tensor<f32>, tensor<f32>
    }
    return %0#0, %0#1, %0#2 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
}

