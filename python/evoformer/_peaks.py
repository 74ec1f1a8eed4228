"""Rates of devices, for bounds of time: TFLOP/s of dense 16-bit matrix products, of
float32 as it is compiled here (fused multiply-adds on NVIDIA, float32 matrix
instructions on AMD), and TB/s of memory.

Sources, in the vendors' own words; where they name a rate "with sparsity", half of
it is the dense one:

* NVIDIA H200 Tensor Core GPU data sheet, H200 SXM: BFLOAT16 Tensor Core 1979
  TFLOPS with sparsity, FP32 67 TFLOPS, 4.8 TB/s; H200 NVL: 1671 TFLOPS with
  sparsity, 60 TFLOPS, 4.8 TB/s
* NVIDIA H100 Tensor Core GPU data sheet, H100 SXM: BFLOAT16 Tensor Core 1979
  TFLOPS with sparsity, FP32 67 TFLOPS, 3.35 TB/s; H100 PCIe: 1513 TFLOPS with
  sparsity, 51 TFLOPS, 2 TB/s
* NVIDIA A100 Tensor Core GPU data sheet, A100 80GB SXM: BFLOAT16 Tensor Core 312
  TFLOPS, FP32 19.5 TFLOPS, 2039 GB/s
* NVIDIA L40S data sheet: BFLOAT16 Tensor Core 362.05 TFLOPS, FP32 91.6 TFLOPS,
  864 GB/s
* NVIDIA Ada GPU architecture white paper, appendix A, GeForce RTX 4090: BF16
  Tensor TFLOPS with FP32 accumulate 165.2, FP32 82.6, 1008 GB/s
* AMD Instinct MI300X data sheet: bfloat16 1307.4 TFLOPs, FP32 Matrix 163.4
  TFLOPs, 5.3 TB/s; MI325X data sheet: the same rates, 6 TB/s
* AMD Radeon RX 7900 XTX product page: FP32 61.4 TFLOPs, 960 GB/s; 512
  operations of matrix products a clock and compute unit
  (https://gpuopen.com/learn/wmma_on_rdna3/) on 96 units at 2.5 GHz
"""

# The first name that is in a device's counts.
PEAKS = {
    "H200 NVL": (835.5, 60, 4.8),
    "H100 PCIe": (756.5, 51, 2),
    "H200": (989.5, 67, 4.8),
    "H100": (989.5, 67, 3.35),
    "A100": (312, 19.5, 2.039),
    "L40S": (362.05, 91.6, 0.864),
    "RTX 4090": (165.2, 82.6, 1.008),
    "MI300X": (1307.4, 163.4, 5.3),
    "MI325X": (1307.4, 163.4, 6),
    "RX 7900 XTX": (122.8, 61.4, 0.96),
}

# Exponentials a second. "CUDA C++ Programming Guide", "Arithmetic Instructions": 16
# results of special functions a clock and multiprocessor; H200 and H100 SXM have
# 132 of these at 1.98 GHz, the A100 108 at 1.41 GHz.
EXPONENTIALS = {
    "H200": 16 * 132 * 1.98e9,
    "H100": 16 * 132 * 1.98e9,
    "A100": 16 * 108 * 1.41e9,
}
