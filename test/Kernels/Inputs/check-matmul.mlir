// Runs @run_matmul for three shapes against the definition.


// ((i * p + j * q) mod 17 - 8) / 8
func.func private @fill(%m: memref<?x?xbf16>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  %c8 = arith.constant 8 : i32
  %eighth = arith.constant 0.125 : f32
  %rows = memref.dim %m, %c0 : memref<?x?xbf16>
  %columns = memref.dim %m, %c1 : memref<?x?xbf16>
  scf.for %i = %c0 to %rows step %c1 {
    scf.for %j = %c0 to %columns step %c1 {
      %ip = arith.muli %i, %p : index
      %jq = arith.muli %j, %q : index
      %s = arith.addi %ip, %jq : index
      %r = arith.remui %s, %c17 : index
      %ri = arith.index_cast %r : index to i32
      %rs = arith.subi %ri, %c8 : i32
      %f = arith.sitofp %rs : i32 to f32
      %v = arith.mulf %f, %eighth : f32
      %h = arith.truncf %v : f32 to bf16
      memref.store %h, %m[%i, %j] : memref<?x?xbf16>
    }
  }
  return
}

func.func private @check(%m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%m, %k) : memref<?x?xbf16>
  %b = memref.alloc(%k, %n) : memref<?x?xbf16>
  %c = memref.alloc(%m, %n) : memref<?x?xf32>
  func.call @fill(%a, %c5, %c7) : (memref<?x?xbf16>, index, index) -> ()
  func.call @fill(%b, %c7, %c1) : (memref<?x?xbf16>, index, index) -> ()
  func.call @run_matmul(%a, %b, %c)
    : (memref<?x?xbf16>, memref<?x?xbf16>, memref<?x?xf32>) -> ()
  %wrong = scf.for %i = %c0 to %m step %c1 iter_args(%w = %c0) -> index {
    %inner = scf.for %j = %c0 to %n step %c1 iter_args(%v = %w) -> index {
      %sum = scf.for %d = %c0 to %k step %c1 iter_args(%s = %zero) -> f32 {
        %x = memref.load %a[%i, %d] : memref<?x?xbf16>
        %y = memref.load %b[%d, %j] : memref<?x?xbf16>
        %xf = arith.extf %x : bf16 to f32
        %yf = arith.extf %y : bf16 to f32
        %p = arith.mulf %xf, %yf : f32
        %next = arith.addf %s, %p : f32
        scf.yield %next : f32
      }
      %got = memref.load %c[%i, %j] : memref<?x?xf32>
      %differs = arith.cmpf une, %got, %sum : f32
      %more = arith.index_castui %differs : i1 to index
      %total = arith.addi %v, %more : index
      scf.yield %total : index
    }
    scf.yield %inner : index
  }
  %size = arith.muli %m, %n : index
  vector.print %m : index punctuation <no_punctuation>
  vector.print str " x "
  vector.print %n : index punctuation <no_punctuation>
  vector.print str " x "
  vector.print %k : index
  vector.print str "wrong: "
  vector.print %wrong : index punctuation <no_punctuation>
  vector.print str " of "
  vector.print %size : index
  memref.dealloc %a : memref<?x?xbf16>
  memref.dealloc %b : memref<?x?xbf16>
  memref.dealloc %c : memref<?x?xf32>
  return
}

func.func @main() {
  %c17 = arith.constant 17 : index
  %c33 = arith.constant 33 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  func.call @check(%c128, %c128, %c64) : (index, index, index) -> ()
  func.call @check(%c64, %c192, %c96) : (index, index, index) -> ()
  func.call @check(%c65, %c33, %c17) : (index, index, index) -> ()
  return
}
