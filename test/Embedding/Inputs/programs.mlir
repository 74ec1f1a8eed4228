// Programs around attention, as a host compiler writes them. What each computes is
// in programs.py.
!t = tensor<1x2x24x2x16xf32>
!d = tensor<1x?x?x2x16xf32>

// A loop that carries the result.
func.func @for_loop(%x: !t, %y: !t, %n: index, %out: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%z = %x) -> !t {
    %e = tensor.empty() : !t
    %a = evoformer.attention query(%z : !t) key(%y : !t) value(%z : !t) outs(%e : !t)
    scf.yield %a : !t
  }
  %c = linalg.copy ins(%r : !t) outs(%out : !t) -> !t
  return %c : !t
}

// One that carries it in the caller's memory.
func.func @for_destination(%x: !t, %y: !t, %n: index, %out: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = linalg.copy ins(%x : !t) outs(%out : !t) -> !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%z = %s) -> !t {
    %a = evoformer.attention query(%z : !t) key(%y : !t) value(%z : !t) outs(%z : !t)
    scf.yield %a : !t
  }
  return %r : !t
}

// Two values change places.
func.func @for_swap(%x: !t, %y: !t, %n: index, %out: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : !t
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%z = %x, %w = %y) -> (!t, !t) {
    %a = evoformer.attention query(%z : !t) key(%w : !t) value(%z : !t) outs(%e : !t)
    scf.yield %w, %a : !t, !t
  }
  %s = arith.subf %r#0, %r#1 : !t
  %c = linalg.copy ins(%s : !t) outs(%out : !t) -> !t
  return %c : !t
}

func.func @while_loop(%x: !t, %y: !t, %n: index, %out: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k, %r = scf.while (%i = %c0, %z = %x) : (index, !t) -> (index, !t) {
    %go = arith.cmpi slt, %i, %n : index
    scf.condition(%go) %i, %z : index, !t
  } do {
  ^bb0(%i: index, %z: !t):
    %e = tensor.empty() : !t
    %a = evoformer.attention query(%z : !t) key(%y : !t) value(%z : !t) outs(%e : !t)
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %a : index, !t
  }
  %c = linalg.copy ins(%r : !t) outs(%out : !t) -> !t
  return %c : !t
}

func.func @branch(%x: !t, %y: !t, %n: index, %out: !t) -> !t {
  %c2 = arith.constant 2 : index
  %some = arith.cmpi slt, %n, %c2 : index
  %r = scf.if %some -> !t {
    scf.yield %y : !t
  } else {
    %e = tensor.empty() : !t
    %a = evoformer.attention query(%x : !t) key(%y : !t) value(%x : !t) outs(%e : !t)
    scf.yield %a : !t
  }
  %c = linalg.copy ins(%r : !t) outs(%out : !t) -> !t
  return %c : !t
}

func.func private @layer(%x: !t, %y: !t) -> !t {
  %e = tensor.empty() : !t
  %a = evoformer.attention query(%x : !t) key(%y : !t) value(%x : !t) outs(%e : !t)
  return %a : !t
}
func.func @calls(%x: !t, %y: !t, %n: index, %out: !t) -> !t {
  %0 = call @layer(%x, %y) : (!t, !t) -> !t
  %1 = call @layer(%0, %y) : (!t, !t) -> !t
  %c = linalg.copy ins(%1 : !t) outs(%out : !t) -> !t
  return %c : !t
}

// Arithmetic on tensors; nobody says where the result shall lie.
func.func @arithmetic(%x: !t, %y: !t, %n: index) -> !t {
  %e = tensor.empty() : !t
  %half = arith.constant dense<5.000000e-01> : !t
  %a = evoformer.attention query(%x : !t) key(%y : !t) value(%x : !t) outs(%e : !t)
  %s = arith.mulf %a, %half : !t
  %r = arith.addf %x, %s : !t
  %b = evoformer.attention query(%r : !t) key(%y : !t) value(%r : !t) outs(%e : !t)
  %u = math.exp %b : !t
  return %u : !t
}

func.func @dynamic_sizes(%x: !d, %y: !d, %n: index, %out: !d) -> !d {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c1 : !d
  %length = tensor.dim %x, %c2 : !d
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%z = %x) -> !d {
    %e = tensor.empty(%rows, %length) : !d
    %a = evoformer.attention query(%z : !d) key(%y : !d) value(%z : !d) outs(%e : !d)
    %b = arith.addf %a, %z : !d
    scf.yield %b : !d
  }
  %c = linalg.copy ins(%r : !d) outs(%out : !d) -> !d
  return %c : !d
}
