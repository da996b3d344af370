#include "dolium/formats/shardpack/split_sample.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/record.h"

namespace dolium::shardpack {

namespace {

// A segment that is not the last of its file takes this share of a record at least.
constexpr uint64_t kLeastShare = 8;

class Splitter {
 public:
  Splitter(const Sample& sample, const EncodeOptions& options)
      : sample_(sample), options_(options) {
    Begin();
    open_.metadata = sample.metadata;
    bytes_ = MostBytes(open_, options_);
  }

  Result<std::vector<Sample>> Run() {
    for (const File& file : sample_.files) DOLIUM_TRY_VOID(Add(file));
    Flush();
    return std::move(parts_);
  }

 private:
  void Begin() {
    open_ = {.key = sample_.key};
    bytes_ = MostBytes(open_, options_);
  }
  void Flush() {
    if (open_.files.empty()) return;
    parts_.push_back(std::move(open_));
    Begin();
  }

  bool Fits(const File& file) const {
    return bytes_ + MostBytes(file, options_) <= options_.record_limit;
  }
  void Put(File file) {
    bytes_ += MostBytes(file, options_);
    open_.files.push_back(std::move(file));
  }

  // How many bytes of contents a file like this can have in the open part.
  uint64_t RoomFor(File file) const {
    file.data = {};
    const uint64_t taken = bytes_ + MostBytes(file, options_);
    if (taken >= options_.record_limit) return 0;
    const uint64_t room = options_.record_limit - taken;
    const uint64_t table = (room / options_.chunk_size + 1) * kChunkRowBytes;
    return room - std::min(room, table);
  }

  Result<void> Add(const File& file) {
    if (!Fits(file)) {
      const Sample alone{.key = sample_.key};
      if (MostBytes(alone, options_) + MostBytes(file, options_) >
          options_.record_limit) {
        return Cut(file);
      }
      if (open_.files.empty()) return Cut(file);  // Metadata take the room.
      Flush();
    }
    Put(file);
    return {};
  }

  Result<void> Cut(const File& file) {
    const uint64_t size = file.data.size();
    for (uint64_t at = 0; at < size;) {
      File segment{.name = file.name, .content_type = file.content_type};
      segment.compression = file.compression;
      segment.segment = FileSegment{at, size};
      if (at == 0) {
        segment.metadata = file.metadata;
        segment.modified = file.modified;
        segment.mode = file.mode;
        segment.array = file.array;
      }
      const uint64_t least =
          std::min(size - at, std::max<uint64_t>(options_.record_limit / kLeastShare, 1));
      uint64_t room = RoomFor(segment);
      if (room < least) {
        if (open_.files.empty()) return NoRoom(file);
        Flush();
        room = RoomFor(segment);
        if (room < least) return NoRoom(file);
      }
      const uint64_t length = std::min(room, size - at);
      segment.data =
          file.data.Slice(static_cast<size_t>(at), static_cast<size_t>(length));
      Put(std::move(segment));
      at += length;
      // The next segment is the first entry of its record.
      if (at < size) Flush();
    }
    if (parts_.size() < UINT32_MAX) return {};
    return NoRoom(file);
  }

  Error NoRoom(const File& file) const {
    return InvalidArgument(
               fmt::format("\"{}\": entry \"{}\" of {} bytes cannot be cut into records "
                           "of {}, most of which key, names and metadata take",
                           sample_.key, file.name, file.data.size(),
                           options_.record_limit))
        .WithKind("record-size");
  }

  const Sample& sample_;
  const EncodeOptions& options_;
  Sample open_;
  uint64_t bytes_ = 0;  // that the record of open_ can have at most
  std::vector<Sample> parts_;
};

}  // namespace

Result<std::vector<Sample>> SplitSample(const Sample& sample,
                                        const EncodeOptions& options) {
  return Splitter(sample, options).Run();
}

Result<void> SampleJoiner::CheckWhole() const {
  if (segments_.empty()) return {};
  const File& last = open_.files.back();
  return PartOfFile({.raw_size = segments_.size(), .segment = last.segment})
      .Within(EntryContext(open_.key, last.name));
}

Result<void> SampleJoiner::AddFile(const File& file) {
  const auto segment = file.segment;
  if (!segments_.empty()) {
    const File& last = open_.files.back();
    if (!segment || segment->offset != segments_.size() || file.name != last.name ||
        segment->whole_size != last.segment->whole_size) {
      return CheckWhole();
    }
  } else {
    if (segment && segment->offset > 0) {
      return Corrupt(fmt::format("{}: a segment at {} of {} without those before it",
                                 EntryContext(open_.key, file.name), segment->offset,
                                 segment->whole_size))
          .WithKind(kind::kRecord);
    }
    if (std::ranges::find(open_.files, file.name, &File::name) != open_.files.end()) {
      return Corrupt(fmt::format("{} is there twice", EntryContext(open_.key, file.name)))
          .WithKind(kind::kRecord);
    }
    open_.files.push_back(file);
  }
  if (!segment || file.data.size() == segment->whole_size) return {};
  Append(segments_, file.data);
  if (segments_.size() == segment->whole_size) {
    open_.files.back().data = Bytes::FromVector(std::exchange(segments_, {}));
    open_.files.back().segment.reset();
  }
  return {};
}

Result<std::optional<Sample>> SampleJoiner::Add(const Sample& part,
                                                std::optional<PartNumber> number) {
  DOLIUM_TRY_VOID(parts_.Add(part.key, number));
  if (!number || number->index == 0) {
    open_ = {.key = part.key, .metadata = part.metadata, .tombstone = part.tombstone};
    segments_.clear();
  }
  for (const File& file : part.files) DOLIUM_TRY_VOID(AddFile(file));
  if (number && number->index + 1 < number->count) return std::nullopt;
  DOLIUM_TRY_VOID(CheckWhole());
  return std::optional<Sample>(std::move(open_));
}

}  // namespace dolium::shardpack
