// Structured ops as no front end writes them all; structured.py says what they compute.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#b_turned = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// Contractions to upstream, but no plain products.
func.func @product_of_functions(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %e = math.exp %p : f32
    %pq = arith.mulf %e, %q : f32
    %n = arith.negf %pq : f32
    %s = arith.addf %n, %o : f32
    linalg.yield %s : f32
  }
  return
}
func.func @product_of_one(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pp = arith.mulf %p, %p : f32
    %s = arith.addf %o, %pp : f32
    linalg.yield %s : f32
  }
  return
}
// Operands exchanged and turned, and accumulated onto what is there.
func.func @product_turned(%x: memref<?x?xf16>, %w: memref<?x?xf16>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b_turned, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x?xf16>, memref<?x?xf16>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f16, %q: f16, %o: f32):
    %pw = arith.extf %p : f16 to f32
    %qw = arith.extf %q : f16 to f32
    %pq = arith.mulf %qw, %pw : f32
    %s = arith.addf %pq, %o : f32
    linalg.yield %s : f32
  }
  return
}
// A sum over two dimensions, one of them the outermost, and a largest element of what
// is repeated.
func.func @sum_of_two(%x: memref<?x?x?xf32>, %y: memref<?xf32>) {
  linalg.reduce ins(%x : memref<?x?x?xf32>) outs(%y : memref<?xf32>) dimensions = [0, 2]
      (%p: f32, %o: f32) {
        %s = arith.addf %p, %o : f32
        linalg.yield %s : f32
      }
  return
}
func.func @largest(%x: memref<1x?xf32>, %y: memref<?x1xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (d0, 0)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1x?xf32>) outs(%y : memref<?x1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.maxnumf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
// Two outputs, each from what the other was.
func.func @exchange(%y: memref<?x?xf32>, %z: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #turned], iterator_types = ["parallel", "parallel"]}
      outs(%y, %z : memref<?x?xf32>, memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %q, %p : f32, f32
  }
  return
}
// Functions that chips do not have, in 16 bits.
func.func @functions(%x: memref<?x?xf16>, %y: memref<?x?xf16>) {
  linalg.tanh ins(%x : memref<?x?xf16>) outs(%x : memref<?x?xf16>)
  linalg.erf ins(%y : memref<?x?xf16>) outs(%y : memref<?x?xf16>)
  return
}
// Loops that do not run.
func.func @nothing(%x: memref<0x8xf32>, %y: memref<8xf32>) {
  linalg.reduce ins(%x : memref<0x8xf32>) outs(%y : memref<8xf32>) dimensions = [0]
      (%p: f32, %o: f32) {
        %s = arith.addf %p, %o : f32
        linalg.yield %s : f32
      }
  return
}
// Numbers that the body takes from the function.
func.func @captured(%y: memref<?x?xi64>, %n: i64) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%y : memref<?x?xi64>) {
  ^bb0(%o: i64):
    %s = arith.muli %o, %n : i64
    linalg.yield %s : i64
  }
  return
}
