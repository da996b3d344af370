#include "dolium/ops/job/plan_record.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"

namespace dolium {
namespace {

using testing::HasSubstr;

PlanRecord MakeRecord() {
  PlanRecord record;
  record.request.source = "/data/a \"quoted\" name";
  record.request.source_spec = "{}";
  record.request.target = "/data/b";
  record.request.target_format = "toy";
  record.request.parameters = {{"hash", "identity"}, {"shard-size", "1"}};
  record.request.skip_damaged = true;
  record.format = "toy";
  record.description = "{\"parts\": 4}";
  record.replaces = "b";
  record.lists = 3;
  record.entries = ~uint64_t{0};
  record.bytes = 5;
  return record;
}

TEST(PlanRecord, IsTheSameAfterBeingText) {
  const PlanRecord record = MakeRecord();
  const PlanRecord read = Must(ParsePlanRecord(Must(ToText(record))));
  EXPECT_EQ(DifferenceOf(read.request, record.request), std::nullopt);
  EXPECT_EQ(read.request.source, record.request.source);
  EXPECT_EQ(read.request.parameters, record.request.parameters);
  EXPECT_EQ(read.format, "toy");
  EXPECT_EQ(read.description, record.description);
  EXPECT_EQ(read.replaces, "b");
  EXPECT_EQ(read.lists, 3u);
  EXPECT_EQ(read.entries, ~uint64_t{0});
  EXPECT_EQ(read.bytes, 5u);
}

TEST(PlanRecord, CannotHoldAPathThatIsNotText) {
  PlanRecord record = MakeRecord();
  record.request.source = "/data/\xff";
  const auto text = ToText(record);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
}

TEST(PlanRecord, RejectsWhatIsNotAPlan) {
  for (const char* text :
       {"", "{", "[]", "7", "{}", R"({"operation": "write"})", R"({"dolium_plan": "1"})",
        R"({"dolium_plan": 1})",
        R"({"dolium_plan": 1, "operation": "convert", "request": 5})"}) {
    const auto record = ParsePlanRecord(text);
    ASSERT_FALSE(record) << text;
    EXPECT_EQ(record.error().code, ErrorCode::kCorrupt) << text;
  }
  const auto newer = ParsePlanRecord(R"({"dolium_plan": 2})");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(newer.error().message, HasSubstr("of version 2, not 1"));
}

TEST(DifferenceOf, NamesTheFirstFieldThatDiffers) {
  const ConvertRequest found = MakeRecord().request;
  ConvertRequest wanted = found;
  wanted.force = true;
  EXPECT_EQ(DifferenceOf(found, wanted), std::nullopt);
  wanted.skip_damaged = false;
  EXPECT_EQ(DifferenceOf(found, wanted), "its skip_damaged is true, not false");
  wanted = found;
  wanted.source_spec = std::nullopt;
  EXPECT_EQ(DifferenceOf(found, wanted), "its source_spec differs");
}

TEST(PartReport, KeepsItsFindingsEvenIfTheyAreNotText) {
  PartReport report;
  report.part = 9;
  report.written = {1, 2, 3, 4};
  report.skipped.push_back(
      {Severity::kWarning, "bounds", "a/b", "k\xff", ByteRange{5, 6}, "message"});
  report.skipped.push_back({Severity::kError, "io", "a/c", "", std::nullopt, ""});
  const PartReport read = Must(ParsePartReport(ToText(report)));
  EXPECT_EQ(read.part, 9u);
  EXPECT_EQ(read.written.entries, 1u);
  EXPECT_EQ(read.written.objects, 4u);
  ASSERT_EQ(read.skipped.size(), 2u);
  EXPECT_EQ(read.skipped[0].severity, Severity::kWarning);
  EXPECT_EQ(read.skipped[0].range, (ByteRange{5, 6}));
  EXPECT_EQ(read.skipped[0].key, "k\xef\xbf\xbd");
  EXPECT_EQ(read.skipped[1].severity, Severity::kError);
  EXPECT_EQ(read.skipped[1].range, std::nullopt);
}

TEST(FinishedText, HoldsRecordAndReport) {
  ConvertReport report;
  report.written = {10, 20, 30, 40};
  report.parts = 7;
  report.skipped.push_back({Severity::kError, "io", "o\xff", "k", std::nullopt, "m"});
  const std::string text = Must(FinishedText(MakeRecord(), report));
  EXPECT_EQ(Must(ParsePlanRecord(text)).replaces, "b");
  const ConvertReport read = Must(ParseFinishedReport(text));
  EXPECT_EQ(read.written.value_bytes, 20u);
  EXPECT_EQ(read.written.stored_bytes, 30u);
  EXPECT_EQ(read.parts, 7u);
  ASSERT_EQ(read.skipped.size(), 1u);
  EXPECT_EQ(read.skipped[0].object, "o\xef\xbf\xbd");
}

}  // namespace
}  // namespace dolium
