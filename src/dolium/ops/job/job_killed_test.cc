// Every kind of job, killed at every step of its end: the same request completes it.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/cas/cas_export.h"
#include "dolium/ops/convert.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/mesh/mesh_make.h"
#include "dolium/ops/pack/pack_copy.h"
#include "dolium/ops/pack/pack_create.h"
#include "dolium/ops/pack/pack_export.h"
#include "dolium/ops/pack/pack_select.h"
#include "dolium/ops/skeleton/skeleton_make.h"
#include "dolium/ops/testing/convert_fixture.h"
#include "dolium/ops/volume/dvid_write.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium {
namespace {

using testing::HasSubstr;

// What is made, from what lies in a folder of the test: of `old` or of `new`.
struct Work {
  std::string folder;
  std::string of;
  std::string target;
  bool force = false;

  std::string Path(const std::string& name) const { return folder + "/" + name; }
};

// A kind of job, as people ask for it.
struct Asked {
  const char* name;
  std::string_view kind;  // of JobKinds()
  // Makes sources of `old` and `new`.
  void (*prepare)(const Work& work);
  Result<void> (*run)(const Work& work, const RunOptions& options);
};

Result<void> RunPlanned(const Result<Plan>& plan, const RunOptions& options) {
  if (!plan) return plan.error();
  DOLIUM_TRY([[maybe_unused]] const auto report,
             RunPlan(BuiltinFormats(), *plan, options));
  return {};
}

volume::IngestRequest IngestOf(const Work& work) {
  volume::IngestRequest request;
  const int64_t side = work.of == "old" ? 20 : 40;
  request.source.path = work.Path(work.of + ".raw");
  request.source.raw = volume::RawLayout{.shape = {side, 20, 8},
                                         .type = volume::NumberType::kUint32,
                                         .offset = std::nullopt};
  request.target = work.target;
  request.storage.chunk_size = volume::Vec3{16, 16, 8};
  request.storage.shard_bytes = 16 << 10;
  request.pyramid.scales = 1;
  request.force = work.force;
  return request;
}

void MakeArrays(const Work& work) {
  for (const uint32_t side : {20u, 40u}) {
    std::vector<uint32_t> voxels(side * 20 * 8);
    for (uint32_t i = 0; i < voxels.size(); ++i) voxels[i] = 1 + i / 7;
    std::ofstream(work.Path(side == 20 ? "old.raw" : "new.raw"), std::ios::binary)
        .write(reinterpret_cast<const char*>(voxels.data()),
               static_cast<std::streamsize>(voxels.size() * sizeof(uint32_t)));
  }
}

void MakeVolumes(const Work& work) {
  MakeArrays(work);
  for (const std::string of : {"old", "new"}) {
    Work source{work.folder, of, work.Path(of + ".volume")};
    Must(RunPlanned(PlanIngest(IngestOf(source)), {}));
  }
}

void MakeSets(const Work& work) {
  WriteSet(work.Path("old.set"), 2, MakeValues(50, 2));
  WriteSet(work.Path("new.set"), 3, MakeValues(400));
}

Result<void> RunConvert(const Work& work, const RunOptions& options) {
  ConvertRequest request;
  request.source = work.Path(work.of + ".set");
  request.target = work.target;
  request.parameters["parts"] = "5";
  request.force = work.force;
  DOLIUM_TRY([[maybe_unused]] const auto report, Convert(kFormats, request, options));
  return {};
}

// By what all faces call.
Result<void> RunConvertTo(const std::string& to, const std::string& suffix,
                          const Work& work, const RunOptions& options) {
  ConvertRequest request;
  request.source = work.Path(work.of + suffix);
  request.target = work.target;
  request.target_format = to;
  if (to == "precomputed") request.parameters["downsample"] = "1";
  request.force = work.force;
  DOLIUM_TRY([[maybe_unused]] const auto report,
             Convert(BuiltinFormats(), request, options));
  return {};
}

Result<void> RunConvertVolume(const Work& work, const RunOptions& options) {
  return RunConvertTo("", ".volume", work, options);
}
Result<void> RunConvertStore(const Work& work, const RunOptions& options) {
  return RunConvertTo("", ".store", work, options);
}
// In stages.
Result<void> RunToVolume(const Work& work, const RunOptions& options) {
  return RunConvertTo("precomputed", ".volume", work, options);
}

Result<void> RunIngest(const Work& work, const RunOptions& options) {
  return RunPlanned(PlanIngest(IngestOf(work)), options);
}

Result<void> RunTranscode(const Work& work, const RunOptions& options) {
  volume::TranscodeRequest request;
  request.source = work.Path(work.of + ".volume");
  request.target = work.target;
  request.storage.encoding = volume::EncodingSpec{.encoding = volume::Encoding::kRaw};
  request.force = work.force;
  return RunPlanned(PlanTranscode(request), options);
}

// Without voxels.
Result<void> RunCreate(const Work& work, const RunOptions& options) {
  volume::ScaleInfo scale;
  scale.key = "s0";
  scale.size = {work.of == "old" ? 20 : 40, 20, 8};
  scale.resolution = {1, 1, 1};
  scale.chunk_sizes = {volume::Vec3{16, 16, 8}};
  volume::VolumeInfo info;
  info.type = volume::VolumeType::kSegmentation;
  info.data_type = volume::DataType::kUint32;
  info.num_channels = 1;
  info.scales = {scale};
  DOLIUM_TRY(const Location folder, ParseLocation(work.target));
  return volume::CreateVolume(folder, info, work.force, options);
}

// Of a volume that has one scale when it begins.
Result<void> RunDownsample(const Work& work, const RunOptions& options) {
  if (!fs::exists(work.target)) {
    volume::IngestRequest base = IngestOf(work);
    base.pyramid.scales = 0;
    DOLIUM_TRY_VOID(RunPlanned(PlanIngest(base), {}));
  }
  volume::DownsampleRequest request;
  request.volume = work.target;
  request.from = 0;
  request.pyramid.scales = 1;
  return RunPlanned(PlanDownsample(request), options);
}

Result<void> RunPackCreate(const Work& work, const RunOptions& options) {
  const std::string folder = work.Path(work.of + ".samples");
  DOLIUM_TRY(const auto source, dataset::OpenSampleSource("folder", folder, {}));
  dataset::CreateRequest request;
  request.output = work.target + "/t-0.shardpack";
  request.pack.shard_records = 3;
  request.pack.shard.reproducible = true;
  request.pack.shard.force = work.force;
  request.pack.jobs = options.writer.jobs;
  request.at_step = options.at_step;
  DOLIUM_TRY(request.source, dataset::NameSource("folder", folder, {}, *source));
  DOLIUM_TRY([[maybe_unused]] const auto report, CreatePack(*source, request));
  return {};
}

Result<void> RunMeshMake(const Work& work, const RunOptions& options) {
  mesh::MeshMakeRequest request;
  request.volume = work.Path(work.of + ".volume");
  request.target = work.target;
  request.block_side = 16;
  request.force = work.force;
  DOLIUM_TRY([[maybe_unused]] const auto report, MakeMeshes(request, options));
  return {};
}

Result<void> RunSkeletonMake(const Work& work, const RunOptions& options) {
  skeleton::SkeletonMakeRequest request;
  request.volume = work.Path(work.of + ".volume");
  request.target = work.target;
  request.block_side = 16;
  request.min_voxels = 0;
  request.dust = 0;
  request.tick = 0;
  request.force = work.force;
  DOLIUM_TRY([[maybe_unused]] const auto report, MakeSkeletonsOf(request, options));
  return {};
}

Result<void> RunDvidWrite(const Work& work, const RunOptions& options) {
  volume::DvidWriteRequest request;
  request.source = work.Path(work.of + ".volume");
  request.target = work.target;
  request.shard_side = 64;
  request.force = work.force;
  DOLIUM_TRY([[maybe_unused]] const auto report, WriteDvidExport(request, options));
  return {};
}

// Samples of some shards' worth, in files.
void MakeSamples(const Work& work) {
  for (const std::string of : {"old", "new"}) {
    const int count = of == "old" ? 7 : 13;
    for (int i = 0; i < count; ++i) {
      WriteText(work.Path(fmt::format("{}.samples/s{:02}.txt", of, i)),
                fmt::format("{} sample {}", of, i));
    }
  }
}

// The same, packed.
void MakePacks(const Work& work) {
  MakeSamples(work);
  for (const std::string of : {"old", "new"}) {
    Work source{work.folder, of, work.Path(of + ".packs")};
    Must(RunPackCreate(source, {}));
  }
}

Result<void> RunPackShuffle(const Work& work, const RunOptions& options) {
  dataset::CopyRequest request;
  request.references = {work.Path(work.of + ".packs")};
  DOLIUM_TRY(const auto set, dataset::OpenSampleSet(request.references));
  request.output = work.target + "/t-0.shardpack";
  request.shards = work.of == "old" ? 2 : 4;
  request.shard.reproducible = true;
  request.shard.force = work.force;
  request.jobs = options.writer.jobs;
  request.at_step = options.at_step;
  const auto order = dataset::OrderAtRandom(set->size(), 1);
  DOLIUM_TRY([[maybe_unused]] const auto report, CopySamples(*set, order, request));
  return {};
}

Result<void> RunExportTo(const std::string& kind, const std::string& name,
                         const Work& work, const RunOptions& options) {
  dataset::ExportRequest request;
  request.kind = kind;
  request.target = work.target + name;
  request.options.shard_samples = 4;
  request.options.manifest = true;
  request.options.force = work.force;
  request.references = {work.Path(work.of + ".packs")};
  request.jobs = options.writer.jobs;
  request.at_step = options.at_step;
  DOLIUM_TRY(const auto set, dataset::OpenSampleSet(request.references));
  DOLIUM_TRY(const auto numbers, SelectSamples(*set, {}));
  DOLIUM_TRY([[maybe_unused]] const auto done, ExportSamples(*set, numbers, request));
  return {};
}

Result<void> RunPackExport(const Work& work, const RunOptions& options) {
  return RunExportTo("webdataset", "/t.tar", work, options);
}
Result<void> RunPackExtract(const Work& work, const RunOptions& options) {
  return RunExportTo("folder", "", work, options);
}
Result<void> RunMdsExport(const Work& work, const RunOptions& options) {
  return RunExportTo("mds", "", work, options);
}
Result<void> RunLmdbExport(const Work& work, const RunOptions& options) {
  return RunExportTo("lmdb", "", work, options);
}

void MakeStores(const Work& work) {
  MakeSamples(work);
  for (const std::string of : {"old", "new"}) {
    Must(cas::InitStore(work.Path(of + ".store")));
    const auto store = Must(cas::CasStore::Open(work.Path(of + ".store")));
    Must(cas::Put(*store, {work.Path(of + ".samples")}, {.name = "samples"}));
  }
}

Result<void> RunCasExport(const Work& work, const RunOptions& options) {
  CasExportRequest request;
  request.store = work.Path(work.of + ".store");
  request.target = work.target + "/t.mdb";
  request.xorbs = work.Path(work.of + ".xorbs");
  request.force = work.force;
  request.jobs = options.writer.jobs;
  request.at_step = options.at_step;
  DOLIUM_TRY(const auto store, cas::CasStore::Open(request.store));
  DOLIUM_TRY([[maybe_unused]] const auto report, ExportFromCas(*store, request));
  return {};
}

// Those that make files are asked for some in the target.
constexpr Asked kMakingFiles[] = {
    {"pack_create", "pack-create", MakeSamples, RunPackCreate},
    {"pack_shuffle", "pack-copy", MakePacks, RunPackShuffle},
    {"pack_export", "pack-export", MakePacks, RunPackExport},
    {"mds", "pack-export", MakePacks, RunMdsExport},
    {"lmdb", "pack-export", MakePacks, RunLmdbExport},
    {"cas_export", "cas-export", MakeStores, RunCasExport},
};
// Several of them may be under way in one folder.
constexpr Asked kAmongOthers[] = {
    {"pack_extract", "pack-extract", MakePacks, RunPackExtract}};
constexpr Asked kReplacing[] = {
    {"convert", "convert", MakeSets, RunConvert},
    {"convert_volume", "convert", MakeVolumes, RunConvertVolume},
    {"convert_cas", "convert", MakeStores, RunConvertStore},
    {"create", "volume", MakeArrays, RunCreate},
    {"ingest", "volume", MakeArrays, RunIngest},
    {"transcode", "volume", MakeVolumes, RunTranscode},
    {"to_precomputed", "volume", MakeVolumes, RunToVolume},
    {"meshes", "mesh-make", MakeVolumes, RunMeshMake},
    {"skeletons", "skeleton-make", MakeVolumes, RunSkeletonMake},
    {"dvid", "dvid", MakeVolumes, RunDvidWrite},
};
// It never replaces anything.
constexpr Asked kAdding[] = {{"downsample", "volume", MakeArrays, RunDownsample}};

TEST(KilledJobs, AreOfEveryKind) {
  std::set<std::string_view> kinds;
  for (const std::span<const Asked> some :
       {std::span<const Asked>(kMakingFiles), std::span<const Asked>(kAmongOthers),
        std::span<const Asked>(kReplacing), std::span<const Asked>(kAdding)}) {
    for (const Asked& asked : some) kinds.insert(asked.kind);
  }
  for (const JobKind& kind : JobKinds()) {
    EXPECT_TRUE(kinds.contains(kind.name)) << kind.name << " is never killed";
  }
}

struct Kill {
  JobStep step;
  bool exchange = true;
  bool while_removing = false;  // a part of the old set is gone already
  bool folders_first = false;   // its folders, and not the files beside them
};

class KilledJobTest : public testing::TestWithParam<Asked> {
 protected:
  void SetUp() override {
    GetParam().prepare(work_);
    Work whole = work_;
    whole.target = folder_.path() + "/expected";
    Must(GetParam().run(whole, {}));
  }

