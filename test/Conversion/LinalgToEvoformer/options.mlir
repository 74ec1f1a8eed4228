// What an option does not take is refused.
//
// RUN: not evoformer-opt %s --evoformer-raise-attention=rows-without-keys=mean 2>&1 | FileCheck %s
// CHECK: error: rows-without-keys must be 'same' or 'zero', but is 'mean'
