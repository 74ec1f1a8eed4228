// What the first op overwrites is read by the second.
func.func @f(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.add ins(%0, %out : tensor<4xf32>, tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