  // Does the work in another process, which ends at the step.
  void RunAndKill(const Kill& kill) {
    const pid_t child = fork();
    if (child == 0) {
      RunOptions options;
      options.writer.jobs = 2;
      options.exchange_folders = kill.exchange;
      options.at_step = [&](JobStep step) {
        if (step == JobStep::kPartsMade && !IsUnderWay(GetParam().kind)) _exit(8);
        if (step != kill.step) return;
        if (kill.while_removing) RemoveSomeOfTheOld(kill.folders_first);
        _exit(9);
      };
      const auto done = GetParam().run(work_, options);
      if (!done) fmt::print(stderr, "{}\n", done.error().message);
      _exit(done ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 9) << "the step was not reached";
  }

  // Whether a job of that kind has its marker in or beside the target.
  bool IsUnderWay(std::string_view kind) const {
    const std::string wanted = fmt::format("\"kind\": \"{}\"", kind);
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.path().filename() != ".dolium-unfinished") continue;
      if (ReadText(entry.path().string()).find(wanted) != std::string::npos) return true;
    }
    return false;
  }

  void RemoveSomeOfTheOld(bool folders) const {
    for (const std::string folder : {".dolium-new", ".dolium-old"}) {
      if (!fs::exists(work_.target + folder)) continue;
      for (const auto& entry : fs::directory_iterator(work_.target + folder)) {
        const bool is_hidden = entry.path().filename().string().starts_with('.');
        if (entry.is_regular_file() && !folders) fs::remove(entry.path());
        if (entry.is_directory() && folders && !is_hidden) fs::remove_all(entry.path());
      }
    }
  }

