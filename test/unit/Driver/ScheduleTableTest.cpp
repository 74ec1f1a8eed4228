//===- ScheduleTableTest.cpp - Tables of schedules ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/ScheduleTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::evoformer;

static ProblemShape parse(llvm::StringRef text) {
  auto shape = parseProblemShape(text);
  EXPECT_TRUE(bool(shape)) << text.str();
  return shape ? *shape : ProblemShape();
}

static std::string problemOf(llvm::StringRef text) {
  auto shape = parseProblemShape(text);
  return shape ? "" : toString(shape.takeError());
}

TEST(ProblemShape, Text) {
  EXPECT_EQ(parse("bf16,32,384,390,1536").str(), "bf16,32,384,390,1536");
  auto problem = parseAttentionCase("B=2 N=3 H=4 Sq=5 Sk=6 D=8 Dv=16 type=f16");
  ASSERT_TRUE(bool(problem));
  EXPECT_EQ(getShape(*problem).str(), "f16,16,5,6,24");
  // Of nothing the least, of too many the most.
  auto none = parseAttentionCase("B=0 Sq=0 Sk=0 D=8 type=f16");
  ASSERT_TRUE(bool(none));
  EXPECT_EQ(getShape(*none).str(), "f16,8,1,1,1");
  problem->batch = problem->rows = problem->heads = int64_t(1) << 31;
  EXPECT_EQ(getShape(*problem).items, std::numeric_limits<int64_t>::max());
  for (llvm::StringRef wrong :
       {"", "bf16", "bf16,32,384,390", "bf16,32,384,390,0", "bf16,32,x,390,1",
        "bf16,32,384,390,1,1"})
    EXPECT_NE(problemOf(wrong).find(
                  "is not a type (bf16, f16 or f32), depth, queries, keys and "
                  "batches times rows times heads, as in "
                  "bf16,32,384,384,1536"),
              std::string::npos);
}

TEST(ProblemShape, Classes) {
  auto same = [](llvm::StringRef a, llvm::StringRef b) {
    return parse(a).getClass() == parse(b).getClass();
  };
  // Up to the same power of two, and of four.
  EXPECT_TRUE(same("bf16,32,257,512,1025", "bf16,32,512,257,4096"));
  EXPECT_FALSE(same("bf16,32,256,512,1025", "bf16,32,512,512,1025"));
  EXPECT_FALSE(same("bf16,32,512,512,1024", "bf16,32,512,512,1025"));
  EXPECT_FALSE(same("bf16,32,512,512,1025", "f16,32,512,512,1025"));
  EXPECT_FALSE(same("bf16,32,512,512,1025", "bf16,24,512,512,1025"));
}

static ScheduleEntry makeEntry(llvm::StringRef kernel, llvm::StringRef shape,
                               llvm::StringRef schedule) {
  ScheduleEntry entry;
  entry.chip = "gfx942";
  entry.kernel = kernel.str();
  entry.shape = parse(shape);
  entry.schedule = schedule.str();
  return entry;
}

TEST(ScheduleTable, FindsItsClass) {
  ScheduleTable table;
  table.add(makeEntry("attention", "bf16,32,384,384,1536", "q=64"));
  table.add(makeEntry("query_grad", "bf16,32,384,384,1536", "k=64,stages=1"));
  table.add(makeEntry("bias_grad", "bf16,32,384,384,1536", ""));
  ProblemShape near = parse("bf16,32,512,300,2000");
  EXPECT_EQ(table.find("gfx942", near),
            "attention:v1:q=64;query_grad:v1:k=64,stages=1");
  EXPECT_EQ(table.find("gfx950", near), "");
  EXPECT_EQ(table.find("gfx942", parse("bf16,32,200,300,2000")), "");
  // Found again, of the same class.
  table.add(makeEntry("attention", "bf16,32,400,400,1500", ""));
  EXPECT_EQ(table.getEntries().size(), 3u);
  EXPECT_EQ(table.find("gfx942", near), "query_grad:v1:k=64,stages=1");
  // What was measured stays.
  ScheduleEntry measured =
      makeEntry("attention", "bf16,32,400,400,1500", "q=32");
  measured.isMeasured = true;
  EXPECT_TRUE(table.add(measured));
  EXPECT_FALSE(table.add(makeEntry("attention", "bf16,32,384,384,1536", "")));
  EXPECT_TRUE(table.add(measured));
}

