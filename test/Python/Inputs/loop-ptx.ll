target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @steady(ptr addrspace(1) %a, ptr addrspace(1) %o, i32 %n) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%i.next, %loop]
  %f = phi float [0.0, %entry], [%g, %loop]
  %at = add i32 %lane, %i
  %p = getelementptr <4 x i32>, ptr addrspace(1) %a, i32 %at
  %v = load <4 x i32>, ptr addrspace(1) %p
  %x = extractelement <4 x i32> %v, i32 0
  %r = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %x, i32 %x, i32 %x, i32 %x, i32 %x, i32 %x, float %f, float %f, float %f, float %f)
  %e = extractvalue {float, float, float, float} %r, 0
  %g = call float @llvm.nvvm.ex2.approx.ftz.f(float %e)
  %i.next = add i32 %i, 64
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %exit
exit:
  %q = getelementptr float, ptr addrspace(1) %o, i32 %lane
  store float %g, ptr addrspace(1) %q
  ret void
}