  // The same request again, after a kill.
  void ExpectCompleted(const Kill& kill) {
    RunOptions options;
    options.exchange_folders = kill.exchange;
    const auto again = GetParam().run(work_, options);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(Files(work_.target), Files(folder_.path() + "/expected"));
    for (const std::string& name : Names(folder_.path())) {
      EXPECT_THAT(name, testing::Not(HasSubstr(".dolium"))) << "left behind";
    }
    for (const auto& entry : fs::recursive_directory_iterator(work_.target)) {
      EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr(".dolium")));
    }
  }

  const TemporaryFolder folder_{QuickFolder()};
  Work work_{folder_.path(), "new", folder_.path() + "/target"};
};

TEST_P(KilledJobTest, IsCompletedByTheSameRequest) {
  for (const JobStep step : {JobStep::kPartsMade, JobStep::kClosed, JobStep::kDescribed,
                             JobStep::kMarkerRemoved, JobStep::kTidied}) {
    SCOPED_TRACE(fmt::format("step {}", static_cast<int>(step)));
    ASSERT_NO_FATAL_FAILURE(RunAndKill({step}));
    ASSERT_NO_FATAL_FAILURE(ExpectCompleted({step}));
    fs::remove_all(work_.target);
  }
}

class SharedJobTest : public KilledJobTest {};

