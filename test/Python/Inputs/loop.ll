; Two nested loops; the inner one holds a matrix instruction, an exponential, a
; 16-byte and a 2-byte load.
define amdgpu_kernel void @steady(ptr addrspace(1) %a, ptr addrspace(1) %o, i32 %n) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  br label %outer
outer:
  %k = phi i32 [0, %entry], [%k.next, %latch]
  br label %inner
inner:
  %i = phi i32 [0, %outer], [%i.next, %inner]
  %acc = phi <4 x float> [zeroinitializer, %outer], [%acc.next, %inner]
  %at = add i32 %lane, %i
  %p = getelementptr <8 x half>, ptr addrspace(1) %a, i32 %at
  %v = load <8 x half>, ptr addrspace(1) %p
  %low = shufflevector <8 x half> %v, <8 x half> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %high = shufflevector <8 x half> %v, <8 x half> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %ps = getelementptr i16, ptr addrspace(1) %o, i32 %at
  %s = load i16, ptr addrspace(1) %ps
  %sf = uitofp i16 %s to float
  %m = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> %low, <4 x half> %high, <4 x float> %acc, i32 0, i32 0, i32 0)
  %e0 = extractelement <4 x float> %m, i32 0
  %e1 = fadd float %e0, %sf
  %e2 = call float @llvm.amdgcn.exp2.f32(float %e1)
  %acc.next = insertelement <4 x float> %m, float %e2, i32 0
  %i.next = add i32 %i, 64
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %inner, label %latch
latch:
  %q = getelementptr <4 x float>, ptr addrspace(1) %o, i32 %lane
  store <4 x float> %acc.next, ptr addrspace(1) %q
  %k.next = add i32 %k, 1
  %again = icmp slt i32 %k.next, %n
  br i1 %again, label %outer, label %exit
exit:
  ret void
}
attributes #0 = { "amdgpu-flat-work-group-size"="128,128" }
