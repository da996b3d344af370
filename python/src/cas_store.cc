// The Python classes CasStore and CasFile: a store that keeps each chunk once.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/exchange.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/forget.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/statistics.h"
#include "dolium/domain/cas/store.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/cas/cas_align.h"
#include "dolium/ops/cas/cas_export.h"
#include "dolium/ops/cas/cas_verify.h"
#include "dolium/ops/source/capabilities.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"
#include "python/src/cas_values.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"

namespace dolium::python {
namespace {

using cas::Version;

// A hundred years, in seconds: more than any file is old.
constexpr double kLongestGrace = 100.0 * 365 * 86400;

// Runs `work`, which gives a Result, so that Ctrl-C stops it.
template <typename T>
T RunStoppable(const std::stop_source& stop, const std::function<Result<T>()>& work,
               Absent absent = Absent::kEntry) {
  std::optional<Result<T>> result;
  RunInterruptible(stop, [&] { result = work(); });
  return Must(*std::move(result), absent);
}

// A file of a store. It stays there as long as this is open, whatever gc does.
class CasFile {
 public:
  CasFile(std::unique_ptr<cas::Lease> lease, std::shared_ptr<const cas::StoredFile> file)
      : lease_(std::move(lease)), file_(std::move(file)) {}

  uint64_t size() const { return file()->size(); }
  std::string hash() const { return ToString(file()->hash()); }

  nb::bytes Read(uint64_t offset, uint64_t size) const {
    const auto file = this->file();
    size = offset >= file->size() ? 0 : std::min(size, file->size() - offset);
    ByteVector bytes(size);
    Must(WithoutGil([&] { return file->Read(offset, bytes); }));
    return CopyToPython(bytes);
  }

  uint64_t ReadInto(uint64_t offset, nb::handle buffer) const {
    const auto file = this->file();
    Py_buffer borrowed;
    if (PyObject_GetBuffer(buffer.ptr(), &borrowed, PyBUF_CONTIG) != 0) {
      throw nb::python_error();
    }
    const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> release(&borrowed,
                                                                   PyBuffer_Release);
    uint64_t size = static_cast<uint64_t>(borrowed.len);
    size = offset >= file->size() ? 0 : std::min(size, file->size() - offset);
    Must(WithoutGil([&] {
      return file->Read(offset,
                        MutableBytes(static_cast<std::byte*>(borrowed.buf), size));
    }));
    return size;
  }

  void Close() {
    file_.reset();
    lease_.reset();
  }

 private:
  std::shared_ptr<const cas::StoredFile> file() const {
    if (!file_) throw nb::value_error("the file is closed");
    return file_;
  }

  std::unique_ptr<cas::Lease> lease_;
  std::shared_ptr<const cas::StoredFile> file_;
};

class CasStore {
 public:
  explicit CasStore(nb::handle path)
      : path_(LocationText(path)),
        store_(Must(WithoutGil([&] { return OpenVersions(path_); }))) {}

  nb::str path() const { return NameText(path_); }

  nb::dict Put(const nb::sequence& paths, nb::handle name, bool align_entries,
               bool reread, uint64_t memory, size_t jobs, nb::object progress,
               const nb::sequence& exclude, bool one_file_system,
               const nb::sequence& tags, std::optional<std::string> host,
               bool owners) const {
    const std::vector<std::string> texts = Texts(paths);
    const std::stop_source stop;
    ProgressCall call(std::move(progress), stop);
    cas::PutOptions options = OptionsOf(LocationText(name), memory, jobs, stop);
    options.reread = reread;
    options.exclude = Texts(exclude);
    options.one_file_system = one_file_system;
    options.tags = Texts(tags);
    options.host = std::move(host);
    options.owners = owners;
    LeftOut skipped;
    options.skipped = [&](const std::string& path, const Error& reason) {
      skipped.emplace_back(path, reason.message);
    };
    options.progress = call.function();
    if (align_entries) {
      options.forced_cuts = [](const std::string& path) {
        return EntryBoundaries(BuiltinFormats(), path);
      };
    }
    std::optional<Result<Version>> version;
    RunInterruptible(stop, [&] { version = cas::Put(*store_, texts, options); });
    call.Check();
    nb::dict out = ToDict(Must(*std::move(version)));
    out["skipped"] = LeftOutToPython(skipped);
    return out;
  }