TEST_P(SharedJobTest, IsRunByOneProcessAtATime) {
  std::optional<Result<void>> second;
  RunOptions options;
  options.at_step = [&](JobStep step) {
    if (step == JobStep::kPartsMade) second = GetParam().run(work_, {});
  };
  const auto first = GetParam().run(work_, options);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second && !*second);
  EXPECT_EQ(second->error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second->error().message,
              testing::AllOf(HasSubstr("another process is running this job"),
                             HasSubstr(".dolium-plan/running")));
  EXPECT_EQ(Files(work_.target), Files(folder_.path() + "/expected"));
}

// A request whose file appears, by another process, just after it has looked for it.
class LateDraft final : public JobDraft {
 public:
  explicit LateDraft(std::string file) : file_(std::move(file)) {}
  std::string_view kind() const override { return "pack-create"; }
  const std::string& request() const override { return request_; }
  bool makes_files() const override { return true; }
  Result<void> Prepare() override {
    if (fs::exists(file_)) return Exists(file_ + ": is there already");
    WriteText(file_, "of another process");
    return {};
  }
  Result<std::string> Plan(const PlanFolder& /*folder*/) override {
    return Corrupt("was planned");
  }

 private:
  const std::string file_;
  const std::string request_ = "{}";
};

TEST(BeginJob, IsRefusedIfAnotherProcessCompletesTheSameMeanwhile) {
  const TemporaryFolder folder;
  LateDraft draft(folder.path() + "/t");
  const auto begun = BeginJob({}, draft, Must(ParseLocation(folder.path() + "/t")),
                              /*force=*/false, {});
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::kExists);
  EXPECT_THAT(Names(folder.path()), testing::ElementsAre("t"));
}

