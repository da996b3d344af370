// ConvertTest and ForceTest: what the tests of conversions start from.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/read_entry.h"
#include "dolium/container/testing/must.h"
#include "dolium/ops/convert.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/testing/toy_format.h"

namespace dolium {

namespace fs = std::filesystem;

using Values = std::map<uint64_t, std::string>;

inline constexpr Format kFormats[] = {toy::kFormat};

inline Values MakeValues(uint64_t count, uint64_t seed = 1) {
  Values values;
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < count; ++i) {
    values[i * 11] = std::string(random() % 200, static_cast<char>('a' + random() % 26));
  }
  return values;
}

inline void WriteText(const std::string& path, std::string_view text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string ReadText(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A toy set, written without any of what is tested here.
inline void WriteSet(const std::string& folder, uint64_t parts, const Values& values) {
  std::vector<std::string> indexes(parts);
  std::vector<std::string> payloads(parts);
  for (const auto& [key, value] : values) {
    indexes[key % parts] += fmt::format("{} {}\n", key, value.size());
    payloads[key % parts] += value;
  }
  for (uint64_t part = 0; part < parts; ++part) {
    WriteText(fmt::format("{}/{}.toy", folder, part),
              indexes[part] + "\n" + payloads[part]);
  }
  WriteText(folder + "/info", fmt::format("toy {}", parts));
}

// The whole set, or the error of opening it.
inline Result<Values> ReadSet(const std::string& folder) {
  DOLIUM_TRY(const Location location, ParseLocation(folder));
  DOLIUM_TRY(const auto container, OpenContainer(kFormats, location, "toy", {}));
  Values values;
  std::optional<Error> failure;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    auto data = ReadEntry(container->store(), entry);
    if (data) values[std::stoull(entry.key)] = std::string(AsText(data->value));
    if (!data) failure = std::move(data).error();
    return !failure;
  };
  DOLIUM_TRY_VOID(Scan(*container, visitor));
  if (failure) return *failure;
  return values;
}

inline std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Every file of a folder, with the size and a hash of its bytes.
inline std::map<std::string, std::string> Files(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string text = ReadText(entry.path().string());
    files[fs::relative(entry.path(), folder).string()] =
        fmt::format("{} bytes {:x}", text.size(), std::hash<std::string>()(text));
  }
  return files;
}

// Where tests that sync much are quick: a file system in memory, if there is one.
inline std::string QuickFolder() {
  return fs::is_directory("/dev/shm") ? "/dev/shm" : "";
}

// A toy set of 3 parts to be converted to one of 7, and what that should look like.
class ConvertTest : public testing::Test {
 protected:
  void SetUp() override {
    WriteSet(source_, 3, values_);
    WriteSet(expected_, 7, values_);
    request_.source = source_;
    request_.target = target_;
    request_.parameters["parts"] = "7";
    options_.writer.jobs = 2;
  }

  Result<ConvertReport> Run() { return Convert(kFormats, request_, options_); }

  // Plans, and does the first `tasks` tasks.
  Plan RunSome(size_t tasks) {
    const Plan plan = Must(PlanConvert(kFormats, request_, options_));
    for (size_t i = 0; i < tasks; ++i)
      Must(RunTask(kFormats, plan.tasks().at(i), options_));
    return plan;
  }

  static Result<JobReport> Finish(const Plan& plan) {
    return FinishJob(kFormats, Must(ParseLocation(plan.folder)), {});
  }

  void ExpectDone() {
    EXPECT_EQ(Files(target_), Files(expected_));
    EXPECT_THAT(Names(folder_.path()),
                testing::UnorderedElementsAre("expected", "source", "target"));
  }

  std::string ErrorOf(const Result<ConvertReport>& result, ErrorCode code) {
    if (result) return "no error";
    EXPECT_EQ(result.error().code, code) << result.error().message;
    return result.error().message;
  }

  const TemporaryFolder folder_{QuickFolder()};
  const Values values_ = MakeValues(400);
  const std::string source_ = folder_.path() + "/source";
  const std::string target_ = folder_.path() + "/target";
  const std::string expected_ = folder_.path() + "/expected";
  ConvertRequest request_;
  RunOptions options_;
};

// The same, with a set of 2 parts in its way.
class ForceTest : public ConvertTest {
 protected:
  void SetUp() override {
    ConvertTest::SetUp();
    WriteSet(target_, 2, old_);
    request_.force = true;
  }

  const Values old_ = MakeValues(50, 2);
  const std::string fresh_ = target_ + ".dolium-new";
  const std::string aside_ = target_ + ".dolium-old";
};

}  // namespace dolium