  nb::dict PutBytes(nb::handle data, nb::handle name, uint64_t memory,
                    size_t jobs) const {
    const BorrowedBytes borrowed(data);
    const UniqueFd file(memfd_create("dolium", MFD_CLOEXEC));
    if (!file) Raise(SystemError(errno, "cannot make a file in memory"));
    const std::stop_source stop;
    const cas::PutOptions options = OptionsOf(LocationText(name), memory, jobs, stop);
    return ToDict(RunStoppable<Version>(stop, [&]() -> Result<Version> {
      DOLIUM_TRY_VOID(cas::WriteAll(file.get(), borrowed.view()));
      if (lseek(file.get(), 0, SEEK_SET) != 0) return SystemError(errno, "cannot seek");
      return cas::PutStream(*store_, file.get(), options);
    }));
  }

  nb::tuple Get(nb::handle name, nb::handle output, bool force, size_t jobs,
                nb::object progress, nb::handle path, bool skip_damaged,
                bool owners) const {
    const std::string reference = LocationText(name);
    const std::string out = LocationText(output);
    const std::stop_source stop;
    ProgressCall call(std::move(progress), stop);
    cas::GetOptions options{.jobs = jobs,
                            .force = force,
                            .owners = owners,
                            .progress = call.function(),
                            .stop = stop.get_token()};
    if (!path.is_none()) options.path = LocationText(path);
    while (options.path.ends_with('/')) options.path.pop_back();
    LeftOut left_out;
    if (skip_damaged) {
      options.damaged = [&](const std::string& file, const Error& reason) {
        left_out.emplace_back(file, reason.message);
      };
    }
    options.lost = [&](cas::Lost, const std::string& file, const Error& reason) {
      left_out.emplace_back(file, reason.message);
    };
    std::optional<Result<cas::GetReport>> report;
    RunInterruptible(stop, [&] {
      report = [&]() -> Result<cas::GetReport> {
        DOLIUM_TRY(const Version version, Find(reference));
        return Restore(*store_, version, out, options);
      }();
    });
    call.Check();
    const cas::GetReport done = Must(*std::move(report), Absent::kEntry);
    return nb::make_tuple(done.files, done.bytes, LeftOutToPython(left_out));
  }

  nb::list Forget(const nb::sequence& names, uint64_t last, uint64_t daily,
                  uint64_t weekly, uint64_t monthly, uint64_t yearly,
                  const nb::sequence& tags, const std::string& host, bool dry_run) const {
    cas::ForgetOptions options;
    options.policy = {last, daily, weekly, monthly, yearly};
    options.names = Texts(names);
    options.filter.tags = Must(cas::ParseTagLists(Texts(tags)));
    options.filter.host = host;
    options.dry_run = dry_run;
    std::vector<cas::KeepChoice> choices;
    options.visit = [&](const cas::KeepChoice& choice) { choices.push_back(choice); };
    const std::stop_source stop;
    RunStoppable<cas::ForgetReport>(
        stop, [&] { return cas::ForgetVersions(*store_, options); });
    nb::list out;
    for (const cas::KeepChoice& choice : choices) {
      nb::list reasons;
      for (const std::string& reason : choice.reasons) reasons.append(reason);
      out.append(nb::make_tuple(ToDict(choice.version), nb::tuple(reasons)));
    }
    return out;
  }

  nb::dict Export(nb::handle output, const nb::sequence& references, nb::handle xorbs,
                  bool upload, bool force, size_t jobs) const {
    const std::stop_source stop;
    CasExportRequest request{.store = path_, .target = LocationText(output)};
    request.references = Texts(references);
    if (!xorbs.is_none()) request.xorbs = LocationText(xorbs);
    request.upload = upload;
    request.force = force;
    request.jobs = jobs;
    request.stop = stop.get_token();
    return ToDict(RunStoppable<cas::ExchangeReport>(
        stop, [&] { return ExportFromCas(*store_, request); }));
  }

  nb::dict ImportShard(nb::handle shard, nb::handle name, nb::handle xorbs) const {
    const std::string path = LocationText(shard);
    const std::stop_source stop;
    cas::ImportOptions options;
    options.name = LocationText(name);
    if (!xorbs.is_none()) options.xorbs = LocationText(xorbs);
    options.stop = stop.get_token();
    cas::ExchangeReport report;
    return ToDict(RunStoppable<Version>(
        stop, [&] { return cas::ImportShard(*store_, path, options, report); }));
  }