class KilledReplacementTest : public KilledJobTest {};

TEST_P(KilledReplacementTest, IsCompletedByTheSameRequest) {
  for (const Kill& kill : std::vector<Kill>{
           {JobStep::kPartsMade},
           {JobStep::kClosed},
           {JobStep::kDescribed},
           {JobStep::kMarkerRemoved},
           {JobStep::kSwapped},
           {JobStep::kSwapped, /*exchange=*/true, /*while_removing=*/true},
           {JobStep::kSwapped, /*exchange=*/true, /*while_removing=*/true,
            /*folders_first=*/true},
           {JobStep::kOldRemoved},
           {JobStep::kTidied},
           {JobStep::kOldMovedAside, /*exchange=*/false},
           {JobStep::kSwapped, /*exchange=*/false},
           {JobStep::kSwapped, /*exchange=*/false, /*while_removing=*/true},
           {JobStep::kSwapped, /*exchange=*/false, /*while_removing=*/true,
            /*folders_first=*/true},
           {JobStep::kOldRemoved, /*exchange=*/false},
           {JobStep::kTidied, /*exchange=*/false},
       }) {
    SCOPED_TRACE(fmt::format("step {}{}{}", static_cast<int>(kill.step),
                             kill.exchange ? "" : ", without exchange",
                             kill.while_removing ? ", while removing" : ""));
    Work old = work_;
    old.of = "old";
    ASSERT_TRUE(GetParam().run(old, {}));
    work_.force = true;
    ASSERT_NO_FATAL_FAILURE(RunAndKill(kill));
    ASSERT_NO_FATAL_FAILURE(ExpectCompleted(kill));
    fs::remove_all(work_.target);
    work_.force = false;
  }
}

