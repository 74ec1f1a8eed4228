// Rows of A and B are multiples of 16 bytes, as the kernel's alignment promises.
// The numbers of iterations along K are 2, 3, 1 and 0.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  %c72 = arith.constant 72 : index
  %c128 = arith.constant 128 : index
  func.call @check(%c128, %c128, %c64) : (index, index, index) -> ()
  func.call @check(%c64, %c40, %c72) : (index, index, index) -> ()
  func.call @check(%c65, %c72, %c24) : (index, index, index) -> ()
  func.call @check(%c3, %c8, %c0) : (index, index, index) -> ()
  return
}
