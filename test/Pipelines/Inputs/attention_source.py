# Attention with a key mask and a pair bias, of depth {d} and type {t}.
SOURCE = """
func.func @attention(
    %query: tensor<?x?x?x4x{d}x{t}>, %key: tensor<?x?x?x4x{d}x{t}>,
    %value: tensor<?x?x?x4x{d}x{t}>, %mask: tensor<?x?x1x1x?xi1>,
    %pair: tensor<?x1x4x?x?x{t}>, %out: tensor<?x?x?x4x{d}x{t}>)
    -> tensor<?x?x?x4x{d}x{t}> {{
  %0 = evoformer.attention
      query(%query : tensor<?x?x?x4x{d}x{t}>)
      key(%key : tensor<?x?x?x4x{d}x{t}>)
      value(%value : tensor<?x?x?x4x{d}x{t}>)
      bias(%mask : tensor<?x?x1x1x?xi1>)
      bias(%pair : tensor<?x1x4x?x?x{t}>)
      outs(%out : tensor<?x?x?x4x{d}x{t}>)
  return %0 : tensor<?x?x?x4x{d}x{t}>
}}
"""
