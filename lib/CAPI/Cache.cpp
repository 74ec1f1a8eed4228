//===- Cache.cpp - Compiled programs on disk ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whose a folder or a file is, is asked of what was opened, and files are
// opened in the folder that was asked: names may come to mean something else
// meanwhile.
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace mlir::evoformer::capi;

constexpr StringLiteral magic = "evoformer-cache 2 ";
/// No entry of ours comes near it.
constexpr off_t maxEntryBytes = off_t(1) << 30;

std::string mlir::evoformer::capi::hashText(StringRef text) {
  return toHex(SHA256::hash(arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

std::string DiskCache::getDefaultFolder() {
  if (const char *folder = std::getenv("EVOFORMER_CACHE_DIR"))
    return folder;
  SmallString<128> path;
  if (!sys::path::cache_directory(path))
    return "";
  sys::path::append(path, "evoformer");
  return path.str().str();
}

namespace {
/// An open file or folder, or none.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  Descriptor(Descriptor &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  explicit operator bool() const { return number >= 0; }
  int operator*() const { return number; }

private:
  int number = -1;
};
} // namespace

/// Says once what is not used, and why.
static void refuse(const Twine &what, StringRef why) {
  static std::mutex mutex;
  static StringSet<> said;
  std::lock_guard<std::mutex> lock(mutex);
  std::string text = ("evoformer: " + what + " is not used: " + why).str();
  if (said.insert(text).second)
    errs() << text << '\n';
}

/// Whether only the user of this process can have written what is open.
static bool isOwn(const struct stat &status, const Twine &what) {
  if (status.st_uid != ::geteuid())
    refuse(what, "it belongs to another user");
  else if (status.st_mode & (S_IWGRP | S_IWOTH))
    refuse(what, "others can write to it (chmod go-w mends that)");
  else
    return true;
  return false;
}

/// The folder, if it can be used.
static Descriptor openFolder(const std::string &path) {
  Descriptor folder(sys::RetryAfterSignal(-1, ::open, path.c_str(),
                                          O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (!folder || ::fstat(*folder, &status) != 0 ||
      !isOwn(status, "the cache folder '" + path + "'"))
    return {};
  return folder;
}

/// The same, made where there is none.
static Descriptor makeFolder(const std::string &path) {
  if (path.empty() || sys::fs::create_directories(path, /*IgnoreExisting=*/true,
                                                  sys::fs::owner_all))
    return {};
  return openFolder(path);
}

static std::string getFileName(StringRef key) { return (key + ".plan").str(); }

/// Of a key and its contents.
static std::string getChecksum(StringRef key, StringRef contents) {
  return hashText((key + "\n" + contents).str());
}

std::optional<std::string> DiskCache::get(StringRef key) const {
  if (folder.empty())
    return std::nullopt;
  Descriptor place = openFolder(folder);
  if (!place)
    return std::nullopt;
  // Not what a link names, and without waiting for a pipe's writer.
  std::string name = getFileName(key);
  Descriptor file(
      sys::RetryAfterSignal(-1, ::openat, *place, name.c_str(),
                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || ::fstat(*file, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > maxEntryBytes ||
      !isOwn(status, "the cache entry '" + name + "' in '" + folder + "'"))
    return std::nullopt;
  // Read and not mapped: a file that becomes shorter would be a signal.
  auto buffer = MemoryBuffer::getOpenFile(*file, name, status.st_size,
                                          /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  if (!buffer)
    return std::nullopt;
  StringRef text = (*buffer)->getBuffer();
  if (!text.consume_front(magic))
    return std::nullopt;
  auto [checksum, contents] = text.split('\n');
  if (checksum != getChecksum(key, contents))
    return std::nullopt;
  return contents.str();
}

void DiskCache::put(StringRef key, StringRef contents) const {
  Descriptor place = makeFolder(folder);
  if (!place)
    return;
  // Several processes may write one entry: each its own file, renamed when it
  // is whole.
  std::string number = utohexstr(sys::Process::GetRandomNumber());
  std::string own =
      (key + "-" + Twine(::getpid()) + "-" + number + ".tmp").str();
  int file = ::openat(*place, own.c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      S_IRUSR | S_IWUSR);
  if (file < 0)
    return;
  raw_fd_ostream os(file, /*shouldClose=*/true);
  os << magic << getChecksum(key, contents) << '\n' << contents;
  os.close();
  bool good = !os.has_error();
  os.clear_error();
  if (!good ||
      ::renameat(*place, own.c_str(), *place, getFileName(key).c_str()) != 0)
    ::unlinkat(*place, own.c_str(), 0);
}

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

namespace {
/// flock(2) of a file beside the entry, which is gone when nobody holds it.
class FileLock {
public:
  FileLock(Descriptor place, Descriptor file, std::string name)
      : place(std::move(place)), file(std::move(file)), name(std::move(name)) {}
  ~FileLock() {
    ::unlinkat(*place, name.c_str(), 0);
    // And not by closing it alone: a child that was forked meanwhile has it
    // too.
    ::flock(*file, LOCK_UN);
  }

private:
  Descriptor place, file;
  std::string name;
};
} // namespace

static std::chrono::steady_clock::duration getPatience() {
  unsigned seconds = 600;
  if (const char *text = std::getenv("EVOFORMER_CACHE_WAIT"))
    if (StringRef(text).getAsInteger(10, seconds))
      seconds = 600;
  return std::chrono::seconds(seconds);
}

std::shared_ptr<void> DiskCache::lock(StringRef key) const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds pause(10);
  Descriptor place = makeFolder(folder);
  if (!place)
    return nullptr;
  std::string name = (key + ".lock").str();
  Clock::time_point start = Clock::now(), last = start + getPatience();
  bool said = false;
  while (Clock::now() <= last) {
    Descriptor file(sys::RetryAfterSignal(
        -1, ::openat, *place, name.c_str(),
        O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file)
      return nullptr;
    while (::flock(*file, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) {
        ::unlinkat(*place, name.c_str(), 0);
        return nullptr;
      }
      if (Clock::now() > last)
        return nullptr;
      if (!said && Clock::now() > start + std::chrono::seconds(2)) {
        errs() << "evoformer: waiting for another process that compiles "
                  "the same and holds '"
               << folder << "/" << name
               << "'; EVOFORMER_CACHE_WAIT says for how many seconds at "
                  "most\n";
        said = true;
      }
      std::this_thread::sleep_for(pause);
    }
    // Who had it before has removed it: others lock another file of that name.
    struct stat status;
    if (::fstat(*file, &status) == 0 && status.st_nlink == 0) {
      std::this_thread::sleep_for(pause);
      continue;
    }
    return std::make_shared<FileLock>(std::move(place), std::move(file),
                                      std::move(name));
  }
  return nullptr;
}
