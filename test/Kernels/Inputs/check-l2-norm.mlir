// Runs @run_l2_norm for three shapes, every fifth row with large numbers, against the definition in f64.

// ((i * p + j * q) mod 17 - 8.5) / 2, times 2^100 in every fifth row
func.func private @value(%i: index, %j: index, %p: index, %q: index) -> f32 {
  %c17 = arith.constant 17 : index
  %c5 = arith.constant 5 : index
  %c0 = arith.constant 0 : index
  %middle = arith.constant 8.5 : f32
  %half = arith.constant 0.5 : f32
  %large = arith.constant 0x71800000 : f32
  %ip = arith.muli %i, %p : index
  %jq = arith.muli %j, %q : index
  %s = arith.addi %ip, %jq : index
  %r = arith.remui %s, %c17 : index
  %ri = arith.index_cast %r : index to i32
  %f = arith.sitofp %ri : i32 to f32
  %d = arith.subf %f, %middle : f32
  %fifth = arith.remui %i, %c5 : index
  %is_large = arith.cmpi eq, %fifth, %c0 : index
  %factor = arith.select %is_large, %large, %half : f32
  %v = arith.mulf %d, %factor : f32
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
  // A few roundings of f32 in the quotients and the sums.
  %relative = arith.constant 1.0e-06 : f64
  %g = arith.extf %got : f32 to f64
  %d = arith.subf %g, %want : f64
  %a = math.absf %d : f64
  %w = math.absf %want : f64
  %limit = arith.mulf %w, %relative : f64
  %tiny = arith.constant 0.0 : f64
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
  %zero = arith.constant 0.0 : f64
  %x = memref.alloc(%m, %n) : memref<?x?xf32>
  %y = memref.alloc(%m, %n) : memref<?x?xf32>
  func.call @fill(%x) : (memref<?x?xf32>) -> ()
  func.call @run_l2_norm(%x, %y) : (memref<?x?xf32>, memref<?x?xf32>) -> ()
  %wrong = scf.for %i = %c0 to %m step %c1 iter_args(%w = %c0) -> index {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> f64 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.extf %v : f32 to f64
      %square = arith.mulf %d, %d : f64
      %next = arith.addf %s, %square : f64
      scf.yield %next : f64
    }
    %norm = math.sqrt %sum : f64
    %row = scf.for %j = %c0 to %n step %c1 iter_args(%u = %w) -> index {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.extf %v : f32 to f64
      %want = arith.divf %d, %norm : f64
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
  return
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c33 = arith.constant 33 : index
  %c64 = arith.constant 64 : index
  %c70 = arith.constant 70 : index
  %c256 = arith.constant 256 : index
  func.call @check(%c64, %c256) : (index, index) -> ()
  func.call @check(%c33, %c70) : (index, index) -> ()
  func.call @check(%c1, %c1) : (index, index) -> ()
  return
}
