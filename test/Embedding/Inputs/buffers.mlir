// Buffers to begin with, also in several blocks.
!m = memref<1x2x24x2x16xf32>

func.func @buffers(%x: !m, %y: !m, %n: index, %out: !m) {
  %t = memref.alloc() : !m
  evoformer.attention query(%x : !m) key(%y : !m) value(%x : !m) outs(%t : !m)
  evoformer.attention query(%t : !m) key(%y : !m) value(%t : !m) outs(%out : !m)
  memref.dealloc %t : !m
  return
}
func.func @buffers_in_blocks(%x: !m, %y: !m, %n: index, %out: !m) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.alloc() : !m
  memref.copy %x, %out : !m to !m
  cf.br ^head(%c0 : index)
^head(%i: index):
  %go = arith.cmpi slt, %i, %n : index
  cf.cond_br %go, ^body, ^exit
^body:
  evoformer.attention query(%out : !m) key(%y : !m) value(%out : !m) outs(%t : !m)
  memref.copy %t, %out : !m to !m
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index)
^exit:
  memref.dealloc %t : !m
  return
}
