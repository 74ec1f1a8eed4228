"""Writes and prints small .npy files without NumPy.

npy.py write FILE TYPE SHAPE VALUES | npy.py print FILE...
"""
import ast
import struct
import sys

CODES = {"f4": "f", "f8": "d", "i1": "b", "i4": "i", "b1": "?", "f2": "e"}


def write(path, kind, sizes, numbers):
    header = str({"descr": "<" + kind, "fortran_order": False, "shape": sizes})
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack("<%d%s" % (len(numbers), CODES[kind]), *numbers))


def read(path):
    """(type, shape, numbers)."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10:10 + length].decode())
    code = CODES[header["descr"][1:]]
    rest = data[10 + length:]
    count = len(rest) // struct.calcsize(code)
    return (header["descr"], header["shape"],
            struct.unpack("<%d%s" % (count, code), rest))


def main():
    if sys.argv[1] == "write":
        path, kind, shape, values = sys.argv[2:]
        number = int if kind[0] == "i" else float
        write(path, kind, tuple(int(size) for size in shape.split(",")),
              [number(value) for value in values.split(",")])
        return
    for path in sys.argv[2:]:
        kind, shape, values = read(path)
        print(kind, shape, *("%g" % value for value in values))


if __name__ == "__main__":
    main()
