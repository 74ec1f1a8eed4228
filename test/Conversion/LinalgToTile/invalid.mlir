// RUN: evoformer-opt %s --convert-linalg-to-tile --split-input-file --verify-diagnostics

func.func @tensors(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is on tensors, expected memrefs: run one-shot-bufferize first}}
  %0 = linalg.copy ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @window(%x: memref<6xf32>, %w: memref<3xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{operand 0 is indexed by something else than different loops and zeros: }}
  linalg.conv_1d ins(%x, %w : memref<6xf32>, memref<3xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

func.func @index(%y: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%y : memref<4xi64>) {
  ^bb0(%o: i64):
    // expected-error @+1 {{is in the body of a linalg op that shall become a kernel, which does elementwise arith and math on integers and floats, with one result each}}
    %i = linalg.index 0 : index
    %r = arith.index_cast %i : index to i64
    linalg.yield %r : i64
  }
  return
}

// -----

func.func @product(%x: memref<4x4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{reduces otherwise than by a sum of floats, arith.maxnumf or arith.minnumf of its output and a value}}
  linalg.reduce ins(%x : memref<4x4xf32>) outs(%y : memref<4xf32>) dimensions = [1]
      (%a: f32, %b: f32) {
        %r = arith.mulf %a, %b : f32
        linalg.yield %r : f32
      }
  return
}

// -----

func.func @number(%x: memref<4xf32>, %y: memref<f32>) {
  // expected-error @+1 {{gives a single number; a kernel writes the elements of a dimension}}
  linalg.reduce ins(%x : memref<4xf32>) outs(%y : memref<f32>) dimensions = [0]
      (%a: f32, %b: f32) {
        %r = arith.addf %a, %b : f32
        linalg.yield %r : f32
      }
  return
}

// -----

func.func @elements(%x: memref<4xcomplex<f32>>, %y: memref<4xcomplex<f32>>) {
  // expected-error @+1 {{operand 0 holds 'complex<f32>'; a kernel takes integers and floats}}
  linalg.copy ins(%x : memref<4xcomplex<f32>>) outs(%y : memref<4xcomplex<f32>>)
  return
}

// -----

func.func @operand(%x: complex<f32>, %y: memref<4xcomplex<f32>>) {
  // expected-error @+1 {{operand 0 is 'complex<f32>'; a kernel takes memrefs and numbers}}
  linalg.fill ins(%x : complex<f32>) outs(%y : memref<4xcomplex<f32>>)
  return
}

// -----

func.func @outputs(%x: memref<4x5xf32>, %y: memref<4x5xf32>, %z: memref<4xf32>) {
  // expected-error @+1 {{has outputs of different dimensions}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x5xf32>) outs(%y, %z : memref<4x5xf32>, memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @results(%x: memref<4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%x : memref<4xi32>) {
  ^bb0(%o: i32):
    // expected-error @+1 {{is in the body of a linalg op that shall become a kernel, which does elementwise arith and math on integers and floats, with one result each}}
    %low, %high = arith.mulsi_extended %o, %o : i32
    linalg.yield %high : i32
  }
  return
}

// -----

func.func @reduced_output(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{operand 1 is an output with a dimension that is reduced: affine_map<(d0, d1) -> (d0, d1)>}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  return
}

// -----

func.func @whole_op(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{is no loop nest with a body, which is what kernels are made of}}
  linalg.softmax dimension(1) ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @far(%x: memref<100000x8x1024xf64>, %y: memref<1024xf64>) {
  // expected-error @+1 {{operand 0: elements of one block must lie within 4 GiB, in the order of their indices, but it is 'memref<100000x8x1024xf64>'}}
  linalg.reduce ins(%x : memref<100000x8x1024xf64>) outs(%y : memref<1024xf64>) dimensions = [0, 1]
      (%a: f64, %b: f64) {
        %r = arith.addf %a, %b : f64
        linalg.yield %r : f64
      }
  return
}
