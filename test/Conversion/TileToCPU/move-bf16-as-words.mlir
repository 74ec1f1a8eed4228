// bf16 is loaded, chosen, carried and stored as integers; what else takes it
// keeps it behind a cast.
// RUN: evoformer-opt %s --pass-pipeline='builtin.module(llvm.func(evo-cpu-move-bf16-as-words))' | FileCheck %s
// RUN: evoformer-opt %s --pass-pipeline='builtin.module(llvm.func(evo-cpu-move-bf16-as-words,evo-cpu-move-bf16-as-words))' | FileCheck %s

llvm.func @take(vector<9xbf16>, f32) -> bf16

// CHECK-LABEL: llvm.func @moves(
//   CHECK-NOT:   bf16
//       CHECK:   llvm.mlir.constant(32704 : i16) : i16
//   CHECK-NOT:   bf16
//       CHECK:   llvm.mlir.constant(dense<32704> : vector<9xi16>) : vector<9xi16>
//       CHECK:   llvm.mlir.constant(dense<1.000000e+00> : vector<9xf32>) : vector<9xf32>
//       CHECK:   llvm.load %{{.+}} -> vector<9xi16>
//       CHECK:   llvm.insertelement %{{.+}} : vector<9xi16>
//       CHECK: ^bb1(%{{.+}}: vector<9xi16>):
//       CHECK:   llvm.select %{{.+}} : vector<9xi1>, vector<9xi16>
//   CHECK-NOT:   bitcast
//       CHECK:   llvm.store %{{.+}} : vector<9xi16>, !llvm.ptr
//   CHECK-NOT:   bf16
//       CHECK:   llvm.return
llvm.func @moves(%p: !llvm.ptr, %lane: i64, %again: i1, %which: vector<9xi1>) {
  %nan = llvm.mlir.constant(0x7FC0 : bf16) : bf16
  %nans = llvm.mlir.constant(dense<0x7FC0> : vector<9xbf16>) : vector<9xbf16>
  %ones = llvm.mlir.constant(dense<1.0> : vector<9xf32>) : vector<9xf32>
  %loaded = llvm.load %p : !llvm.ptr -> vector<9xbf16>
  %put = llvm.insertelement %nan, %loaded[%lane : i64] : vector<9xbf16>
  llvm.br ^bb1(%put : vector<9xbf16>)
^bb1(%carried: vector<9xbf16>):
  %chosen = llvm.select %which, %nans, %carried : vector<9xi1>, vector<9xbf16>
  %words = llvm.bitcast %chosen : vector<9xbf16> to vector<9xi16>
  %back = llvm.bitcast %words : vector<9xi16> to vector<9xbf16>
  llvm.store %back, %p : vector<9xbf16>, !llvm.ptr
  llvm.store %ones, %p : vector<9xf32>, !llvm.ptr
  llvm.cond_br %again, ^bb1(%chosen : vector<9xbf16>), ^bb2
^bb2:
  llvm.return
}

// CHECK-LABEL: llvm.func @keeps(
//  CHECK-SAME:   %[[P:.+]]: !llvm.ptr, %[[A:.+]]: bf16) -> bf16
//       CHECK:   %[[WORD:.+]] = llvm.bitcast %[[A]] : bf16 to i16
//       CHECK:   llvm.store %[[WORD]], %[[P]] : i16, !llvm.ptr
//       CHECK:   %[[V:.+]] = llvm.load %[[P]] : !llvm.ptr -> vector<9xi16>
//       CHECK:   %[[F:.+]] = llvm.bitcast %[[V]] : vector<9xi16> to vector<9xbf16>
//       CHECK:   %[[R:.+]] = llvm.call @take(%[[F]], %{{.+}}) : (vector<9xbf16>, f32) -> bf16
//       CHECK:   %[[S:.+]] = llvm.bitcast %[[R]] : bf16 to i16
//       CHECK:   llvm.store %[[S]], %[[P]] : i16, !llvm.ptr
//       CHECK:   %[[T:.+]] = llvm.bitcast %[[S]] : i16 to bf16
//       CHECK:   llvm.return %[[T]] : bf16
llvm.func @keeps(%p: !llvm.ptr, %a: bf16) -> bf16 {
  llvm.store %a, %p : bf16, !llvm.ptr
  %v = llvm.load %p : !llvm.ptr -> vector<9xbf16>
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %r = llvm.call @take(%v, %one) : (vector<9xbf16>, f32) -> bf16
  llvm.store %r, %p : bf16, !llvm.ptr
  llvm.return %r : bf16
}
