"""Inputs for rounding f32 to bf16, and the check of its results.

bf16.py make FILE            writes the f32 inputs
bf16.py check MODE OUT       compares the bf16 in OUT with exact rounding
"""

import struct
import sys

LANES = 64
PAIR = 2


def inputs():
    """Upper halves over all signs and exponents, each with the lower halves
    around the ties; a whole number of workgroups."""
    uppers = sorted(set(range(0, 0x10000, 37)) | {
        sign | exponent << 7 | mantissa
        for sign in (0, 0x8000) for exponent in (0, 1, 127, 254, 255)
        for mantissa in (0, 1, 2, 0x3f, 0x40, 0x7e, 0x7f)})
    bits = [upper << 16 | lower for upper in uppers
            for lower in (0, 1, 0x7fff, 0x8000, 0x8001, 0xffff)]
    bits += [0] * (-len(bits) % (LANES * PAIR))
    return bits


def is_nan(bits):
    return bits & 0x7fffffff > 0x7f800000


def rounded(bits, mode):
    upper, lower = bits >> 16, bits & 0xffff
    if mode == "even":
        return upper + (lower > 0x8000 or (lower == 0x8000 and upper & 1))
    if mode == "away":
        return upper + (lower >= 0x8000)
    return upper


def check(mode, result):
    wrong = 0
    for bits, got in zip(inputs(), result, strict=True):
        right = is_nan(got << 16) if is_nan(bits) else got == rounded(bits, mode)
        if not right:
            wrong += 1
            if wrong <= 10:
                print(f"{mode}: {bits:#010x} became {got:#06x}")
    return wrong


def main(arguments):
    if arguments[0] == "make":
        bits = inputs()
        with open(arguments[1], "wb") as file:
            file.write(struct.pack(f"<{len(bits)}I", *bits))
        return 0
    _, mode, path = arguments
    with open(path, "rb") as file:
        data = file.read()
    wrong = check(mode, struct.unpack(f"<{len(data) // 2}H", data))
    print(f"{mode}: {len(data) // 2} values, {wrong} wrong")
    return wrong != 0


sys.exit(main(sys.argv[1:]))
