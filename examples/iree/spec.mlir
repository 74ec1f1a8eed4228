// What IREE's preprocessing does (--iree-preprocessing-transform-spec-filename): where
// it finds this attention, it calls the kernel of attention.mlir, whose object it embeds.
// Its syntax is that of iree-base-compiler 3.13.
//
// Four pointers, arguments first and the result last; IREE aligns buffers to at least the
// 16 bytes that the first of the two kernels, attention_attention, asks for. A workgroup
// has 64 lanes; there are 8 rows, 4 heads and one block of queries.

#q = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d4)>
#k = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d4)>
#v = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d3)>
#s = affine_map<(d0, d1, d2, d3, d4, d5) -> ()>
#o = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d3)>
#rocm = #hal.executable.target<"rocm", "rocm-hsaco-fb", {target_arch = "gfx942"}>
module attributes {transform.with_named_sequence} {
  util.func private @attention(%q: tensor<8x64x4x32xbf16>, %k: tensor<8x64x4x32xbf16>, %v: tensor<8x64x4x32xbf16>) -> tensor<8x64x4x32xbf16> {
    %blocks = arith.constant 32 : index
    %0 = hal.dispatch.extern "attention_attention"[%blocks](%q, %k, %v) : (tensor<8x64x4x32xbf16>, tensor<8x64x4x32xbf16>, tensor<8x64x4x32xbf16>) -> tensor<8x64x4x32xbf16>
      count(%device: !hal.device, %n: index) -> (index, index, index) {
        %c1 = arith.constant 1 : index
        hal.return %n, %c1, %c1 : index, index, index
      }
      layout(#hal.pipeline.layout<constants = 0, bindings = [
        #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>,
        #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
      objects({
        #rocm ordinal(0) = [#hal.executable.object<{path = "kernels.hsaco"}>]
      })
      <{workgroup_size = [64 : index, 1 : index, 1 : index]}>
    util.return %0 : tensor<8x64x4x32xbf16>
  }
  transform.named_sequence @match(%op: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {
    ^bb0(%q: tensor<8x64x4x32xbf16>, %k: tensor<8x64x4x32xbf16>, %v: tensor<8x64x4x32xbf16>, %init: tensor<8x64x4x32xbf16>):
      %scale = arith.constant 0.176776692 : f32
      %r = iree_linalg_ext.attention <{indexing_maps = [#q, #k, #v, #s, #o]}>
        ins(%q, %k, %v, %scale : tensor<8x64x4x32xbf16>, tensor<8x64x4x32xbf16>, tensor<8x64x4x32xbf16>, f32)
        outs(%init : tensor<8x64x4x32xbf16>) {
      ^bb0(%score: f32):
        iree_linalg_ext.yield %score : f32
      } -> tensor<8x64x4x32xbf16>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @call(%ins: !transform.any_value {transform.readonly}, %out: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
    %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %func = transform.util.import_symbol @attention into %module if undefined : (!transform.any_op) -> !transform.any_op
    %q = transform.get_operand %root[0] : (!transform.any_op) -> !transform.any_value
    %k = transform.get_operand %root[1] : (!transform.any_op) -> !transform.any_value
    %v = transform.get_operand %root[2] : (!transform.any_op) -> !transform.any_value
    %all = transform.merge_handles %q, %k, %v : !transform.any_value
    transform.util.cast_and_call %func(%all) -> %out after %root {
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %funcs = transform.structured.match ops{["util.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %funcs : !transform.any_op {
    ^bb1(%func: !transform.any_op):
      transform.foreach_match in %func @match -> @call : (!transform.any_op) -> (!transform.any_op)
    }
    transform.apply_dce to %module : !transform.any_op
    transform.yield
  }
}
