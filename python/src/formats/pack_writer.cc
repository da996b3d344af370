// The Python class PackWriter: samples in, numbered shards out.
#include "dolium/formats/shardpack/pack_writer.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "dolium/bytes/location.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/shard_names.h"
#include "dolium/formats/shardpack/repair.h"
#include "dolium/formats/shardpack/verify.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"

namespace dolium::python {
namespace {

using shardpack::PackOptions;

// Writes with the GIL until so many bytes were taken, then lets go of it for a while.
constexpr uint64_t kBytesWorthTheGil = uint64_t{64} << 10;

shardpack::Oversize ParseOversize(std::string_view text) {
  if (text == "error") return shardpack::Oversize::kError;
  if (text == "split") return shardpack::Oversize::kSplit;
  if (text == "skip") return shardpack::Oversize::kSkip;
  throw nb::value_error("oversize is \"error\", \"split\" or \"skip\"");
}

shardpack::Wanted ParseWanted(nb::handle wanted) {
  if (wanted.is_none()) return shardpack::Wanted::kAuto;
  return nb::cast<bool>(wanted) ? shardpack::Wanted::kYes : shardpack::Wanted::kNo;
}

// Metadata as the Python side prepared it: None, or (format, bytes).
shardpack::Metadata ParseMetadata(nb::handle metadata) {
  if (metadata.is_none()) return {};
  const auto pair = nb::cast<nb::tuple>(metadata);
  const BorrowedBytes bytes(pair[1]);
  return {static_cast<shardpack::MetadataFormat>(nb::cast<int>(pair[0])),
          Bytes::Copy(bytes.view())};
}

// Keeps a Python object that lends out memory; lets go of it with the GIL.
struct BorrowedValue {
  explicit BorrowedValue(nb::handle object) : bytes(object), owner(nb::borrow(object)) {}

  BorrowedBytes bytes;
  nb::object owner;
};

// The bytes of a Python object, shared with it as long as anybody needs them. Bytes
// objects do not change; of others, the caller must see to that until the shard is done.
Bytes Share(nb::handle object) {
  if (!PyBytes_Check(object.ptr())) {
    const BorrowedBytes lent(object);
    return Bytes::Copy(lent.view());
  }
  auto* const lent = new BorrowedValue(object);
  const std::shared_ptr<const void> owner(static_cast<const void*>(lent), [lent](auto*) {
    const nb::gil_scoped_acquire acquire;
    delete lent;
  });
  return {owner, lent->bytes.view()};
}

// Calls from several threads take turns. The one whose turn it is may hold the GIL, so
// nobody waits for a turn with it.
class PackWriter {
 public:
  PackWriter(const std::string& output, PackOptions options)
      : writer_(Must(WithoutGil([&] { return Create(output, std::move(options)); }))) {}
  ~PackWriter() { Abort(); }
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  // files: a list of (name, content type or None, data, compression or None, metadata,
  // array (dtype, lengths) or None).
  void Add(std::string key, const nb::list& files, nb::handle metadata, bool tombstone) {
    shardpack::Sample sample{.key = std::move(key),
                             .metadata = ParseMetadata(metadata),
                             .tombstone = tombstone};
    uint64_t bytes = 0;
    for (const nb::handle item : files) {
      const auto fields = nb::cast<nb::tuple>(item);
      shardpack::File file{.name = nb::cast<std::string>(fields[0]),
                           .data = Share(fields[2]),
                           .metadata = ParseMetadata(fields[4])};
      file.content_type = fields[1].is_none()
                              ? std::string(dataset::ContentTypeOfName(file.name))
                              : nb::cast<std::string>(fields[1]);
      if (!fields[3].is_none()) {
        file.compression =
            Must(shardpack::ParseCompression(nb::cast<std::string_view>(fields[3])));
      }
      if (!fields[5].is_none()) {
        const auto array = nb::cast<nb::tuple>(fields[5]);
        shardpack::ArrayShape shape;
        shape.dtype = nb::cast<std::string>(array[0]);
        for (const nb::handle length : nb::iter(array[1])) {
          shape.lengths.push_back(nb::cast<uint64_t>(length));
        }
        file.array = std::move(shape);
      }
      bytes += file.data.size();
      sample.files.push_back(std::move(file));
    }
    Must(TakeTurn(bytes, [&] { return writer_->Add(std::move(sample)); }));
  }

  nb::list Finish() {
    const auto summary = Must(WithoutGil([&]() -> Result<shardpack::PackSummary> {
      const std::scoped_lock lock(turn_);
      DOLIUM_TRY_VOID(CheckOpen());
      // Its threads may need the GIL to let go of bytes objects before they end.
      const auto finished = std::move(writer_);
      return finished->Finish();
    }));
    nb::list shards;
    for (const auto& shard : summary.shards) {
      nb::dict info;
      info["path"] = NameText(shard.location.Describe());
      info["records"] = shard.records;
      info["size"] = shard.bytes;
      shards.append(info);
    }
    return shards;
  }

  // Drops what was not finished.
  void Abort() {
    const nb::gil_scoped_release release;
    const std::scoped_lock lock(turn_);
    writer_.reset();
  }

 private:
  Result<void> CheckOpen() const {
    if (writer_) return {};
    return InvalidArgument("the writer is closed");
  }

  // Does `work`, which takes so many bytes, with the writer. For a few bytes the GIL is
  // kept, unless it is another thread's turn.
  template <typename Work>
  Result<void> TakeTurn(uint64_t bytes, const Work& work) {
    const auto open_and_work = [&]() -> Result<void> {
      DOLIUM_TRY_VOID(CheckOpen());
      return work();
    };
    if (std::unique_lock lock(turn_, std::try_to_lock); lock) {
      unreleased_ += bytes;
      if (unreleased_ < kBytesWorthTheGil) return open_and_work();
      unreleased_ = 0;
    }
    return WithoutGil([&] {
      const std::scoped_lock lock(turn_);
      return open_and_work();
    });
  }