namespace {
/// A file that goes away with this object.
class Scratch {
public:
  explicit Scratch(llvm::StringRef text) {
    int file;
    EXPECT_FALSE(
        llvm::sys::fs::createTemporaryFile("table", "json", file, path));
    llvm::raw_fd_ostream(file, /*shouldClose=*/true) << text;
    remover.setFile(path);
  }
  llvm::SmallString<128> path;

private:
  llvm::FileRemover remover;
};
} // namespace

static std::string readProblem(llvm::StringRef text) {
  Scratch file(text);
  auto table = ScheduleTable::read(file.path);
  return table ? "" : toString(table.takeError());
}

TEST(ScheduleTable, Files) {
  Scratch file("");
  ScheduleTable table;
  ScheduleEntry entry =
      makeEntry("attention", "bf16,32,384,384,1536", "q=64,stages=2");
  entry.isMeasured = true;
  entry.cost = 12.5;
  entry.defaultCost = 14;
  table.add(entry);
  ASSERT_FALSE(bool(table.write(file.path)));
  auto read = ScheduleTable::read(file.path);
  ASSERT_TRUE(bool(read));
  ASSERT_EQ(read->getEntries().size(), 1u);
  const ScheduleEntry &again = read->getEntries().front();
  EXPECT_EQ(again.schedule, entry.schedule);
  EXPECT_EQ(again.shape.str(), entry.shape.str());
  EXPECT_TRUE(again.isMeasured);
  EXPECT_EQ(again.cost, 12.5);
  EXPECT_EQ(again.defaultCost, 14);

  auto has = [](const std::string &text, llvm::StringRef part) {
    return llvm::StringRef(text).contains(part);
  };
  EXPECT_TRUE(has(readProblem("{"), "is no table of schedules"));
  EXPECT_TRUE(has(readProblem("[]"), "is no table of schedules"));
  EXPECT_TRUE(has(readProblem(R"({"version": 2, "schedules": []})"),
                  "has version 2; known is 1"));
  EXPECT_TRUE(has(readProblem(R"({"version": 1, "schedules": [{}]})"),
                  "missing value at table.schedules[0].chip"));
  EXPECT_TRUE(
      has(readProblem(R"({"version": 1, "schedules": [{"chip": "gfx942",
          "kernel": "attention", "schedule": "q=64", "shape": "bf16"}]})"),
          "expected <type>,<depth>,<queries>,<keys>,<batches times rows times "
          "heads> at table.schedules[0].shape"));
}

TEST(ScheduleTable, RefusesWhatIsNotASchedule) {
  auto entry = [](llvm::StringRef kernel) {
    return (R"({"chip": "gfx942", "kernel": ")" + kernel +
            R"(", "schedule": "q=64", "shape": "bf16,32,384,384,1536"})")
        .str();
  };
  auto tableOf = [](const std::string &entries) {
    return R"({"version": 1, "schedules": [)" + entries + "]}";
  };
  EXPECT_EQ(readProblem(tableOf(entry("attention") + "," + entry("weights"))),
            "");
  EXPECT_NE(readProblem(tableOf(entry("query_gard")))
                .find("expected attention, query_grad, key_value_grad, "
                      "bias_grad or weights at table.schedules[0].kernel"),
            std::string::npos);
  EXPECT_NE(
      readProblem(tableOf(entry("attention") + "," + entry("attention")))
          .find("has two schedules of attention for gfx942 and shapes like "
                "bf16,32,384,384,1536"),
      std::string::npos);
}

TEST(ScheduleTable, ForcedComesFirst) {
  ScheduleTable table;
  table.add(makeEntry("attention", "bf16,32,384,384,1536", "q=64"));
  Scratch file("");
  ASSERT_FALSE(bool(table.write(file.path)));
  CompileOptions options;
  options.target = "gfx942";
  options.schedules = file.path.str().str();
  CompileOptions forced = options;
  forced.schedule = "v1:q=32";
  ProblemShape shape = parse("bf16,32,384,384,1536");
  ASSERT_FALSE(bool(chooseFromTable(options, shape)));
  EXPECT_EQ(options.schedule, "attention:v1:q=64");
  EXPECT_TRUE(options.mayDropSchedule);
  ASSERT_FALSE(bool(chooseFromTable(forced, shape)));
  EXPECT_EQ(forced.schedule, "v1:q=32");
  EXPECT_FALSE(forced.mayDropSchedule);
}
