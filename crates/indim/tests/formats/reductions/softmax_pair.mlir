module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x5xf32>, %arg1: tensor<7x5xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0:2 = stablehlo.reduce(%arg0 init: %cst), (%arg1 init: %cst_0) across dimensions = [1, 0] : (tensor<7x5xf32>, tensor<7x5xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     reducer(%arg2: tensor<f32>, %arg4: tensor<f32>) (%arg3: tensor<f32>, %arg5: tensor<f32>)  {
      %1 = stablehlo.maximum %arg2, %arg4 : tensor<f32>
      %2 = stablehlo.subtract %arg2, %1 : tensor<f32>
      %3 = stablehlo.exponential %2 : tensor<f32>
      %4 = stablehlo.multiply %arg3, %3 : tensor<f32>
      %5 = stablehlo.subtract %arg4, %1 : tensor<f32>
      %6 = stablehlo.exponential %5 : tensor<f32>
      %7 = stablehlo.multiply %arg5, %6 : tensor<f32>
      %8 = stablehlo.add %4, %7 : tensor<f32>
      stablehlo.return %1, %8 : tensor<f32>, tensor<f32>
    }
    return %0#0, %0#1 : tensor<f32>, tensor<f32>
  }
}