  static Result<std::unique_ptr<shardpack::PackWriter>> Create(const std::string& output,
                                                               PackOptions options) {
    DOLIUM_TRY(const Location location, ParseLocation(output));
    const bool rolls = options.shard_bytes > 0 || options.shard_records > 0;
    if (rolls) {
      DOLIUM_TRY(auto namer, dataset::ShardNamer::Make(location.path));
      options.place = [location, namer = std::move(namer)](uint64_t number) {
        return Location{location.store, namer.Name(number)};
      };
    } else {
      options.place = [location](uint64_t) -> Location { return Location(location); };
    }
    return shardpack::PackWriter::Create(std::move(options));
  }

  std::mutex turn_;
  // Both guarded by turn_.
  std::unique_ptr<shardpack::PackWriter> writer_;
  uint64_t unreleased_ = 0;
};

}  // namespace

void BindPackWriter(nb::module_& module) {
  nb::class_<PackWriter>(module, "PackWriter", "Samples in, numbered shards out.")
      .def(
          "__init__",
          [](PackWriter* self, nb::handle output, std::string_view compression, int level,
             uint64_t align, std::string_view user_json, const std::string& name,
             bool reproducible, bool force, uint64_t shard_bytes, uint64_t shard_records,
             uint64_t record_limit, std::string_view oversize, uint64_t dictionary_bytes,
             bool key_index, bool keys, nb::handle entry_index, uint64_t chunk_size,
             uint64_t chunk_threshold, bool compress_all, uint64_t memory, size_t jobs) {
            PackOptions options;
            auto& encode = options.shard.encode;
            encode.compression = Must(shardpack::ParseCompression(compression));
            encode.level = level;
            if (align == 0 || (align & (align - 1)) != 0) {
              throw nb::value_error("align is a power of two from 8 to 4096");
            }
            encode.align_log2 = static_cast<unsigned>(__builtin_ctzll(align));
            encode.chunk_size = chunk_size;
            encode.chunk_threshold = chunk_threshold;
            encode.record_limit = record_limit;
            if (!compress_all) {
              encode.worth_compressing = [](std::string_view type) {
                return !dataset::IsAlreadyCompressed(type);
              };
            }
            options.shard.tail.key_index = key_index;
            options.shard.tail.keys = keys;
            options.shard.tail.entry_index = ParseWanted(entry_index);
            Must(ParseJson(user_json));
            options.shard.user = nlohmann::ordered_json::parse(user_json);
            options.shard.dataset = name;
            options.shard.reproducible = reproducible;
            options.shard.force = force;
            options.shard_bytes = shard_bytes;
            options.shard_records = shard_records;
            options.oversize = ParseOversize(oversize);
            options.dictionary_bytes = static_cast<size_t>(dictionary_bytes);
            options.memory = memory;
            options.jobs = jobs;
            new (self) PackWriter(LocationText(output), std::move(options));
          },
          nb::arg("output"), nb::arg("compression"), nb::arg("level"), nb::arg("align"),
          nb::arg("user_json"), nb::arg("name"), nb::arg("reproducible"),
          nb::arg("force"), nb::arg("shard_bytes"), nb::arg("shard_records"),
          nb::arg("record_limit"), nb::arg("oversize"), nb::arg("dictionary_bytes"),
          nb::arg("key_index"), nb::arg("keys"), nb::arg("entry_index").none(),
          nb::arg("chunk_size"), nb::arg("chunk_threshold"), nb::arg("compress_all"),
          nb::arg("memory"), nb::arg("jobs"))
      .def("add", &PackWriter::Add, nb::arg("key"), nb::arg("files"),
           nb::arg("metadata").none(), nb::arg("tombstone") = false)
      .def("finish", &PackWriter::Finish)
      .def("abort", &PackWriter::Abort);
  module.def(
      "pack_verify",
      [](nb::handle location, bool contents, size_t jobs) {
        const Location place = Must(ParseLocation(LocationText(location)));
        std::vector<Finding> findings;
        const auto summary = Must(WithoutGil([&] {
          return shardpack::VerifyShard(
              place, {.contents = contents, .jobs = jobs},
              [&](const Finding& finding) { findings.push_back(finding); });
        }));
        VerifyReport report;
        report.objects = 1;
        report.entries = summary.entries;
        report.entries_read = contents ? summary.entries : 0;
        report.bytes_read = summary.bytes;
        for (const Finding& finding : findings) {
          ++(finding.severity == Severity::kError ? report.errors : report.warnings);
        }
        return ToPython(report, findings, summary.records);
      },
      nb::arg("location"), nb::arg("contents") = true, nb::arg("jobs") = 0);
  module.def(
      "pack_repair",
      [](nb::handle source, nb::handle target, bool force) {
        const Location from = Must(ParseLocation(LocationText(source)));
        const Location to = Must(ParseLocation(LocationText(target)));
        std::vector<Finding> findings;
        const auto report = Must(WithoutGil([&] {
          return shardpack::RepairShard(
              from, to, {.force = force},
              [&](const Finding& finding) { findings.push_back(finding); });
        }));
        return nb::make_tuple(report.written.records, report.records_lost,
                              report.bytes_skipped, ToPython(findings));
      },
      nb::arg("source"), nb::arg("target"), nb::arg("force") = false);
}

}  // namespace dolium::python
