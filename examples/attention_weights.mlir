// Attention whose weights somebody wants to see, as for a picture of what a block attends
// to: the output's kernel keeps statistics of each row, and a second one makes the weights
// again from them, the one array that has an element for each query and key.
func.func @attention_weights(
    %query: tensor<1x?x?x4x32xbf16>, %key: tensor<1x?x?x4x32xbf16>,
    %value: tensor<1x?x?x4x32xbf16>, %mask: tensor<1x?x1x1x?xi1>,
    %out: tensor<1x?x?x4x32xbf16>, %stats: tensor<2x1x?x4x?xf32>,
    %weights: tensor<1x?x4x?x?xbf16>)
    -> (tensor<1x?x?x4x32xbf16>, tensor<2x1x?x4x?xf32>, tensor<1x?x4x?x?xbf16>) {
  %0, %1 = evoformer.attention
      query(%query : tensor<1x?x?x4x32xbf16>)
      key(%key : tensor<1x?x?x4x32xbf16>)
      value(%value : tensor<1x?x?x4x32xbf16>)
      bias(%mask : tensor<1x?x1x1x?xi1>)
      outs(%out : tensor<1x?x?x4x32xbf16>) stats(%stats : tensor<2x1x?x4x?xf32>)
  %2 = evoformer.attention_weights
      query(%query : tensor<1x?x?x4x32xbf16>)
      key(%key : tensor<1x?x?x4x32xbf16>)
      bias(%mask : tensor<1x?x1x1x?xi1>)
      stats(%1 : tensor<2x1x?x4x?xf32>)
      outs(%weights : tensor<1x?x4x?x?xbf16>)
  return %0, %1, %2 : tensor<1x?x?x4x32xbf16>, tensor<2x1x?x4x?xf32>, tensor<1x?x4x?x?xbf16>
}
