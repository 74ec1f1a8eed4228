// Kernels inside of the module, by our serialisation and by upstream's.
//
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 host=gpu" -o %t.mlir
// RUN: evoformer-opt %t.mlir --evoformer-serialize=embed | FileCheck %s --check-prefixes=CHECK,HSACO
// RUN: evoformer-opt %t.mlir --evoformer-serialize="embed format=mlir" | FileCheck %s --check-prefixes=CHECK,MLIR
// RUN: evoformer-opt %s --evoformer-lower="target=sm_80 host=gpu" -o %t.mlir
// RUN: evoformer-opt %t.mlir --evoformer-serialize="embed format=ptx" | FileCheck %s --check-prefixes=CHECK,PTX
// RUN: evoformer-opt %t.mlir --gpu-module-to-binary=format=isa | FileCheck %s --check-prefixes=CHECK,PTX

// CHECK: gpu.container_module
// CHECK: gpu.launch_func @kernels::@f_attention
// CHECK-NOT: gpu.module
// HSACO: gpu.binary @kernels [#gpu.object<#rocdl.target<O = 3, chip = "gfx942">, bin = "\7FELF
// MLIR: gpu.binary @kernels [#gpu.object<#rocdl.target<O = 3, chip = "gfx942">, bin = "{{.*}}gpu.module
// PTX: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_80"{{.*}}>, {{.*}}assembly = "{{.*}}.entry f_attention
func.func @f(%query: tensor<1x2x32x1x16xf16>, %key: tensor<1x2x32x1x16xf16>,
             %value: tensor<1x2x32x1x16xf16>, %out: tensor<1x2x32x1x16xf16>)
    -> tensor<1x2x32x1x16xf16> {
  %0 = evoformer.attention
      query(%query : tensor<1x2x32x1x16xf16>)
      key(%key : tensor<1x2x32x1x16xf16>)
      value(%value : tensor<1x2x32x1x16xf16>)
      outs(%out : tensor<1x2x32x1x16xf16>)
  return %0 : tensor<1x2x32x1x16xf16>
}
