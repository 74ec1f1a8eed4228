func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "no.such"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
