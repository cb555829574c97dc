#loc1 = loc("input x")
#dims = array<i64: 1>
!row = tensor<3xf32>
module @m attributes {mhlo.frontend_attributes = {a = "{\"b\": [1, 2}"}} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: !row {jax.arg_info = "x[0]{"} loc("x"), %p: tensor<i1>) -> (tensor<2x3xf32> {jax.result_info = "result}"}, tensor<2xi32>) attributes {foo.bar = [1, "a", @main]} {
    // a comment with a } brace
    %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = #dims}> : (!row) -> tensor<2x3xf32> loc(#loc2)
    %1 = stablehlo.negate %0 {foo = {bar = "}"}} : tensor<2x3xf32> loc(callsite("f"("a.py":1:2 to :9) at fused<"p">["g", unknown]))
    %2:2 = call @"two results"(%1) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
    %cst = stablehlo.constant dense<[1.5, -0.0, 0x7FC00000]> : !row
    %3 = stablehlo.constant dense_resource<blob> : tensor<2xi32>
    return %2#0, %3 : tensor<2x3xf32>, tensor<2xi32>
  } loc(#loc1)
  func.func private @"two results"(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
    %z = stablehlo.constant dense<"0x00000000"> : tensor<f32>
    %s = stablehlo.reduce(%a init: %z) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
     reducer(%x: tensor<f32>, %y: tensor<f32>)  {
      %r = stablehlo.maximum %y, %x : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }
    %t = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%u: tensor<f32>):
      %v = chlo.erf %u : tensor<f32> -> tensor<f32>
      "stablehlo.return"(%v) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %t, %s : tensor<2x3xf32>, tensor<2xf32>
  }
}
#loc2 = loc("jit(f)/{odd \" name}"(#loc1))
{-# dialect_resources: { builtin: { blob: "0x040000000100000002000000" } } #-}
