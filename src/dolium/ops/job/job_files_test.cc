// Jobs that make files of samples or of a store, whose source changes: what is made is
// all of one state, or nothing.
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/ops/cas/cas_export.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/pack/pack_create.h"
#include "dolium/ops/pack/pack_export.h"
#include "dolium/ops/pack/pack_select.h"
#include "dolium/ops/testing/convert_fixture.h"

namespace dolium {
namespace {

// What is made in `target`, from `source` in the folder of the test.
struct FilesWork {
  std::string folder;
  std::string target;

  std::string Path(const std::string& name) const { return folder + "/" + name; }
};

struct FilesKind {
  const char* name;
  void (*prepare)(const FilesWork& work);
  void (*change)(const FilesWork& work);  // the source
  Result<void> (*run)(const FilesWork& work, const RunOptions& options);
};

void WriteSamples(const std::string& folder, const std::string& text, int count) {
  for (int i = 0; i < count; ++i) {
    WriteText(fmt::format("{}/s{:02}.txt", folder, i),
              fmt::format("{} sample {}", text, i));
  }
}

void PackSamples(const std::string& folder, const std::string& target) {
  const auto source = Must(dataset::OpenSampleSource("folder", folder, {}));
  dataset::CreateRequest request;
  request.output = target + "/t-0.shardpack";
  request.pack.shard_records = 5;
  request.pack.shard.reproducible = true;
  Must(CreatePack(*source, request));
}

void PreparePacks(const FilesWork& work) {
  WriteSamples(work.Path("old.samples"), "old", 20);
  PackSamples(work.Path("old.samples"), work.Path("source"));
  // As many, and as long.
  WriteSamples(work.Path("new.samples"), "new", 20);
  PackSamples(work.Path("new.samples"), work.Path("other"));
}

// One of the shards, of which there are four.
void ReplaceShard(const FilesWork& work) {
  fs::rename(work.Path("other/t-2.shardpack"), work.Path("source/t-2.shardpack"));
}

Result<void> ExportAs(const std::string& kind, const std::string& name,
                      const FilesWork& work, const RunOptions& options) {
  dataset::ExportRequest request;
  request.kind = kind;
  request.target = work.target + name;
  request.options.shard_samples = 4;
  request.references = {work.Path("source")};
  request.jobs = 1;
  request.at_step = options.at_step;
  request.progress = options.progress;
  DOLIUM_TRY(const auto set, dataset::OpenSampleSet(request.references));
  DOLIUM_TRY(const auto numbers, SelectSamples(*set, {}));
  DOLIUM_TRY([[maybe_unused]] const auto done, ExportSamples(*set, numbers, request));
  return {};
}

Result<void> ExportTars(const FilesWork& work, const RunOptions& options) {
  return ExportAs("webdataset", "/t.tar", work, options);
}
Result<void> ExportMds(const FilesWork& work, const RunOptions& options) {
  return ExportAs("mds", "", work, options);
}
Result<void> ExtractFiles(const FilesWork& work, const RunOptions& options) {
  return ExportAs("folder", "", work, options);
}

void PrepareStore(const FilesWork& work) {
  WriteSamples(work.Path("samples"), "old", 20);
  Must(cas::InitStore(work.Path("source")));
  const auto store = Must(cas::CasStore::Open(work.Path("source")));
  Must(cas::Put(*store, {work.Path("samples")}, {.name = "samples"}));
}

// Another version, which is the one that is exported.
void PutVersion(const FilesWork& work) {
  WriteSamples(work.Path("samples"), "new", 20);
  const auto store = Must(cas::CasStore::Open(work.Path("source")));
  Must(cas::Put(*store, {work.Path("samples")}, {.name = "samples"}));
}

Result<void> ExportStore(const FilesWork& work, const RunOptions& options) {
  CasExportRequest request;
  request.store = work.Path("source");
  request.target = work.target + "/t.mdb";
  request.xorbs = work.target + "/xorbs";
  request.references = {"samples"};
  request.jobs = 1;
  request.at_step = options.at_step;
  DOLIUM_TRY(const auto store, cas::CasStore::Open(request.store));
  DOLIUM_TRY([[maybe_unused]] const auto report, ExportFromCas(*store, request));
  return {};
}

constexpr FilesKind kFilesKinds[] = {
    {"webdataset", PreparePacks, ReplaceShard, ExportTars},
    {"mds", PreparePacks, ReplaceShard, ExportMds},
    {"extract", PreparePacks, ReplaceShard, ExtractFiles},
    {"cas", PrepareStore, PutVersion, ExportStore},
};

class FilesJobTest : public testing::TestWithParam<FilesKind> {
 protected:
  void SetUp() override { GetParam().prepare(work_); }

  std::map<std::string, std::string> MakeWhole(const std::string& name) const {
    const FilesWork whole{work_.folder, work_.Path(name)};
    Must(GetParam().run(whole, {}));
    return Files(whole.target);
  }

  const TemporaryFolder folder_{QuickFolder()};
  const FilesWork work_{folder_.path(), folder_.path() + "/target"};
};

TEST_P(FilesJobTest, IsBegunAgainIfItsSourceHasChanged) {
  const auto before = MakeWhole("before");
  RunOptions options;
  options.at_step = [](JobStep step) {
    if (step == JobStep::kPartsMade) throw std::runtime_error("killed");
  };
  EXPECT_THROW((void)GetParam().run(work_, options), std::runtime_error);
  GetParam().change(work_);
  const auto after = MakeWhole("after");
  ASSERT_NE(before, after);
  Must(GetParam().run(work_, {}));
  auto found = Files(work_.target);
  // Xorbs appear one by one, and those that the new state does not need harm nobody.
  std::erase_if(found, [&](const auto& file) {
    return file.first.starts_with("xorbs/") && !after.contains(file.first);
  });
  EXPECT_EQ(found, after);
}

TEST_P(FilesJobTest, IsOfOneStateIfItsSourceChangesMeanwhile) {
  const auto before = MakeWhole("before");
  bool has_changed = false;
  RunOptions options;
  options.progress = [&](const Progress&) {
    if (!std::exchange(has_changed, true)) GetParam().change(work_);
  };
  options.at_step = [&](JobStep step) {
    if (step != JobStep::kPartsMade) return;
    if (!std::exchange(has_changed, true)) GetParam().change(work_);
  };
  const auto ran = GetParam().run(work_, options);
  ASSERT_TRUE(has_changed);
  if (ran) {
    // It held open what it reads.
    EXPECT_EQ(Files(work_.target), before);
    return;
  }
  EXPECT_EQ(ran.error().code, ErrorCode::kConflict) << ran.error().message;
  Must(GetParam().run(work_, {}));
  EXPECT_EQ(Files(work_.target), MakeWhole("after"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, FilesJobTest, testing::ValuesIn(kFilesKinds),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace dolium
