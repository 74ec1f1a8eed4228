// RUN: evoformer-opt %s --split-input-file --verify-diagnostics

!s = memref<2x3x16x4x32xf16>
func.func @arguments(%q: !s, %o: !s) {
  // expected-error @+1 {{score must have the arguments x: f32, b: i32, n: i32, h: i32, i: i32, j: i32, sq: i32 and sk: i32 and an f32 for each of 0 captures, an i32 where it is of i32, or a vector of f32 of its entries, up to 64, where it is a table, but has ('f32', 'i32')}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      score(%x: f32, %b: i32) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @captures(%q: !s, %c: memref<1x1x4x1x1xf32>, %o: !s) {
  // expected-error @+1 {{and an f32 for each of 1 captures, an i32 where it is of i32, or a vector of f32 of its entries, up to 64, where it is a table, but has ('f32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32')}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x1x1xf32>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @no_score(%q: !s, %c: memref<1x1x4x1x1xf32>, %o: !s) {
  // expected-error @+1 {{capture #0 is for a score to read, but there is no score}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x1x1xf32>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @capture_type(%q: !s, %c: memref<1x1x4x1x1xi1>, %o: !s) {
  // expected-error @+1 {{element type of capture #0 must be 'f16', f32 or i32, but is 'i1'}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x1x1xi1>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %c0: f32) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @capture_size(%q: !s, %c: memref<1x1x5x1x1xf32>, %o: !s) {
  // expected-error @+1 {{H is 4 in query, but 5 in capture #0 (dimension 2); a bias must match or have a static 1}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x5x1x1xf32>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %c0: f32) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @yield(%q: !s, %o: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        // expected-error @+1 {{must give 1 number, the score, but gives 2}}
        evoformer.yield %x, %x : f32, f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @other_op(%q: !s, %o: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        // expected-error @+1 {{must not be in a score, which has only arith's constant, addf, subf, mulf}}
        %y = math.sin %x : f32
        evoformer.yield %y : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @loop(%q: !s, %o: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        %c = arith.constant true
        // expected-error @+1 {{'scf.if' op must not be in a score}}
        %y = scf.if %c -> f32 {
          scf.yield %x : f32
        } else {
          scf.yield %x : f32
        }
        evoformer.yield %y : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @type(%q: !s, %o: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        // expected-error @+1 {{in a score must give f32, i32 or i1, but gives 'f64'}}
        %c = arith.constant 1.0 : f64
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @divisor(%q: !s, %o: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        // expected-error @+1 {{in a score must divide by a constant that is more than 0}}
        %d = arith.divsi %i, %j : i32
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @outside(%q: !s, %o: !s, %z: f32) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        // expected-error @+1 {{use of undeclared SSA value name}}
        %y = arith.addf %x, %z : f32
        evoformer.yield %y : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @empty(%q: !s, %o: !s) {
  // expected-error @+1 {{score must have a block, but is empty}}
  "evoformer.attention"(%q, %q, %q, %o) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> ({
  }) : (!s, !s, !s, !s) -> ()
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @orders(%q: !s, %o: !s) {
  // expected-error @+1 {{capture_orders must be empty or have one order for each of the 0 captures, but has 1}}
  "evoformer.attention"(%q, %q, %q, %o) <{capture_orders = [#evoformer.order<bnhqk>],
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}>
      : (!s, !s, !s, !s) -> ()
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @long(%q: !s, %o: !s) {
  // expected-error @+1 {{score must have at most 64 ops, but has 65}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        %0 = arith.addf %x, %x : f32
        %1 = arith.addf %0, %x : f32
        %2 = arith.addf %1, %x : f32
        %3 = arith.addf %2, %x : f32
        %4 = arith.addf %3, %x : f32
        %5 = arith.addf %4, %x : f32
        %6 = arith.addf %5, %x : f32
        %7 = arith.addf %6, %x : f32
        %8 = arith.addf %7, %x : f32
        %9 = arith.addf %8, %x : f32
        %10 = arith.addf %9, %x : f32
        %11 = arith.addf %10, %x : f32
        %12 = arith.addf %11, %x : f32
        %13 = arith.addf %12, %x : f32
        %14 = arith.addf %13, %x : f32
        %15 = arith.addf %14, %x : f32
        %16 = arith.addf %15, %x : f32
        %17 = arith.addf %16, %x : f32
        %18 = arith.addf %17, %x : f32
        %19 = arith.addf %18, %x : f32
        %20 = arith.addf %19, %x : f32
        %21 = arith.addf %20, %x : f32
        %22 = arith.addf %21, %x : f32
        %23 = arith.addf %22, %x : f32
        %24 = arith.addf %23, %x : f32
        %25 = arith.addf %24, %x : f32
        %26 = arith.addf %25, %x : f32
        %27 = arith.addf %26, %x : f32
        %28 = arith.addf %27, %x : f32
        %29 = arith.addf %28, %x : f32
        %30 = arith.addf %29, %x : f32
        %31 = arith.addf %30, %x : f32
        %32 = arith.addf %31, %x : f32
        %33 = arith.addf %32, %x : f32
        %34 = arith.addf %33, %x : f32
        %35 = arith.addf %34, %x : f32
        %36 = arith.addf %35, %x : f32
        %37 = arith.addf %36, %x : f32
        %38 = arith.addf %37, %x : f32
        %39 = arith.addf %38, %x : f32
        %40 = arith.addf %39, %x : f32
        %41 = arith.addf %40, %x : f32
        %42 = arith.addf %41, %x : f32
        %43 = arith.addf %42, %x : f32
        %44 = arith.addf %43, %x : f32
        %45 = arith.addf %44, %x : f32
        %46 = arith.addf %45, %x : f32
        %47 = arith.addf %46, %x : f32
        %48 = arith.addf %47, %x : f32
        %49 = arith.addf %48, %x : f32
        %50 = arith.addf %49, %x : f32
        %51 = arith.addf %50, %x : f32
        %52 = arith.addf %51, %x : f32
        %53 = arith.addf %52, %x : f32
        %54 = arith.addf %53, %x : f32
        %55 = arith.addf %54, %x : f32
        %56 = arith.addf %55, %x : f32
        %57 = arith.addf %56, %x : f32
        %58 = arith.addf %57, %x : f32
        %59 = arith.addf %58, %x : f32
        %60 = arith.addf %59, %x : f32
        %61 = arith.addf %60, %x : f32
        %62 = arith.addf %61, %x : f32
        %63 = arith.addf %62, %x : f32
        %64 = arith.addf %63, %x : f32
        evoformer.yield %64 : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @two(%q: !s, %o: !s) {
  // expected-error @+1 {{must have at most one score, but has 2}}
  "evoformer.attention"(%q, %q, %q, %o) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> ({
  ^bb0(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32):
    "evoformer.yield"(%x) : (f32) -> ()
  }, {
  ^bb0(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32):
    "evoformer.yield"(%x) : (f32) -> ()
  }) : (!s, !s, !s, !s) -> ()
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @end(%q: !s, %o: !s) {
  // expected-error @+1 {{score must end in evoformer.yield}}
  "evoformer.attention"(%q, %q, %q, %o) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> ({
  ^bb0(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32):
    "llvm.unreachable"() : () -> ()
  }) : (!s, !s, !s, !s) -> ()
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @step(%q: !s, %stats: memref<2x2x3x4x16xf32>, %delta: memref<2x3x4x16xf32>, %g: !s) {
  evoformer.attention_gradient
      query(%q : !s) key(%q : !s) value(%q : !s) weighted_grad(%q : !s)
      stats(%stats : memref<2x2x3x4x16xf32>) delta(%delta : memref<2x3x4x16xf32>)
      query_grad(%g : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        // expected-error @+1 {{must give 2 numbers, the score and its derivative, but gives 1}}
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @gradient_of_none(%q: !s, %stats: memref<2x2x3x4x16xf32>, %g: !s,
                            %c: memref<1x1x4x1x1xf32>, %cg: memref<1x1x4x1x1xf32>) {
  // expected-error @+1 {{bias_grad #0 belongs to bias #1, but there are 0 biases and 1 captures behind them}}
  evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s) capture(%c : memref<1x1x4x1x1xf32>)
      output(%q : !s) stats(%stats : memref<2x2x3x4x16xf32>) output_grad(%q : !s)
      bias_grad[1](%cg : memref<1x1x4x1x1xf32>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %m: f32) {
        evoformer.yield %m : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @gradient_beside(%q: !s, %stats: memref<2x2x3x4x16xf32>, %delta: memref<2x3x4x16xf32>,
                           %g: !s, %c: memref<1x1x4x1x1xf32>, %cg: memref<1x1x4x1x1xf32>) {
  // expected-error @+1 {{gradient of capture #0 must be the only one, since the score gives its derivative by that capture}}
  evoformer.attention_gradient
      query(%q : !s) key(%q : !s) value(%q : !s) capture(%c : memref<1x1x4x1x1xf32>)
      weighted_grad(%q : !s)
      stats(%stats : memref<2x2x3x4x16xf32>) delta(%delta : memref<2x3x4x16xf32>)
      query_grad(%g : !s)
      bias_grad[0](%cg : memref<1x1x4x1x1xf32>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %m: f32) {
        evoformer.yield %x, %m : f32, f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @large_table(%q: !s, %c: memref<1x1x4x1x65xf32>, %o: !s) {
  // expected-error @+1 {{of its entries, up to 64, where it is a table, but has (}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x1x65xf32>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32, %c0: vector<65xf32>) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @table_sizes(%q: !s, %c: memref<1x3x4x1x32xf32>, %o: !s) {
  // expected-error @+1 {{capture #0 is a table of 32 entries, as the score has it, and must have static sizes of 1 of n and q and 32 of k, but is 'memref<1x3x4x1x32xf32>'}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x3x4x1x32xf32>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32, %c0: vector<32xf32>) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @table_entries(%q: !s, %c: memref<1x1x4x1x16xf32>, %o: !s) {
  // expected-error @+1 {{capture #0 is a table of 32 entries, as the score has it, and must have static sizes of 1 of n and q and 32 of k, but is 'memref<1x1x4x1x16xf32>'}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x1x16xf32>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32, %c0: vector<32xf32>) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @table_type(%q: !s, %c: memref<1x1x4x1x32xi1>, %o: !s) {
  // expected-error @+1 {{element type of capture #0 must be 'f16' or f32, but is 'i1'}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x1x32xi1>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32, %c0: vector<32xf32>) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @integer_as_float(%q: !s, %c: memref<1x1x4x16x16xi32>, %o: !s) {
  // expected-error @+1 {{an i32 where it is of i32, or a vector of f32}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x16x16xi32>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32, %c0: f32) {
        evoformer.yield %x : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @two_lookups(%q: !s, %c: memref<1x1x4x1x8xf32>, %t: !t, %o: !s, %d: memref<1x1x4x1x8xf32>) {
  // expected-error @+1 {{gradient of capture #0 needs a score that looks its table up once, but there are 2 lookups}}
  evoformer.attention_backward query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x1x8xf32>) output(%q : !s) stats(%t : !t) output_grad(%q : !s)
      bias_grad[0](%d : memref<1x1x4x1x8xf32>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32, %c0: vector<8xf32>) {
        %e = evoformer.lookup %c0[%i] : vector<8xf32>
        %f = evoformer.lookup %c0[%j] : vector<8xf32>
        %z = arith.addf %e, %f : f32
        %y = arith.addf %x, %z : f32
        evoformer.yield %y : f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @gradient_of_integers(%q: !s, %c: memref<1x1x4x16x16xi32>, %t: !t, %o: !s, %d: memref<1x1x4x16x16xi32>) {
  // expected-error @+1 {{capture #0 has no gradient: it is of i32}}
  evoformer.attention_backward query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : memref<1x1x4x16x16xi32>) output(%q : !s) stats(%t : !t) output_grad(%q : !s)
      bias_grad[0](%d : memref<1x1x4x16x16xi32>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32, %c0: i32) {
        %f = arith.sitofp %c0 : i32 to f32
        %y = arith.addf %x, %f : f32
        evoformer.yield %y : f32
      }
  return
}
