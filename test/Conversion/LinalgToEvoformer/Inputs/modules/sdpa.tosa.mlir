// scaled_dot_product_attention.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

module {
  func.func @sdpa(%arg0: tensor<2x2x5x4xf32>, %arg1: tensor<2x2x7x4xf32>, %arg2: tensor<2x2x7x4xf32>) -> tensor<2x2x5x4xf32> {
    %0 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<2x2x5x7xf32>}> : () -> tensor<2x2x5x7xf32>
    %1 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %2 = tosa.const_shape  {values = dense<[4, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %3 = tosa.const_shape  {values = dense<[4, 4, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %4 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %5 = tosa.const_shape  {values = dense<[2, 2, 5, 7]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %6 = tosa.const_shape  {values = dense<[4, 5, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.const_shape  {values = dense<[4, 7, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %8 = tosa.const_shape  {values = dense<[2, 2, 5, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %9 = "tosa.const"() <{values = dense<0.707106769> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %10 = "tosa.const"() <{values = dense<0xFFF0000000000000> : tensor<1x1x1x1xf64>}> : () -> tensor<1x1x1x1xf64>
    %11 = tosa.mul %arg0, %9, %1 : (tensor<2x2x5x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x5x4xf32>
    %12 = tosa.transpose %arg1 {perms = array<i32: 0, 1, 3, 2>} : (tensor<2x2x7x4xf32>) -> tensor<2x2x4x7xf32>
    %13 = tosa.mul %12, %9, %1 : (tensor<2x2x4x7xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x4x7xf32>
    %14 = tosa.reshape %11, %2 : (tensor<2x2x5x4xf32>, !tosa.shape<3>) -> tensor<4x5x4xf32>
    %15 = tosa.reshape %13, %3 : (tensor<2x2x4x7xf32>, !tosa.shape<3>) -> tensor<4x4x7xf32>
    %16 = tosa.matmul %14, %15, %4, %4 : (tensor<4x5x4xf32>, tensor<4x4x7xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x5x7xf32>
    %17 = tosa.reshape %16, %5 : (tensor<4x5x7xf32>, !tosa.shape<4>) -> tensor<2x2x5x7xf32>
    %18 = tosa.reduce_max %17 {axis = 3 : i32} : (tensor<2x2x5x7xf32>) -> tensor<2x2x5x1xf32>
    %19 = tosa.sub %17, %18 : (tensor<2x2x5x7xf32>, tensor<2x2x5x1xf32>) -> tensor<2x2x5x7xf32>
    %20 = tosa.exp %19 : (tensor<2x2x5x7xf32>) -> tensor<2x2x5x7xf32>
    %21 = tosa.reduce_sum %20 {axis = 3 : i32} : (tensor<2x2x5x7xf32>) -> tensor<2x2x5x1xf32>
    %22 = tosa.reciprocal %21 : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %23 = tosa.mul %20, %22, %1 : (tensor<2x2x5x7xf32>, tensor<2x2x5x1xf32>, tensor<1xi8>) -> tensor<2x2x5x7xf32>
    %24 = tosa.cast %17 : (tensor<2x2x5x7xf32>) -> tensor<2x2x5x7xf64>
    %25 = tosa.equal %24, %10 : (tensor<2x2x5x7xf64>, tensor<1x1x1x1xf64>) -> tensor<2x2x5x7xi1>
    %26 = tosa.reduce_all %25 {axis = 3 : i32} : (tensor<2x2x5x7xi1>) -> tensor<2x2x5x1xi1>
    %27 = tosa.select %26, %0, %23 : (tensor<2x2x5x1xi1>, tensor<2x2x5x7xf32>, tensor<2x2x5x7xf32>) -> tensor<2x2x5x7xf32>
    %28 = tosa.reshape %27, %6 : (tensor<2x2x5x7xf32>, !tosa.shape<3>) -> tensor<4x5x7xf32>
    %29 = tosa.reshape %arg2, %7 : (tensor<2x2x7x4xf32>, !tosa.shape<3>) -> tensor<4x7x4xf32>
    %30 = tosa.matmul %28, %29, %4, %4 : (tensor<4x5x7xf32>, tensor<4x7x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x5x4xf32>
    %31 = tosa.reshape %30, %8 : (tensor<4x5x4xf32>, !tosa.shape<4>) -> tensor<2x2x5x4xf32>
    return %31 : tensor<2x2x5x4xf32>
  }
}