TEST_P(KilledReplacementTest, IsRefusedWhereAnEarlierVersionBeganOneUnlessForced) {
  WriteText(work_.target + "/.dolium-unfinished", R"({"dolium_volume_plan": 2})");
  const auto refused = GetParam().run(work_, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_THAT(refused.error().message, HasSubstr("an earlier version of dolium began"));
  work_.force = true;
  Must(GetParam().run(work_, {}));
  EXPECT_EQ(Files(work_.target), Files(folder_.path() + "/expected"));
}

class KilledFilesTest : public KilledJobTest {
 protected:
  static constexpr JobStep kSteps[] = {JobStep::kPartsMade,     JobStep::kClosed,
                                       JobStep::kDescribed,     JobStep::kMarkerRemoved,
                                       JobStep::kOldMovedAside, JobStep::kSwapped,
                                       JobStep::kOldRemoved,    JobStep::kTidied};
};

TEST_P(KilledFilesTest, AreCompletedByTheSameRequest) {
  for (const JobStep step : kSteps) {
    SCOPED_TRACE(fmt::format("step {}", static_cast<int>(step)));
    ASSERT_NO_FATAL_FAILURE(RunAndKill({step}));
    if (step < JobStep::kOldMovedAside) {
      // None of them has appeared.
      EXPECT_THAT(Names(work_.target), testing::Each(HasSubstr(".dolium-new")));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectCompleted({step}));
    fs::remove_all(work_.target);
  }
}

TEST_P(KilledFilesTest, ThatReplaceOthersAreCompletedByTheSameRequest) {
  for (const JobStep step : kSteps) {
    SCOPED_TRACE(fmt::format("step {}", static_cast<int>(step)));
    Work old = work_;
    old.of = "old";
    ASSERT_TRUE(GetParam().run(old, {}));
    const auto before = Files(work_.target);
    work_.force = true;
    ASSERT_NO_FATAL_FAILURE(RunAndKill({step}));
    for (const auto& [name, bytes] : before) {
      if (step >= JobStep::kOldMovedAside) break;
      EXPECT_EQ(Files(work_.target)[name], bytes);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectCompleted({step}));
    fs::remove_all(work_.target);
    work_.force = false;
  }
}

class KilledSetTest : public KilledFilesTest {};

TEST_P(KilledSetTest, IsRefusedToAnotherRequestUnlessForced) {
  ASSERT_NO_FATAL_FAILURE(RunAndKill({JobStep::kPartsMade}));
  Work other = work_;
  other.of = "old";
  const auto refused = GetParam().run(other, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_THAT(refused.error().message, HasSubstr("begun by another request"));
  work_.force = true;
  ASSERT_NO_FATAL_FAILURE(ExpectCompleted({JobStep::kPartsMade}));
}

// What is left of it then is a file with its record, which another request removes.
TEST_P(KilledSetTest, IsInTheWayOfNobodyAtItsEnd) {
  ASSERT_NO_FATAL_FAILURE(RunAndKill({JobStep::kTidied}));
  EXPECT_THAT(Names(work_.target),
              testing::Each(testing::Not(testing::EndsWith("-new"))));
  Work other = work_;
  other.of = "old";
  other.force = true;
  Must(GetParam().run(other, {}));
  for (const std::string& name : Names(work_.target)) {
    EXPECT_THAT(name, testing::Not(HasSubstr(".dolium"))) << "left behind";
  }
}

constexpr auto kNameOf = [](const auto& param) { return std::string(param.param.name); };

INSTANTIATE_TEST_SUITE_P(Kinds, KilledJobTest, testing::ValuesIn(kReplacing), kNameOf);
INSTANTIATE_TEST_SUITE_P(Additions, KilledJobTest, testing::ValuesIn(kAdding), kNameOf);
INSTANTIATE_TEST_SUITE_P(Kinds, SharedJobTest, testing::ValuesIn(kReplacing), kNameOf);
INSTANTIATE_TEST_SUITE_P(Additions, SharedJobTest, testing::ValuesIn(kAdding), kNameOf);
INSTANTIATE_TEST_SUITE_P(Files, SharedJobTest, testing::ValuesIn(kMakingFiles), kNameOf);
INSTANTIATE_TEST_SUITE_P(Others, SharedJobTest, testing::ValuesIn(kAmongOthers), kNameOf);
INSTANTIATE_TEST_SUITE_P(Kinds, KilledFilesTest, testing::ValuesIn(kMakingFiles),
                         kNameOf);
INSTANTIATE_TEST_SUITE_P(Others, KilledFilesTest, testing::ValuesIn(kAmongOthers),
                         kNameOf);
INSTANTIATE_TEST_SUITE_P(Kinds, KilledSetTest, testing::ValuesIn(kMakingFiles), kNameOf);
INSTANTIATE_TEST_SUITE_P(Kinds, KilledReplacementTest, testing::ValuesIn(kReplacing),
                         kNameOf);

}  // namespace
}  // namespace dolium
