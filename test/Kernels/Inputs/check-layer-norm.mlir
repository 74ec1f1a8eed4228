// Runs @run_layer_norm for three shapes against the definition in f64.

// ((i * p + j * q) mod 17 - 8) / 2
func.func private @value(%i: index, %j: index, %p: index, %q: index) -> f32 {
  %c17 = arith.constant 17 : index
  %c8 = arith.constant 8 : i32
  %half = arith.constant 0.5 : f32
  %ip = arith.muli %i, %p : index
  %jq = arith.muli %j, %q : index
  %s = arith.addi %ip, %jq : index
  %r = arith.remui %s, %c17 : index
  %ri = arith.index_cast %r : index to i32
  %rs = arith.subi %ri, %c8 : i32
  %f = arith.sitofp %rs : i32 to f32
  %v = arith.mulf %f, %half : f32
  return %v : f32
}

func.func private @fill(%m: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %rows = memref.dim %m, %c0 : memref<?x?xf32>
  %columns = memref.dim %m, %c1 : memref<?x?xf32>
  scf.for %i = %c0 to %rows step %c1 {
    scf.for %j = %c0 to %columns step %c1 {
      %v = func.call @value(%i, %j, %c5, %c7) : (index, index, index, index) -> f32
      memref.store %v, %m[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// 1 where got is further from want than the tolerance allows.
func.func private @is_wrong(%got: f32, %want: f64) -> index {
  // A few roundings of f32 in the exponent's argument and the sums.
  %relative = arith.constant 1.0e-06 : f64
  %g = arith.extf %got : f32 to f64
  %d = arith.subf %g, %want : f64
  %a = math.absf %d : f64
  %w = math.absf %want : f64
  %limit = arith.mulf %w, %relative : f64
  // Near zero the terms of the sum count: |x| <= 4, |gamma|, |beta| <= 1.
  %tiny = arith.constant 2.0e-06 : f64
  %bound = arith.addf %limit, %tiny : f64
  %near = arith.cmpf ole, %a, %bound : f64
  %true = arith.constant true
  %wrong = arith.xori %near, %true : i1
  %r = arith.index_castui %wrong : i1 to index
  return %r : index
}

func.func private @check(%m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c11 = arith.constant 11 : index
  %zero = arith.constant 0.0 : f64
  %epsilon = arith.constant 1.0e-05 : f64
  %quarter = arith.constant 0.25 : f32
  %x = memref.alloc(%m, %n) : memref<?x?xf32>
  %y = memref.alloc(%m, %n) : memref<?x?xf32>
  %gamma = memref.alloc(%n) : memref<?xf32>
  %beta = memref.alloc(%n) : memref<?xf32>
  func.call @fill(%x) : (memref<?x?xf32>) -> ()
  scf.for %j = %c0 to %n step %c1 {
    %g = func.call @value(%j, %c1, %c3, %c1) : (index, index, index, index) -> f32
    %gq = arith.mulf %g, %quarter : f32
    memref.store %gq, %gamma[%j] : memref<?xf32>
    %b = func.call @value(%j, %c1, %c11, %c1) : (index, index, index, index) -> f32
    %bq = arith.mulf %b, %quarter : f32
    memref.store %bq, %beta[%j] : memref<?xf32>
  }
  func.call @run_layer_norm(%x, %gamma, %beta, %y)
    : (memref<?x?xf32>, memref<?xf32>, memref<?xf32>, memref<?x?xf32>) -> ()
  %n_i64 = arith.index_cast %n : index to i64
  %count = arith.sitofp %n_i64 : i64 to f64
  %wrong = scf.for %i = %c0 to %m step %c1 iter_args(%w = %c0) -> index {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> f64 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.extf %v : f32 to f64
      %next = arith.addf %s, %d : f64
      scf.yield %next : f64
    }
    %mean = arith.divf %sum, %count : f64
    %squares = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> f64 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.extf %v : f32 to f64
      %e = arith.subf %d, %mean : f64
      %e2 = arith.mulf %e, %e : f64
      %next = arith.addf %s, %e2 : f64
      scf.yield %next : f64
    }
    %variance = arith.divf %squares, %count : f64
    %safe = arith.addf %variance, %epsilon : f64
    %deviation = math.sqrt %safe : f64
    %row = scf.for %j = %c0 to %n step %c1 iter_args(%u = %w) -> index {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %g = memref.load %gamma[%j] : memref<?xf32>
      %b = memref.load %beta[%j] : memref<?xf32>
      %vd = arith.extf %v : f32 to f64
      %gd = arith.extf %g : f32 to f64
      %bd = arith.extf %b : f32 to f64
      %d = arith.subf %vd, %mean : f64
      %q = arith.divf %d, %deviation : f64
      %p = arith.mulf %q, %gd : f64
      %want = arith.addf %p, %bd : f64
      %got = memref.load %y[%i, %j] : memref<?x?xf32>
      %one = func.call @is_wrong(%got, %want) : (f32, f64) -> index
      %next = arith.addi %u, %one : index
      scf.yield %next : index
    }
    scf.yield %row : index
  }
  %size = arith.muli %m, %n : index
  vector.print %m : index punctuation <no_punctuation>
  vector.print str " x "
  vector.print %n : index
  vector.print str "wrong: "
  vector.print %wrong : index punctuation <no_punctuation>
  vector.print str " of "
  vector.print %size : index
  memref.dealloc %x : memref<?x?xf32>
  memref.dealloc %y : memref<?x?xf32>
  memref.dealloc %gamma : memref<?xf32>
  memref.dealloc %beta : memref<?xf32>
  return
}

func.func @main() {
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c33 = arith.constant 33 : index
  %c64 = arith.constant 64 : index
  %c70 = arith.constant 70 : index
  %c256 = arith.constant 256 : index
  func.call @check(%c64, %c256) : (index, index) -> ()
  func.call @check(%c33, %c70) : (index, index) -> ()
  func.call @check(%c5, %c2) : (index, index) -> ()
  return
}