  std::shared_ptr<CasFile> Open(nb::handle name, nb::handle path_in_folder) const {
    const std::string reference = LocationText(name);
    std::optional<std::string> path;
    if (!path_in_folder.is_none()) path = LocationText(path_in_folder);
    const std::stop_source stop;
    return RunStoppable<std::shared_ptr<CasFile>>(
        stop, [&]() -> Result<std::shared_ptr<CasFile>> {
          DOLIUM_TRY(auto lease, store_->TakeLease());
          DOLIUM_TRY(const Version version, Find(reference));
          cas::ManifestEntry entry;
          entry.hash = version.hash;
          entry.size = version.totals.bytes;
          if (path) {
            DOLIUM_TRY(entry, FindPath(version, *path, *lease));
          } else if (version.kind != cas::VersionKind::kFile) {
            return InvalidArgument(fmt::format("{} is a folder: a path in it is needed",
                                               version.reference()));
          }
          DOLIUM_TRY(auto file, store_->OpenFile(entry.hash, *lease));
          DOLIUM_TRY_VOID(file->CheckHash());
          if (file->size() != entry.size) {
            return Corrupt(fmt::format("file {}: {} bytes, expected {}",
                                       ToString(entry.hash), file->size(), entry.size));
          }
          return std::make_shared<CasFile>(std::move(lease), std::move(file));
        });
  }

  nb::list Names() const {
    nb::list out;
    for (const std::string& name :
         Must(WithoutGil([&] { return cas::ListNames(store_->layout()); }))) {
      out.append(NameText(name));
    }
    return out;
  }

  nb::list Entries(nb::handle name) const {
    const std::string reference = LocationText(name);
    const std::stop_source stop;
    using Entries = std::vector<cas::ManifestEntry>;
    const auto entries = RunStoppable<Entries>(stop, [&]() -> Result<Entries> {
      Entries all;
      DOLIUM_TRY(const Version version, Find(reference));
      if (version.kind == cas::VersionKind::kFile) {
        all.push_back(FileEntryOf(version));
        return all;
      }
      DOLIUM_TRY(const auto lease, store_->TakeLease());
      DOLIUM_TRY_VOID(store_->VisitManifest(
          version, *lease, [&](cas::ManifestEntry entry) -> Result<void> {
            all.push_back(std::move(entry));
            return {};
          }));
      return all;
    });
    nb::list out;
    for (const cas::ManifestEntry& entry : entries) out.append(ToDict(entry));
    return out;
  }

  nb::list Log(nb::handle of) const {
    const std::string name = LocationText(of);
    nb::list out;
    for (const Version& version :
         Must(WithoutGil([&] { return cas::ListVersions(store_->layout(), name); }))) {
      out.append(ToDict(version));
    }
    return out;
  }

  nb::dict Stat() const {
    const std::stop_source stop;
    const auto counts = RunStoppable<cas::StoreStatistics>(
        stop, [&] { return cas::CountStore(*store_); });
    nb::dict out;
    out["names"] = counts.names;
    out["versions"] = counts.versions;
    out["files"] = counts.files;
    out["bytes"] = counts.bytes;
    out["chunks"] = counts.chunks;
    out["raw_bytes"] = counts.raw_bytes;
    out["xorbs"] = counts.xorbs;
    out["stored_bytes"] = counts.stored_bytes;
    out["shards"] = counts.shards;
    out["shard_bytes"] = counts.shard_bytes;
    out["index_bytes"] = counts.index_bytes;
    out["dedup_ratio"] = counts.dedup_ratio();
    out["compression_ratio"] = counts.compression_ratio();
    nb::dict histogram;
    for (size_t i = 0; i < counts.histogram.size(); ++i) {
      if (counts.histogram[i] > 0) histogram[nb::int_(1 << i)] = counts.histogram[i];
    }
    out["histogram"] = histogram;
    return out;
  }

  nb::dict StatVersion(nb::handle name) const {
    const std::string reference = LocationText(name);
    const std::stop_source stop;
    const auto version = RunStoppable<Version>(stop, [&] { return Find(reference); });
    const auto counts = RunStoppable<cas::VersionStatistics>(
        stop, [&] { return cas::CountVersion(*store_, version); });
    nb::dict out = ToDict(version);
    out["terms"] = counts.terms;
    out["xorbs"] = counts.xorbs;
    out["unique_bytes"] = counts.unique_bytes;
    return out;
  }

