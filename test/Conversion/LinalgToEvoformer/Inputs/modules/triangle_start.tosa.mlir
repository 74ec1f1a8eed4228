// OpenFold's triangle attention around the starting node, f32.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.
// Masks of 0 and 1: %arg1.

module {
  func.func @triangle_start(%arg0: tensor<2x5x5x6xf32>, %arg1: tensor<2x5x5xf32>, %arg2: tensor<2x6xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<8x6xf32>, %arg5: tensor<8x6xf32>, %arg6: tensor<8x6xf32>, %arg7: tensor<6x8xf32>) -> tensor<2x5x5x6xf32> {
    %0 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %1 = tosa.const_shape  {values = dense<[2, 5, 1, 1, 5]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %2 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %3 = tosa.const_shape  {values = dense<[1, 50, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %4 = tosa.const_shape  {values = dense<[1, 6, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %5 = tosa.const_shape  {values = dense<[2, 5, 5, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %6 = tosa.const_shape  {values = dense<[2, 1, 2, 5, 5]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %7 = tosa.const_shape  {values = dense<[1, 6, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %8 = tosa.const_shape  {values = dense<[2, 5, 5, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %9 = tosa.const_shape  {values = dense<[2, 5, 5, 2, 4]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %10 = tosa.const_shape  {values = dense<[20, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %11 = tosa.const_shape  {values = dense<[20, 4, 5]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %12 = tosa.const_shape  {values = dense<[2, 5, 2, 5, 5]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %13 = tosa.const_shape  {values = dense<[20, 5, 5]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %14 = tosa.const_shape  {values = dense<[2, 5, 2, 5, 4]> : tensor<5xindex>} : () -> !tosa.shape<5>
    %15 = tosa.const_shape  {values = dense<[1, 50, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %16 = tosa.const_shape  {values = dense<[1, 8, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %17 = tosa.const_shape  {values = dense<[2, 5, 5, 6]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %18 = "tosa.const"() <{values = dense<0.16666666666666666> : tensor<1x1x1x1xf64>}> : () -> tensor<1x1x1x1xf64>
    %19 = "tosa.const"() <{values = dense<0.166666672> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %20 = "tosa.const"() <{values = dense<9.99999974E-6> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %21 = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %22 = "tosa.const"() <{values = dense<1.000000e+09> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %23 = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1x1x1x1x1xf32>}> : () -> tensor<1x1x1x1x1xf32>
    %24 = tosa.cast %arg0 : (tensor<2x5x5x6xf32>) -> tensor<2x5x5x6xf64>
    %25 = tosa.reduce_sum %24 {axis = 3 : i32} : (tensor<2x5x5x6xf64>) -> tensor<2x5x5x1xf64>
    %26 = tosa.mul %25, %18, %0 : (tensor<2x5x5x1xf64>, tensor<1x1x1x1xf64>, tensor<1xi8>) -> tensor<2x5x5x1xf64>
    %27 = tosa.sub %24, %26 : (tensor<2x5x5x6xf64>, tensor<2x5x5x1xf64>) -> tensor<2x5x5x6xf64>
    %28 = tosa.mul %27, %27, %0 : (tensor<2x5x5x6xf64>, tensor<2x5x5x6xf64>, tensor<1xi8>) -> tensor<2x5x5x6xf64>
    %29 = tosa.reduce_sum %28 {axis = 3 : i32} : (tensor<2x5x5x6xf64>) -> tensor<2x5x5x1xf64>
    %30 = tosa.mul %29, %18, %0 : (tensor<2x5x5x1xf64>, tensor<1x1x1x1xf64>, tensor<1xi8>) -> tensor<2x5x5x1xf64>
    %31 = tosa.cast %30 : (tensor<2x5x5x1xf64>) -> tensor<2x5x5x1xf32>
    %32 = tosa.reduce_sum %arg0 {axis = 3 : i32} : (tensor<2x5x5x6xf32>) -> tensor<2x5x5x1xf32>
    %33 = tosa.mul %32, %19, %0 : (tensor<2x5x5x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x5x1xf32>
    %34 = tosa.add %31, %20 : (tensor<2x5x5x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x5x5x1xf32>
    %35 = tosa.rsqrt %34 : (tensor<2x5x5x1xf32>) -> tensor<2x5x5x1xf32>
    %36 = tosa.sub %arg0, %33 : (tensor<2x5x5x6xf32>, tensor<2x5x5x1xf32>) -> tensor<2x5x5x6xf32>
    %37 = tosa.mul %36, %35, %0 : (tensor<2x5x5x6xf32>, tensor<2x5x5x1xf32>, tensor<1xi8>) -> tensor<2x5x5x6xf32>
    %38 = tosa.sub %arg1, %21 : (tensor<2x5x5xf32>, tensor<1x1x1xf32>) -> tensor<2x5x5xf32>
    %39 = tosa.mul %38, %22, %0 : (tensor<2x5x5xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x5xf32>
    %40 = tosa.reshape %39, %1 : (tensor<2x5x5xf32>, !tosa.shape<5>) -> tensor<2x5x1x1x5xf32>
    %41 = tosa.transpose %arg2 {perms = array<i32: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
    %42 = tosa.reshape %37, %3 : (tensor<2x5x5x6xf32>, !tosa.shape<3>) -> tensor<1x50x6xf32>
    %43 = tosa.reshape %41, %4 : (tensor<6x2xf32>, !tosa.shape<3>) -> tensor<1x6x2xf32>
    %44 = tosa.matmul %42, %43, %2, %2 : (tensor<1x50x6xf32>, tensor<1x6x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x50x2xf32>
    %45 = tosa.reshape %44, %5 : (tensor<1x50x2xf32>, !tosa.shape<4>) -> tensor<2x5x5x2xf32>
    %46 = tosa.transpose %45 {perms = array<i32: 0, 3, 1, 2>} : (tensor<2x5x5x2xf32>) -> tensor<2x2x5x5xf32>
    %47 = tosa.reshape %46, %6 : (tensor<2x2x5x5xf32>, !tosa.shape<5>) -> tensor<2x1x2x5x5xf32>
    %48 = tosa.transpose %arg3 {perms = array<i32: 1, 0>} : (tensor<8x6xf32>) -> tensor<6x8xf32>
    %49 = tosa.reshape %48, %7 : (tensor<6x8xf32>, !tosa.shape<3>) -> tensor<1x6x8xf32>
    %50 = tosa.matmul %42, %49, %2, %2 : (tensor<1x50x6xf32>, tensor<1x6x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x50x8xf32>
    %51 = tosa.reshape %50, %9 : (tensor<1x50x8xf32>, !tosa.shape<5>) -> tensor<2x5x5x2x4xf32>
    %52 = tosa.transpose %51 {perms = array<i32: 0, 1, 3, 2, 4>} : (tensor<2x5x5x2x4xf32>) -> tensor<2x5x2x5x4xf32>
    %53 = tosa.mul %52, %23, %0 : (tensor<2x5x2x5x4xf32>, tensor<1x1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x2x5x4xf32>
    %54 = tosa.transpose %arg4 {perms = array<i32: 1, 0>} : (tensor<8x6xf32>) -> tensor<6x8xf32>
    %55 = tosa.reshape %54, %7 : (tensor<6x8xf32>, !tosa.shape<3>) -> tensor<1x6x8xf32>
    %56 = tosa.matmul %42, %55, %2, %2 : (tensor<1x50x6xf32>, tensor<1x6x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x50x8xf32>
    %57 = tosa.reshape %56, %9 : (tensor<1x50x8xf32>, !tosa.shape<5>) -> tensor<2x5x5x2x4xf32>
    %58 = tosa.transpose %arg5 {perms = array<i32: 1, 0>} : (tensor<8x6xf32>) -> tensor<6x8xf32>
    %59 = tosa.reshape %58, %7 : (tensor<6x8xf32>, !tosa.shape<3>) -> tensor<1x6x8xf32>
    %60 = tosa.matmul %42, %59, %2, %2 : (tensor<1x50x6xf32>, tensor<1x6x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x50x8xf32>
    %61 = tosa.reshape %60, %9 : (tensor<1x50x8xf32>, !tosa.shape<5>) -> tensor<2x5x5x2x4xf32>
    %62 = tosa.transpose %61 {perms = array<i32: 0, 1, 3, 2, 4>} : (tensor<2x5x5x2x4xf32>) -> tensor<2x5x2x5x4xf32>
    %63 = tosa.transpose %57 {perms = array<i32: 0, 1, 3, 4, 2>} : (tensor<2x5x5x2x4xf32>) -> tensor<2x5x2x4x5xf32>
    %64 = tosa.reshape %53, %10 : (tensor<2x5x2x5x4xf32>, !tosa.shape<3>) -> tensor<20x5x4xf32>
    %65 = tosa.reshape %63, %11 : (tensor<2x5x2x4x5xf32>, !tosa.shape<3>) -> tensor<20x4x5xf32>
    %66 = tosa.matmul %64, %65, %2, %2 : (tensor<20x5x4xf32>, tensor<20x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<20x5x5xf32>
    %67 = tosa.reshape %66, %12 : (tensor<20x5x5xf32>, !tosa.shape<5>) -> tensor<2x5x2x5x5xf32>
    %68 = tosa.add %67, %40 : (tensor<2x5x2x5x5xf32>, tensor<2x5x1x1x5xf32>) -> tensor<2x5x2x5x5xf32>
    %69 = tosa.add %68, %47 : (tensor<2x5x2x5x5xf32>, tensor<2x1x2x5x5xf32>) -> tensor<2x5x2x5x5xf32>
    %70 = tosa.reduce_max %69 {axis = 4 : i32} : (tensor<2x5x2x5x5xf32>) -> tensor<2x5x2x5x1xf32>
    %71 = tosa.sub %69, %70 : (tensor<2x5x2x5x5xf32>, tensor<2x5x2x5x1xf32>) -> tensor<2x5x2x5x5xf32>
    %72 = tosa.exp %71 : (tensor<2x5x2x5x5xf32>) -> tensor<2x5x2x5x5xf32>
    %73 = tosa.reduce_sum %72 {axis = 4 : i32} : (tensor<2x5x2x5x5xf32>) -> tensor<2x5x2x5x1xf32>
    %74 = tosa.reciprocal %73 : (tensor<2x5x2x5x1xf32>) -> tensor<2x5x2x5x1xf32>
    %75 = tosa.mul %72, %74, %0 : (tensor<2x5x2x5x5xf32>, tensor<2x5x2x5x1xf32>, tensor<1xi8>) -> tensor<2x5x2x5x5xf32>
    %76 = tosa.reshape %75, %13 : (tensor<2x5x2x5x5xf32>, !tosa.shape<3>) -> tensor<20x5x5xf32>
    %77 = tosa.reshape %62, %10 : (tensor<2x5x2x5x4xf32>, !tosa.shape<3>) -> tensor<20x5x4xf32>
    %78 = tosa.matmul %76, %77, %2, %2 : (tensor<20x5x5xf32>, tensor<20x5x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<20x5x4xf32>
    %79 = tosa.reshape %78, %14 : (tensor<20x5x4xf32>, !tosa.shape<5>) -> tensor<2x5x2x5x4xf32>
    %80 = tosa.transpose %79 {perms = array<i32: 0, 1, 3, 2, 4>} : (tensor<2x5x2x5x4xf32>) -> tensor<2x5x5x2x4xf32>
    %81 = tosa.transpose %arg6 {perms = array<i32: 1, 0>} : (tensor<8x6xf32>) -> tensor<6x8xf32>
    %82 = tosa.reshape %81, %7 : (tensor<6x8xf32>, !tosa.shape<3>) -> tensor<1x6x8xf32>
    %83 = tosa.matmul %42, %82, %2, %2 : (tensor<1x50x6xf32>, tensor<1x6x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x50x8xf32>
    %84 = tosa.reshape %83, %8 : (tensor<1x50x8xf32>, !tosa.shape<4>) -> tensor<2x5x5x8xf32>
    %85 = tosa.sigmoid %84 : (tensor<2x5x5x8xf32>) -> tensor<2x5x5x8xf32>
    %86 = tosa.reshape %85, %9 : (tensor<2x5x5x8xf32>, !tosa.shape<5>) -> tensor<2x5x5x2x4xf32>
    %87 = tosa.mul %80, %86, %0 : (tensor<2x5x5x2x4xf32>, tensor<2x5x5x2x4xf32>, tensor<1xi8>) -> tensor<2x5x5x2x4xf32>
    %88 = tosa.transpose %arg7 {perms = array<i32: 1, 0>} : (tensor<6x8xf32>) -> tensor<8x6xf32>
    %89 = tosa.reshape %87, %15 : (tensor<2x5x5x2x4xf32>, !tosa.shape<3>) -> tensor<1x50x8xf32>
    %90 = tosa.reshape %88, %16 : (tensor<8x6xf32>, !tosa.shape<3>) -> tensor<1x8x6xf32>
    %91 = tosa.matmul %89, %90, %2, %2 : (tensor<1x50x8xf32>, tensor<1x8x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x50x6xf32>
    %92 = tosa.reshape %91, %17 : (tensor<1x50x6xf32>, !tosa.shape<4>) -> tensor<2x5x5x6xf32>
    return %92 : tensor<2x5x5x6xf32>
  }
}
