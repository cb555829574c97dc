func.func @main(%x: tensor<2x3xi32>, %p: tensor<3xi1>, %i: tensor<i32>) -> (tensor<2xi32>, tensor<i32>, tensor<i1>, tensor<i1>, tensor<3xi32>, tensor<3xi32>) {
  %f = stablehlo.constant dense<false> : tensor<i1>
  %t = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
  %1 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.reduce(%p init: %f) applies stablehlo.add across dimensions = [0] : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
  %3 = stablehlo.reduce(%p init: %t) applies stablehlo.multiply across dimensions = [0] : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
  %4:2 = stablehlo.reduce(%x init: %i), (%x init: %i) across dimensions = [0] : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<3xi32>, tensor<3xi32>)
   reducer(%a: tensor<i32>, %c: tensor<i32>) (%b: tensor<i32>, %d: tensor<i32>) {
    %s = stablehlo.add %a, %c : tensor<i32>
    %m = stablehlo.minimum %d, %b : tensor<i32>
    stablehlo.return %s, %m : tensor<i32>, tensor<i32>
  }
  return %0, %1, %2, %3, %4#0, %4#1 : tensor<2xi32>, tensor<i32>, tensor<i1>, tensor<i1>, tensor<3xi32>, tensor<3xi32>
}
