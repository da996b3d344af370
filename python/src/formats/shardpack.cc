// The Python classes PackWriter and PackStream, verify and repair of a shard, and what
// reading one may raise.
#include "python/src/formats/shardpack.h"

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
#include <nanobind/stl/unique_ptr.h>

#include "dolium/base/stop.h"
#include "dolium/bytes/guarded_map.h"
#include "dolium/bytes/location.h"
#include "dolium/container/json.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/shard_names.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/pack_writer.h"
#include "dolium/formats/shardpack/split_sample.h"
#include "dolium/formats/shardpack/stream_reader.h"
#include "dolium/ops/pack/pack_options.h"
#include "dolium/ops/pack/pack_repair.h"
#include "dolium/ops/pack/pack_verify.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"
#include "python/src/wishes.h"

namespace dolium::python {
namespace {

using shardpack::Check;
using shardpack::PackOptions;

// Writes with the GIL until so many bytes were taken, then lets go of it for a while.
constexpr uint64_t kAddedBytesWorthTheGil = uint64_t{64} << 10;

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
    const BorrowedBytes borrowed(object);
    return Bytes::Copy(borrowed.view());
  }
  auto* const borrowed = new BorrowedValue(object);
  const std::shared_ptr<const void> owner(static_cast<const void*>(borrowed),
                                          [borrowed](auto*) {
                                            const nb::gil_scoped_acquire acquire;
                                            delete borrowed;
                                          });
  return {owner, borrowed->bytes.view()};
}

