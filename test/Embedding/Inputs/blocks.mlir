// A loop over several blocks that carries a tensor.
!t = tensor<1x2x24x2x16xf32>
func.func @blocks(%x: !t, %y: !t, %n: index, %out: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, !t)
^head(%i: index, %z: !t):
  %go = arith.cmpi slt, %i, %n : index
  cf.cond_br %go, ^body, ^exit
^body:
  %e = tensor.empty() : !t
  %a = evoformer.attention query(%z : !t) key(%y : !t) value(%z : !t) outs(%e : !t)
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next, %a : index, !t)
^exit:
  %c = linalg.copy ins(%z : !t) outs(%out : !t) -> !t
  return %c : !t
}