  nb::dict Compare(nb::handle first, nb::handle second) const {
    const std::string before = LocationText(first);
    const std::string after = LocationText(second);
    const std::stop_source stop;
    const auto counts =
        RunStoppable<cas::VersionGain>(stop, [&]() -> Result<cas::VersionGain> {
          DOLIUM_TRY(const Version old_version, Find(before));
          DOLIUM_TRY(const Version new_version, Find(after));
          return cas::CompareChunks(*store_, old_version, new_version, stop.get_token());
        });
    nb::dict out = ToDict(counts.stored);
    if (counts.plain) {
      out["not_aligned"] = ToDict(*counts.plain);
      out["gain"] = *counts.gain();
    }
    return out;
  }

  size_t Remove(nb::handle name) const {
    const std::string reference = LocationText(name);
    const std::stop_source stop;
    return RunStoppable<size_t>(stop, [&]() -> Result<size_t> {
      DOLIUM_TRY(const auto parsed, cas::ParseReference(reference));
      if (parsed.name.empty()) return InvalidArgument("a hash cannot be removed");
      return cas::RemoveVersions(store_->layout(), parsed);
    });
  }

  nb::dict Collect(double grace, bool dry_run, uint32_t repack) const {
    // Also what is not a number.
    if (!(grace >= 0)) throw nb::value_error("grace is a time, and not negative");
    const std::stop_source stop;
    cas::CollectOptions options;
    options.grace =
        std::chrono::seconds(static_cast<int64_t>(std::min(grace, kLongestGrace)));
    options.dry_run = dry_run;
    options.repack_below = repack;
    options.stop = stop.get_token();
    const auto report = RunStoppable<cas::CollectReport>(
        stop, [&] { return cas::CollectGarbage(*store_, options); });
    nb::dict out;
    out["xorbs"] = report.xorbs;
    out["removed_xorbs"] = report.removed_xorbs;
    out["removed_bytes"] = report.removed_bytes;
    out["repacked_xorbs"] = report.repacked_xorbs;
    out["not_repacked"] = report.not_repacked;
    out["copied_bytes"] = report.copied_bytes;
    out["freed_bytes"] = report.freed_bytes();
    out["kept_young"] = report.kept_young;
    out["shards"] = report.shards;
    out["removed_shards"] = report.removed_shards;
    out["rewritten_shards"] = report.rewritten_shards;
    return out;
  }

  nb::object Verify(bool quick, bool deep, bool quarantine, size_t jobs,
                    nb::object progress) const {
    return RunVerify({.depth = DepthOf(quick, deep), .jobs = jobs}, std::move(progress),
                     [&](const VerifyOptions& options, const FindingVisitor& visitor) {
                       return VerifyCas(*store_, options, quarantine, visitor);
                     });
  }

  nb::object PlanExport(const std::vector<std::string>& references, nb::handle target,
                        nb::handle xorbs, bool upload, bool force) const {
    CasExportRequest request{.store = path_, .target = LocationText(target)};
    request.references = references;
    if (!xorbs.is_none()) request.xorbs = LocationText(xorbs);
    request.upload = upload;
    request.force = force;
    const std::stop_source stop;
    request.stop = stop.get_token();
    return ToPython(
        RunStoppable<Plan>(stop, [&] { return PlanCasExport(*store_, request); }));
  }

  size_t Reindex() const {
    const std::stop_source stop;
    return RunStoppable<size_t>(stop, [&]() -> Result<size_t> {
      DOLIUM_TRY(const auto lease, store_->TakeLease());
      return cas::RebuildIndex(store_->layout(), lease->id());
    });
  }

 private:
  static cas::PutOptions OptionsOf(const std::string& name, uint64_t memory, size_t jobs,
                                   const std::stop_source& stop) {
    cas::PutOptions options;
    options.name = name;
    options.memory = memory;
    options.jobs = jobs;
    options.stop = stop.get_token();
    return options;
  }

  Result<Version> Find(const std::string& reference) const {
    DOLIUM_TRY(const auto parsed, cas::ParseReference(reference));
    return store_->Find(parsed);
  }

