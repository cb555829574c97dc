!pair = tuple<tensor<2xf32>, tuple<tensor<i32>>>
func.func private @half(%a: tensor<2xf32>) -> tensor<2xf32> {
  %h = stablehlo.constant dense<0.5> : tensor<2xf32>
  %r = stablehlo.multiply %a, %h : tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @main(%p: !pair, %n: tensor<f32>) -> (tensor<2xf32>, tensor<2xi32>, !pair) {
  %x = stablehlo.get_tuple_element %p[0] : (!pair) -> tensor<2xf32>
  %q = stablehlo.get_tuple_element %p[1] : (!pair) -> tuple<tensor<i32>>
  %a = stablehlo.composite "my.half" %x {composite_attributes = {n = 1 : i64}, decomposition = @half, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %b = "stablehlo.map"(%x, %a) <{dimensions = array<i64: 0>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %s = stablehlo.add %u, %one : tensor<f32>
    %t = stablehlo.add %s, %n : tensor<f32>
    %m = stablehlo.multiply %t, %v : tensor<f32>
    %i = stablehlo.convert %m : (tensor<f32>) -> tensor<i32>
    stablehlo.return %i : tensor<i32>
  }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi32>
  %c = stablehlo.tuple %a, %q : !pair
  return %a, %b, %c : tensor<2xf32>, tensor<2xi32>, !pair
}
