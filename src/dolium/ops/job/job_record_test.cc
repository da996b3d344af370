#include "dolium/ops/job/job_record.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/container/testing/must.h"

namespace dolium {
namespace {

using testing::HasSubstr;

JobRecord MakeRecord() {
  JobRecord record;
  record.kind = "convert";
  record.request =
      R"({"skip_damaged":true,"source":"/data/a \"quoted\" name","source_spec":"{}"})";
  record.source = "state";
  record.parameters = R"({"lists":18446744073709551615})";
  record.replaces = "b";
  return record;
}

TEST(JobRecord, IsTheSameAfterBeingText) {
  const JobRecord record = MakeRecord();
  const JobRecord read = Must(ParseJobRecord(Must(ToText(record))));
  EXPECT_EQ(DifferenceOf(read, record), std::nullopt);
  EXPECT_EQ(read.kind, "convert");
  EXPECT_EQ(read.request, record.request);
  EXPECT_EQ(read.source, "state");
  EXPECT_EQ(read.parameters, record.parameters);
  EXPECT_EQ(read.replaces, "b");
}

TEST(JobRecord, ShowsReadersOfAnUnfinishedSetHowItIsDescribed) {
  JobRecord record = MakeRecord();
  record.parameters = R"({"description":"{}","lists":2})";
  const std::string text = Must(ToText(record));
  EXPECT_THAT(text, HasSubstr("\n  \"description\": \"{}\""));
  EXPECT_EQ(Must(ParseJobRecord(text)).parameters, record.parameters);
}

TEST(JobRecord, CannotHoldAPathThatIsNotText) {
  JobRecord record = MakeRecord();
  record.replaces = "\xff";
  const auto text = ToText(record);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
}

TEST(JobRecord, RejectsWhatIsNotAJob) {
  for (const char* text :
       {"", "{", "[]", "7", "{}", R"({"operation": "write"})", R"({"dolium_job": "1"})",
        R"({"dolium_job": 1})",
        R"({"dolium_job": 1, "kind": "convert", "request": 5, "source": "",
            "parameters": {}, "replaces": ""})",
        R"({"dolium_job": 1, "kind": "convert", "request": {}, "source": "",
            "parameters": {}, "replaces": "../elsewhere"})"}) {
    const auto record = ParseJobRecord(text);
    ASSERT_FALSE(record) << text;
    EXPECT_EQ(record.error().code, ErrorCode::kCorrupt) << text;
  }
  const auto newer = ParseJobRecord(R"({"dolium_job": 2})");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(newer.error().message, HasSubstr("of version 2, not 1"));
}

TEST(JobRecord, KnowsThoseOfEarlierVersions) {
  for (const char* text :
       {R"({"dolium_plan": 1, "operation": "convert"})", R"({"dolium_volume_plan": 2})",
        R"({"dolium_dvid_export": 1})"}) {
    const auto record = ParseJobRecord(text);
    ASSERT_FALSE(record) << text;
    EXPECT_EQ(record.error().code, ErrorCode::kUnsupported) << text;
    EXPECT_THAT(record.error().message, HasSubstr("an earlier version of dolium"));
  }
}

TEST(DifferenceOf, NamesTheFirstFieldThatDiffers) {
  const JobRecord found = MakeRecord();
  JobRecord wanted = found;
  wanted.source = "another state";
  wanted.parameters = "{}";
  EXPECT_EQ(DifferenceOf(found, wanted), std::nullopt);
  wanted.request =
      R"({"skip_damaged":false,"source":"/data/a \"quoted\" name","source_spec":"{}"})";
  EXPECT_EQ(DifferenceOf(found, wanted), "its skip_damaged is true, not false");
  wanted.request = R"({"skip_damaged":true,"source":"/data/a \"quoted\" name"})";
  EXPECT_EQ(DifferenceOf(found, wanted), "its source_spec differs");
  wanted.kind = "volume";
  EXPECT_EQ(DifferenceOf(found, wanted), "its kind is convert");
}

TEST(JobTask, IsTheSameAfterBeingOneLine) {
  const std::string text = Must(ToText(JobTask{"volume", "/v", "0123", 7, 2, "cells"}));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const JobTask read = Must(ParseTask(text));
  EXPECT_EQ(read.kind, "volume");
  EXPECT_EQ(read.folder, "/v");
  EXPECT_EQ(read.job, "0123");
  EXPECT_EQ(read.part, 7u);
  EXPECT_EQ(read.stage, 2u);
  EXPECT_EQ(read.detail, "cells");
  EXPECT_EQ(ParseTask(R"({"dolium_task": 1})").error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(ParseTask("[]").error().code, ErrorCode::kInvalidArgument);
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
  JobReport report;
  report.written = {10, 20, 30, 40};
  report.parts = 7;
  report.skipped.push_back({Severity::kError, "io", "o\xff", "k", std::nullopt, "m"});
  const std::string text = Must(FinishedText(MakeRecord(), report));
  EXPECT_EQ(Must(ParseJobRecord(text)).replaces, "b");
  const JobReport read = Must(ParseFinishedReport(text));
  EXPECT_EQ(read.written.value_bytes, 20u);
  EXPECT_EQ(read.written.stored_bytes, 30u);
  EXPECT_EQ(read.parts, 7u);
  ASSERT_EQ(read.skipped.size(), 1u);
  EXPECT_EQ(read.skipped[0].object, "o\xef\xbf\xbd");
}

}  // namespace
}  // namespace dolium