  // A file in a folder.
  Result<cas::ManifestEntry> FindPath(const Version& version, const std::string& path,
                                      cas::Lease& lease) const {
    if (version.kind == cas::VersionKind::kFile) {
      return InvalidArgument(fmt::format("{} is no folder", version.reference()));
    }
    std::optional<cas::ManifestEntry> found;
    DOLIUM_TRY_VOID(store_->VisitManifest(
        version, lease, [&](cas::ManifestEntry entry) -> Result<void> {
          if (entry.path == path && entry.type == cas::EntryType::kFile) {
            found = std::move(entry);
          }
          return {};
        }));
    if (!found) {
      return NotFound(fmt::format("{}: no file {}", version.reference(), path));
    }
    return *std::move(found);
  }

  std::string path_;
  std::shared_ptr<cas::CasStore> store_;
};

void InitStore(nb::handle path) {
  const std::string text = LocationText(path);
  Must(WithoutGil([&] { return cas::InitStore(text); }));
}

}  // namespace

void BindCasStore(nb::module_& module) {
  const uint64_t memory = cas::PutOptions().memory;
  nb::class_<CasFile>(module, "CasFile")
      .def_prop_ro("size", &CasFile::size)
      .def_prop_ro("hash", &CasFile::hash)
      .def("read", &CasFile::Read, nb::arg("offset"), nb::arg("size"))
      .def("readinto", &CasFile::ReadInto, nb::arg("offset"), nb::arg("buffer"))
      .def("close", &CasFile::Close);
  nb::class_<CasStore>(module, "CasStore")
      .def(nb::init<nb::handle>(), nb::arg("path"))
      .def_prop_ro("path", &CasStore::path)
      .def("put", &CasStore::Put, nb::arg("paths"), nb::arg("name"),
           nb::arg("align_entries") = false, nb::arg("reread") = false,
           nb::arg("memory") = memory, nb::arg("jobs") = 0,
           nb::arg("progress") = nb::none(), nb::arg("exclude") = nb::tuple(),
           nb::arg("one_file_system") = false, nb::arg("tags") = nb::tuple(),
           nb::arg("host") = nb::none(), nb::arg("owners") = true)
      .def("put_bytes", &CasStore::PutBytes, nb::arg("data"), nb::arg("name"),
           nb::arg("memory") = memory, nb::arg("jobs") = 0)
      .def("get", &CasStore::Get, nb::arg("reference"), nb::arg("output"),
           nb::arg("force") = false, nb::arg("jobs") = 0,
           nb::arg("progress") = nb::none(), nb::arg("path").none() = nb::none(),
           nb::arg("skip_damaged") = false, nb::arg("owners") = true)
      .def("forget", &CasStore::Forget, nb::arg("names"), nb::arg("last"),
           nb::arg("daily"), nb::arg("weekly"), nb::arg("monthly"), nb::arg("yearly"),
           nb::arg("tags"), nb::arg("host"), nb::arg("dry_run"))
      .def("export", &CasStore::Export, nb::arg("output"), nb::arg("references"),
           nb::arg("xorbs").none(), nb::arg("upload"), nb::arg("force"), nb::arg("jobs"))
      .def("import_shard", &CasStore::ImportShard, nb::arg("shard"), nb::arg("name"),
           nb::arg("xorbs").none())
      .def("open", &CasStore::Open, nb::arg("reference"),
           nb::arg("path").none() = nb::none())
      .def("names", &CasStore::Names)
      .def("entries", &CasStore::Entries, nb::arg("reference"))
      .def("log", &CasStore::Log, nb::arg("name"))
      .def("stat", &CasStore::Stat)
      .def("stat_version", &CasStore::StatVersion, nb::arg("reference"))
      .def("compare", &CasStore::Compare, nb::arg("first"), nb::arg("second"))
      .def("remove", &CasStore::Remove, nb::arg("reference"))
      .def("gc", &CasStore::Collect, nb::arg("grace"), nb::arg("dry_run") = false,
           nb::arg("repack") = 50)
      .def("verify", &CasStore::Verify, nb::arg("quick"), nb::arg("deep"),
           nb::arg("quarantine"), nb::arg("jobs"), nb::arg("progress").none())
      .def("plan_export", &CasStore::PlanExport, nb::arg("references"), nb::arg("target"),
           nb::arg("xorbs").none(), nb::arg("upload"), nb::arg("force"))
      .def("reindex", &CasStore::Reindex);
  module.def("cas_init", &InitStore, nb::arg("path"));
}

}  // namespace dolium::python