// Calls from several threads take turns. The one whose turn it is may hold the GIL, so
// nobody waits for a turn with it.
class PackWriter {
 public:
  // With `resume`, the first shards of the set that are there already stay, and it begins
  // after them.
  PackWriter(const std::string& output, PackOptions options, bool resume)
      : writer_(Must(WithoutGil(
            [&] { return Create(output, std::move(options), resume, before_); }))) {
    if (resume) folder_ = Must(ParseLocation(output)).Parent();
  }
  ~PackWriter() { Abort(); }
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  // files: a list of (name, content type or None, data, compression or None, metadata).
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
      bytes += file.data.size();
      sample.files.push_back(std::move(file));
    }
    Must(TakeTurn(bytes, [&]() -> Result<void> {
      DOLIUM_TRY_VOID(writer_->Add(std::move(sample)));
      has_samples_ = true;
      return {};
    }));
  }

  // Of the shards that were there.
  const std::vector<std::string>& before() const { return before_; }

  nb::list Finish() {
    const auto summary = Must(WithoutGil([&]() -> Result<shardpack::PackSummary> {
      const std::scoped_lock lock(turn_);
      DOLIUM_TRY_VOID(CheckOpen());
      // Its threads may need the GIL to let go of bytes objects before they end.
      const auto finished = std::move(writer_);
      // All was there: a shard without samples would be one more.
      shardpack::PackSummary made;
      if (before_.empty() || has_samples_) {
        DOLIUM_TRY(made, finished->Finish());
      }
      if (folder_) {
        // What the writers left that were killed.
        DOLIUM_TRY([[maybe_unused]] const size_t removed,
                   folder_->store->RemoveStaleTemporaries(folder_->path));
      }
      return made;
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
      if (unreleased_ < kAddedBytesWorthTheGil) return open_and_work();
      unreleased_ = 0;
    }
    return WithoutGil([&] {
      const std::scoped_lock lock(turn_);
      return open_and_work();
    });
  }

  static Result<std::unique_ptr<shardpack::PackWriter>> Create(
      const std::string& output, PackOptions options, bool resume,
      std::vector<std::string>& before) {
    DOLIUM_TRY(const Location location, ParseLocation(output));
    const bool rolls = options.shard_bytes > 0 || options.shard_records > 0;
    if (resume && !rolls) {
      return InvalidArgument(fmt::format(
          "{}: one shard appears whole or not at all; only a set of several is resumed",
          location.Describe()));
    }
    if (resume && options.shard.force) {
      return InvalidArgument("to resume a set and to replace it exclude each other");
    }
    if (rolls) {
      DOLIUM_TRY(auto namer, dataset::ShardNamer::Make(location.path));
      options.place = [location, namer = std::move(namer)](uint64_t number) {
        return Location{location.store, namer.Name(number)};
      };
      while (resume) {
        const Location shard = options.place(before.size());
        DOLIUM_TRY(const auto there, shard.store->Stat(shard.path));
        if (!there) break;
        before.push_back(shard.Describe());
      }
      options.shards_before = before.size();
    } else {
      options.place = [location](uint64_t) -> Location { return Location(location); };
    }
    return shardpack::PackWriter::Create(std::move(options));
  }

  std::mutex turn_;
  std::vector<std::string> before_;  // before writer_, which is made with it
  // All guarded by turn_.
  std::unique_ptr<shardpack::PackWriter> writer_;
  uint64_t unreleased_ = 0;
  bool has_samples_ = false;
  std::optional<Location> folder_;  // of a set that is resumed
};

// Reads front to back, from a file descriptor or a location.
class PackStream {
 public:
  PackStream(std::unique_ptr<shardpack::ByteInput> input, Check check, std::string name,
             bool is_remote)
      : reader_(std::move(input), {.check = check}),
        name_(std::move(name)),
        is_remote_(is_remote) {}

  nb::object Next() {
    const auto read = Must(WithoutGil(is_remote_, [&] { return Read(); }));
    if (!read) throw nb::stop_iteration();
    const shardpack::Sample& sample = read->sample;
    nb::dict files;
    for (const shardpack::File& file : sample.files) {
      files[MessageText(file.name)] =
          nb::make_tuple(MessageText(file.content_type), CopyToPython(file.data));
    }
    return nb::make_tuple(
        MessageText(sample.key), files, static_cast<int>(sample.metadata.format),
        CopyToPython(sample.metadata.bytes), read->number, sample.tombstone);
  }

 private:
  struct Streamed {
    shardpack::Sample sample;
    uint64_t number = 0;  // of its first record
  };

  // The next one; nullopt at the end. Decoded at once, since dictionaries belong to the
  // stream. One that was cut into several records is whole again.
  Result<std::optional<Streamed>> Read() {
    const std::scoped_lock lock(turn_);
    std::optional<uint64_t> first;
    while (true) {
      auto record = reader_.Next();
      if (!record) return std::move(record).error().Within(name_);
      if (!*record) {
        DOLIUM_TRY_VOID(joiner_.Finish().Within(name_));
        return std::nullopt;
      }
      const uint64_t number = reader_.records() - 1;
      const auto join = [&]() -> Result<std::optional<shardpack::Sample>> {
        DOLIUM_TRY(const auto part, shardpack::ParsePart((*record)->header()));
        DOLIUM_TRY(const auto sample, (*record)->Decode(reader_.content_options()));
        return joiner_.Add(sample, part);
      };
      auto joined = join();
      if (!joined) {
        return std::move(joined).error().Within(
            fmt::format("{}: record {}", name_, number));
      }
      first = first.value_or(number);
      if (*joined) return Streamed{**std::move(joined), *first};
    }
  }

  std::mutex turn_;  // guards reader_; taken without the GIL
  shardpack::StreamReader reader_;
  shardpack::SampleJoiner joiner_;
  std::string name_;
  const bool is_remote_;
};

// What reading a ShardPack may raise: a class for each kind.
struct KindOfError {
  std::string_view kind;
  const char* name;
  const char* doc;
};
constexpr KindOfError kPackErrors[] = {
    {shardpack::kind::kNotShardPack, "NotShardPackError",
     "Neither end of the file is that of a ShardPack."},
    {shardpack::kind::kIncomplete, "IncompleteError",
     "The shard was not finished, or its end is missing."},
    {shardpack::kind::kTrailingData, "TrailingDataError",
     "The file is longer than the shard it holds."},
    {shardpack::kind::kIndex, "IndexCorruptError", "Index or footer are damaged."},
    {shardpack::kind::kSection, "SectionCorruptError",
     "A section of the tail is damaged; records can still be read."},
    {shardpack::kind::kRecord, "RecordCorruptError", "A record is damaged."},
    {shardpack::kind::kEntry, "EntryCorruptError", "An entry is damaged."},
    {shardpack::kind::kLimit, "LimitExceededError",
     "An entry is larger than the caller allows."},
    {shardpack::kind::kUnsupportedCodec, "UnsupportedCodecError",
     "An entry is compressed in a way that is not known."},
    {shardpack::kind::kUnsupportedFeature, "UnsupportedFeatureError",
     "The shard needs something that is not known."},
    {shardpack::kind::kUnsupportedVersion, "UnsupportedVersionError",
     "The shard is of a version that is not known."},
};

}  // namespace

Check ParseCheck(std::string_view text) {
  if (text == "full") return Check::kFull;
  if (text == "headers" || text == "heads") return Check::kHeaders;
  if (text == "none") return Check::kNone;
  throw nb::value_error("check is \"full\", \"headers\" or \"none\"");
}

nb::str CodecText(uint8_t codec) {
  if (codec > static_cast<uint8_t>(shardpack::Compression::kZstd)) {
    return MessageText(fmt::format("codec {}", codec));
  }
  return MessageText(
      shardpack::CompressionName(static_cast<shardpack::Compression>(codec)));
}

void BindPackErrors(nb::module_& module) {
  for (const KindOfError& known : kPackErrors) {
    const bool is_unsupported = known.kind.starts_with("unsupported");
    AddErrorKind(module, known.kind, "shardpack", known.name, known.doc,
                 is_unsupported ? ErrorCode::kUnsupported : ErrorCode::kCorrupt);
  }
  AddErrorKind(shardpack::kind::kNoSample, PyExc_KeyError);
}

