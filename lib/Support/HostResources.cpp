//===- HostResources.cpp - Files and memory of this machine ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Support/HostResources.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
namespace fs = llvm::sys::fs;

Expected<std::unique_ptr<MemoryBuffer>>
mlir::evoformer::readFile(StringRef path) {
  // Opening a pipe would wait for its writer.
  int file = sys::RetryAfterSignal(-1, ::open, path.str().c_str(),
                                   O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return createFileError(path, errnoAsErrorCode());
  struct stat status;
  Expected<std::unique_ptr<MemoryBuffer>> result =
      createFileError(path, createStringError("it is no regular file"));
  if (::fstat(file, &status) != 0) {
    result = createFileError(path, errnoAsErrorCode());
  } else if (S_ISREG(status.st_mode)) {
    if (Error error = checkMemory(status.st_size, "'" + path + "'"))
      result = std::move(error);
    else if (auto buffer =
                 MemoryBuffer::getOpenFile(file, path, status.st_size))
      result = std::move(*buffer);
    else
      result = createFileError(path, buffer.getError());
  }
  ::close(file);
  return result;
}

/// Writes to an open file; the stream's error instead of its abort.
static Error writeStream(raw_fd_ostream &os, StringRef path,
                         function_ref<void(raw_ostream &)> write) {
  write(os);
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error ? createFileError(path, error) : Error::success();
}

/// Writes to what is no regular file: a device, or a pipe.
static Error writeInto(StringRef path, fs::file_type type,
                       function_ref<void(raw_ostream &)> write) {
  // Opening a pipe would wait for its reader.
  int file = sys::RetryAfterSignal(-1, ::open, path.str().c_str(),
                                   O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENXIO && type == fs::file_type::fifo_file)
    return createFileError(path,
                           createStringError("it is a pipe that nobody reads"));
  if (file < 0)
    return createFileError(path, errnoAsErrorCode());
  // A slow reader is waited for.
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  raw_fd_ostream os(file, /*shouldClose=*/true);
  return writeStream(os, path, write);
}

Error mlir::evoformer::writeFile(StringRef path,
                                 function_ref<void(raw_ostream &)> write) {
  if (path == "-")
    return writeStream(outs(), path, write);
  fs::file_status status;
  std::error_code absent = fs::status(path, status);
  if (!absent && !fs::is_regular_file(status))
    return writeInto(path, status.type(), write);
  // A link stays one: what it points to is replaced.
  SmallString<128> place(path);
  if (!absent)
    if (std::error_code error = fs::real_path(path, place))
      return createFileError(path, error);
  Expected<fs::TempFile> file = fs::TempFile::create(place + ".%%%%%%.part");
  if (!file)
    return createFileError(path, file.takeError());
  raw_fd_ostream os(file->FD, /*shouldClose=*/false);
  if (Error error = writeStream(os, path, write))
    return joinErrors(std::move(error), file->discard());
  if (Error error = file->keep(place))
    return createFileError(path, std::move(error));
  return Error::success();
}

Error mlir::evoformer::checkMemory(uint64_t bytes, const Twine &what) {
  uint64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  uint64_t memory = pages * size;
  if (bytes <= memory)
    return Error::success();
  return createStringError(what + " takes " + Twine(bytes >> 20) +
                           " MiB, this machine has " + Twine(memory >> 20) +
                           " MiB of memory");
}
