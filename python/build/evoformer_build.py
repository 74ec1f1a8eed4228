"""The build backend: scikit-build-core's, told where LLVM is, after a look at
whether all that the build needs is there."""

import os
import sys

from scikit_build_core import build as backend
from scikit_build_core.build import (build_sdist, get_requires_for_build_editable,
                                     get_requires_for_build_sdist,
                                     get_requires_for_build_wheel,
                                     prepare_metadata_for_build_editable,
                                     prepare_metadata_for_build_wheel)

__all__ = ["build_editable", "build_sdist", "build_wheel",
           "get_requires_for_build_editable", "get_requires_for_build_sdist",
           "get_requires_for_build_wheel", "prepare_metadata_for_build_editable",
           "prepare_metadata_for_build_wheel"]

PACKAGES = ("clang-22 lld-22 llvm-22-dev libmlir-22-dev mlir-22-tools "
            "liblld-22-dev libzstd-dev zlib1g-dev")


def _prepare():
    prefix = os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22")
    needed = ("bin/clang++", "bin/ld.lld", "bin/mlir-tblgen",
              "lib/cmake/mlir/MLIRConfig.cmake", "lib/cmake/lld/LLDConfig.cmake",
              "lib/libMLIRIR.a")
    missing = [name for name in needed
               if not os.path.exists(os.path.join(prefix, name))]
    if missing:
        sys.exit(f"evoformer needs LLVM and MLIR 22; {prefix} lacks {missing[0]}: "
                 f"run 'apt-get install {PACKAGES}', or set LLVM_PREFIX to where "
                 "they are")
    options = [f"-DCMAKE_C_COMPILER={prefix}/bin/clang",
               f"-DCMAKE_CXX_COMPILER={prefix}/bin/clang++",
               "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld",
               "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"]
    options += [f"-D{name.upper()}_DIR={prefix}/lib/cmake/{name}"
                for name in ("llvm", "mlir", "lld")]
    os.environ["CMAKE_ARGS"] = " ".join(
        options + [os.environ.get("CMAKE_ARGS", "")]).strip()
    # A compiler of this project takes up to 1.5 GB of memory.
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _prepare()
    return backend.build_wheel(wheel_directory, config_settings,
                               metadata_directory)


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    _prepare()
    return backend.build_editable(wheel_directory, config_settings,
                                  metadata_directory)