PackOptions PackOptionsFrom(const nb::dict& options) {
  dataset::PackWishes wishes;
  wishes.compression = Wish<std::string>(options, "compression");
  wishes.level = Wish<int64_t>(options, "level");
  TakeWish(options, "compress_all", wishes.compress_all);
  wishes.chunk_size = Wish<uint64_t>(options, "chunk_size");
  wishes.chunk_threshold = Wish<uint64_t>(options, "chunk_threshold");
  wishes.align = Wish<uint64_t>(options, "align");
  wishes.record_size_limit = Wish<uint64_t>(options, "record_size_limit");
  wishes.oversize = Wish<std::string>(options, "oversize");
  wishes.dictionary = Wish<uint64_t>(options, "dictionary");
  TakeWish(options, "key_index", wishes.key_index);
  TakeWish(options, "keys", wishes.keys);
  wishes.entry_index = Wish<bool>(options, "entry_index");
  TakeWish(options, "shard_size", wishes.shard_size);
  TakeWish(options, "shard_records", wishes.shard_records);
  TakeWish(options, "reproducible", wishes.reproducible);
  TakeWish(options, "force", wishes.force);
  PackOptions out = Must(dataset::PackOptionsOf(wishes));
  if (const auto text = Wish<std::string>(options, "metadata")) {
    out.shard.user = Must(ParseOrderedJson(*text));
  }
  TakeWish(options, "name", out.shard.dataset);
  TakeWish(options, "memory", out.memory);
  TakeWish(options, "jobs", out.jobs);
  return out;
}

void BindPackWriter(nb::module_& module) {
  nb::class_<PackWriter>(module, "PackWriter", "Samples in, numbered shards out.")
      .def(
          "__init__",
          [](PackWriter* self, nb::handle output, const nb::dict& options, bool resume) {
            new (self) PackWriter(LocationText(output), PackOptionsFrom(options), resume);
          },
          nb::arg("output"), nb::arg("options"), nb::arg("resume") = false)
      .def_prop_ro("before",
                   [](const PackWriter& self) {
                     nb::list paths;
                     for (const std::string& path : self.before()) {
                       paths.append(NameText(path));
                     }
                     return paths;
                   })
      .def("add", &PackWriter::Add, nb::arg("key"), nb::arg("files"),
           nb::arg("metadata").none(), nb::arg("tombstone") = false)
      .def("finish", &PackWriter::Finish)
      .def("abort", &PackWriter::Abort);
  module.def(
      "pack_verify",
      [](nb::handle location, bool contents, size_t jobs) {
        const Location shard = Must(ParseLocation(LocationText(location)));
        VerifyOptions options{.jobs = jobs};
        if (!contents) options.depth = CheckDepth::kQuick;
        std::vector<Finding> findings;
        const auto checked = Must(WithoutGil(/*is_remote=*/true, [&] {
          options.stop = CurrentStop();
          return dataset::VerifyPackShard(shard, options, [&](const Finding& finding) {
            findings.push_back(finding);
          });
        }));
        return ToPython(checked.report, findings, checked.records);
      },
      nb::arg("location"), nb::arg("contents") = true, nb::arg("jobs") = 0);
  module.def(
      "pack_repair",
      [](nb::handle source, nb::handle target, bool quick, bool force) {
        const Location shard = Must(ParseLocation(LocationText(source)));
        const Location to = Must(ParseLocation(LocationText(target)));
        std::vector<Finding> findings;
        const auto repair = [&]() -> Result<shardpack::RepairReport> {
          DOLIUM_TRY(const auto from, dataset::FindRepairSource(shard));
          return dataset::RepairPack(
              from.location, to, {.quick = quick, .force = force, .stop = CurrentStop()},
              [&](const Finding& finding) { findings.push_back(finding); });
        };
        const auto report = Must(WithoutGil(/*is_remote=*/true, repair));
        return nb::make_tuple(report.written.records, report.records_lost,
                              report.bytes_skipped, ToPython(findings));
      },
      nb::arg("source"), nb::arg("target"), nb::arg("quick"), nb::arg("force"));
  module.def("keep_map_guard", &KeepMapGuard);
  nb::class_<PackStream>(module, "PackStream", "Records front to back, without seeking.")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &PackStream::Next);
  module.def(
      "pack_stream",
      [](nb::handle source, std::string_view check) {
        const Check checked = ParseCheck(check);
        if (nb::isinstance<nb::int_>(source)) {
          const int fd = nb::cast<int>(source);
          return std::make_unique<PackStream>(shardpack::FileInput(fd), checked,
                                              fmt::format("file descriptor {}", fd),
                                              /*is_remote=*/false);
        }
        const Location location = Must(ParseLocation(LocationText(source)));
        auto input = Must(WithoutGil(!IsLocal(location),
                                     [&] { return shardpack::ObjectInput(location); }));
        return std::make_unique<PackStream>(std::move(input), checked,
                                            location.Describe(), !IsLocal(location));
      },
      nb::arg("source"), nb::arg("check") = "full");
}

}  // namespace dolium::python
