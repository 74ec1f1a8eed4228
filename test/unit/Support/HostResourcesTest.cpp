//===- HostResourcesTest.cpp - Files and memory of this machine -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Support/HostResources.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <sys/stat.h>

using namespace mlir::evoformer;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace {

struct WriteFile : testing::Test {
  WriteFile() {
    EXPECT_FALSE(fs::createUniqueDirectory("evoformer-write", folder));
  }
  ~WriteFile() override { fs::remove_directories(folder); }

  std::string at(StringRef name) const { return (folder + "/" + name).str(); }
  static std::string write(StringRef path, StringRef text) {
    return toString(
        writeFile(path, [&](llvm::raw_ostream &os) { os << text; }));
  }
  static std::string contents(StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "(unreadable)";
  }
  int countFiles() const {
    std::error_code error;
    int count = 0;
    for (fs::directory_iterator it(folder, error), end; it != end && !error;
         it.increment(error))
      ++count;
    return count;
  }

  llvm::SmallString<128> folder;
};

TEST_F(WriteFile, CreatesAndReplaces) {
  EXPECT_EQ(write(at("a"), "first"), "");
  EXPECT_EQ(write(at("a"), "second"), "");
  EXPECT_EQ(contents(at("a")), "second");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(WriteFile, IsReadAgain) {
  std::string text(100000, 'x');
  EXPECT_EQ(write(at("a"), text), "");
  auto buffer = cantFail(readFile(at("a")));
  EXPECT_EQ(buffer->getBuffer(), text);
  EXPECT_EQ(*buffer->getBufferEnd(), '\0');
  EXPECT_EQ(write(at("empty"), ""), "");
  EXPECT_EQ(cantFail(readFile(at("empty")))->getBufferSize(), 0u);
}

TEST_F(WriteFile, NothingEndlessIsRead) {
  auto problem = [](StringRef path) {
    return toString(readFile(path).takeError());
  };
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  ASSERT_FALSE(fs::create_link("/dev/zero", at("link")));
  for (const char *name : {"pipe", "link", "."})
    EXPECT_EQ(problem(at(name)), "'" + at(name) + "': it is no regular file");
  EXPECT_EQ(problem(at("absent")),
            "'" + at("absent") + "': No such file or directory");
}

TEST_F(WriteFile, KeepsLinks) {
  EXPECT_EQ(write(at("a"), "first"), "");
  ASSERT_FALSE(fs::create_link(at("a"), at("link")));
  EXPECT_EQ(write(at("link"), "second"), "");
  EXPECT_EQ(contents(at("a")), "second");
  EXPECT_TRUE(fs::is_symlink_file(at("link")));
}

TEST_F(WriteFile, NamesWhatCannotBeWritten) {
  std::string error = write(at("none/a"), "text");
  EXPECT_NE(error.find("none/a"), std::string::npos) << error;
  EXPECT_NE(error.find("No such file or directory"), std::string::npos);
  error = write(folder, "text");
  EXPECT_NE(error.find("Is a directory"), std::string::npos) << error;
  EXPECT_EQ(countFiles(), 0);
}

TEST_F(WriteFile, ReportsAFullDevice) {
  fs::file_status status;
  if (fs::status("/dev/full", status) ||
      status.type() != fs::file_type::character_file)
    GTEST_SKIP() << "/dev/full is no device here";
  std::string error = write("/dev/full", "text");
  EXPECT_NE(error.find("No space left on device"), std::string::npos) << error;
  // It is still a device, not a file of that name.
  EXPECT_FALSE(fs::status("/dev/full", status));
  EXPECT_EQ(status.type(), fs::file_type::character_file);
}

TEST(Memory, RefusesMoreThanThereIs) {
  EXPECT_EQ(toString(checkMemory(1 << 20, "a little")), "");
  std::string error = toString(checkMemory(uint64_t(1) << 60, "too much"));
  EXPECT_EQ(error.find("too much takes 1099511627776 MiB, this machine has "),
            0u)
      << error;
}

} // namespace
