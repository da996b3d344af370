#include "dolium/formats/shardpack/encode.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/codec/gzip.h"
#include "dolium/codec/lz4_block.h"
#include "dolium/formats/shardpack/names.h"
#include "dolium/formats/shardpack/record.h"

namespace dolium::shardpack {

namespace {

constexpr size_t kMaxShort = UINT16_MAX;
// Smaller contents are copied beside their headers: one segment is cheaper than three.
constexpr size_t kCopiedContent = 4096;

template <std::unsigned_integral T>
void Put(ByteVector& to, T value) {
  to.resize(to.size() + sizeof value);
  StoreLE(to.data() + to.size() - sizeof value, value);
}

void PutText(ByteVector& to, std::string_view text) { Append(to, AsBytes(text)); }

void PutExtension(ByteVector& to, uint16_t type, BytesView bytes) {
  Put(to, type);
  Put(to, static_cast<uint16_t>(bytes.size()));
  Append(to, bytes);
}

int Level(const EncodeOptions& options, int usual) {
  return options.level < 0 ? usual : options.level;
}

// Compressed; nullopt if that does not make it smaller.
std::optional<ByteVector> Compress(BytesView value, Compression compression,
                                   const EncodeOptions& options) {
  std::optional<ByteVector> out;
  switch (compression) {
    case Compression::kNone:
      return std::nullopt;
    case Compression::kGzip:
      out = GzipEncode(value, Level(options, kGzipLevel));
      break;
    case Compression::kLz4:
      if (value.empty()) return std::nullopt;
      out = Lz4BlockEncode(value, value.size() - 1, Level(options, 0));
      break;
    case Compression::kZstd:
      out = ZstdEncode(value, Level(options, kZstdLevel), options.dictionary.get());
      break;
  }
  if (out && out->size() >= value.size()) return std::nullopt;
  return out;
}

// The id of the dictionary that a content of this type is; 0 if it is none.
uint32_t DictionaryIdIn(std::string_view content_type, BytesView data) {
  return content_type == kDictionaryType ? ZstdIdOfDictionary(data) : 0;
}

// A content as it will be stored.
struct StoredContent {
  std::vector<Bytes> segments;
  uint64_t size = 0;
  uint32_t crc32c = 0;
  Compression codec = Compression::kNone;
  bool is_chunked = false;
  bool is_too_dense = false;  // readers would take it for a bomb

  void Add(Bytes segment) {
    size += segment.size();
    segments.push_back(std::move(segment));
  }
};

StoredContent StoreAsIs(const Bytes& data) {
  StoredContent content;
  content.crc32c = Crc32c(data);
  content.Add(data);
  return content;
}

bool IsTooDense(uint64_t stored, uint64_t raw) {
  return raw / kDefaultRatioLimit >= stored;
}

// nullopt if compression was asked for and gains nothing.
std::optional<StoredContent> StoreInChunks(const Bytes& data, Compression compression,
                                           const EncodeOptions& options) {
  const uint64_t count = (data.size() + options.chunk_size - 1) / options.chunk_size;
  ByteVector table;
  table.reserve(kChunkTableHeaderBytes + static_cast<size_t>(count) * kChunkRowBytes);
  Put(table, options.chunk_size);
  Put(table, static_cast<uint32_t>(count));
  Put(table, uint32_t{0});
  uint64_t end = kChunkTableHeaderBytes + count * kChunkRowBytes;
  const uint64_t table_size = end;
  bool is_too_dense = false;
  std::vector<Bytes> chunks;
  for (uint64_t at = 0; at < data.size(); at += options.chunk_size) {
    const auto size =
        static_cast<size_t>(std::min<uint64_t>(options.chunk_size, data.size() - at));
    Bytes chunk = data.Slice(static_cast<size_t>(at), size);
    uint32_t flags = 0;
    if (auto compressed = Compress(chunk, compression, options)) {
      chunk = Bytes::FromVector(*std::move(compressed));
    } else {
      flags = kChunkStoredRaw;
    }
    is_too_dense |= IsTooDense(chunk.size(), size);
    end += chunk.size();
    Put(table, end);
    Put(table, Crc32c(chunk));
    Put(table, flags);
    chunks.push_back(std::move(chunk));
  }
  if (compression != Compression::kNone && end >= data.size()) return std::nullopt;
  StoredContent content;
  content.codec = compression;
  content.is_chunked = true;
  content.is_too_dense = is_too_dense || IsTooDense(end, data.size());
  content.crc32c = Crc32c(BytesView(table).first(static_cast<size_t>(table_size)));
  content.Add(Bytes::FromVector(std::move(table)));
  for (Bytes& chunk : chunks) content.Add(std::move(chunk));
  return content;
}

StoredContent StoreBy(Compression compression, const Bytes& data,
                      const EncodeOptions& options) {
  const bool is_large =
      options.chunk_threshold > 0 && data.size() > options.chunk_threshold;
  const bool must_chunk =
      compression == Compression::kLz4 && data.size() > kLz4BlockLimit;
  if (compression == Compression::kNone) {
    if (is_large && options.chunk_uncompressed) {
      return *StoreInChunks(data, compression, options);
    }
    return StoreAsIs(data);
  }
  if (is_large || must_chunk) {
    auto chunked = StoreInChunks(data, compression, options);
    return chunked ? *std::move(chunked) : StoreAsIs(data);
  }
  auto compressed = Compress(data, compression, options);
  if (!compressed) return StoreAsIs(data);
  StoredContent content = StoreAsIs(Bytes::FromVector(*std::move(compressed)));
  content.codec = compression;
  content.is_too_dense = IsTooDense(content.size, data.size());
  return content;
}

StoredContent Store(const File& file, const EncodeOptions& options) {
  const Compression wanted = file.compression.value_or(options.compression);
  const bool is_worth = file.compression || !options.worth_compressing ||
                        options.worth_compressing(file.content_type);
  StoredContent content =
      StoreBy(is_worth ? wanted : Compression::kNone, file.data, options);
  if (!content.is_too_dense) return content;
  // Runs of one byte: what lz4 makes of them stays within what readers allow.
  EncodeOptions usual = options;
  usual.level = -1;
  return StoreBy(Compression::kLz4, file.data, usual);
}

// The bytes of one extension of so many.
constexpr size_t ExtensionBytes(size_t body) { return 2 * sizeof(uint16_t) + body; }

size_t MetadataBytes(const Metadata& metadata) {
  return metadata.format == MetadataFormat::kNone ? 0 : 1 + metadata.bytes.size();
}

// The bytes of what EntryExtensions gives.
size_t BytesOfExtensions(const File& file) {
  size_t bytes = 0;
  if (const size_t body = MetadataBytes(file.metadata)) bytes += ExtensionBytes(body);
  if (file.modified) bytes += ExtensionBytes(sizeof *file.modified);
  if (file.mode) bytes += ExtensionBytes(sizeof *file.mode);
  if (file.array) {
    bytes += ExtensionBytes(2 + file.array->dtype.size() +
                            sizeof(uint64_t) * file.array->lengths.size());
  }
  if (file.segment) bytes += ExtensionBytes(kSegmentBytes);
  return bytes;
}

Result<void> CheckFileExtensions(const File& file) {
  if (MetadataBytes(file.metadata) > kMaxShort - ExtensionBytes(0)) {
    return InvalidArgument(fmt::format("metadata of {} bytes, {} are possible",
                                       file.metadata.bytes.size(), kMaxShort - 5));
  }
  if (file.array &&
      (file.array->dtype.size() > UINT8_MAX || file.array->lengths.size() > UINT8_MAX)) {
    return InvalidArgument("array with too long a dtype or too many dimensions");
  }
  if (const size_t bytes = BytesOfExtensions(file); bytes > kMaxShort) {
    return InvalidArgument(
        fmt::format("extensions of {} bytes, {} are possible", bytes, kMaxShort));
  }
  return {};
}

// Of a file that passes CheckFileExtensions.
ByteVector EntryExtensions(const File& file) {
  ByteVector out;
  if (file.metadata.format != MetadataFormat::kNone) {
    ByteVector body{static_cast<std::byte>(file.metadata.format)};
    Append(body, file.metadata.bytes);
    PutExtension(out, kEntryExtensionMetadata, body);
  }
  if (file.modified) {
    ByteVector body;
    Put(body, std::bit_cast<uint64_t>(*file.modified));
    PutExtension(out, kEntryExtensionModified, body);
  }
  if (file.mode) {
    ByteVector body;
    Put(body, *file.mode);
    PutExtension(out, kEntryExtensionMode, body);
  }
  if (file.array) {
    ByteVector body;
    Put(body, static_cast<uint8_t>(file.array->dtype.size()));
    PutText(body, file.array->dtype);
    Put(body, static_cast<uint8_t>(file.array->lengths.size()));
    for (const uint64_t length : file.array->lengths) Put(body, length);
    PutExtension(out, kEntryExtensionArray, body);
  }
  if (file.segment) {
    ByteVector body;
    Put(body, file.segment->offset);
    Put(body, file.segment->whole_size);
    PutExtension(out, kEntryExtensionSegment, body);
  }
  return out;
}

// The segments of a block, one after another.
class BlockBuilder {
 public:
  explicit BlockBuilder(uint64_t alignment) : alignment_(alignment) {}

  uint64_t size() const { return done_ + open_.size(); }
  // The segment that small things are added to.
  ByteVector& open() { return open_; }

  void Pad(uint64_t alignment) {
    open_.resize(open_.size() + static_cast<size_t>(RoundUp(size(), alignment) - size()));
  }
  void PadToData() { Pad(alignment_); }

  void Add(const Bytes& bytes) {
    if (bytes.size() <= kCopiedContent) {
      Append(open_, bytes);
      return;
    }
    Close();
    done_ += bytes.size();
    segments_.push_back(bytes);
  }

  void Close() {
    if (open_.empty()) return;
    done_ += open_.size();
    if (first_.empty()) {
      first_ = std::move(open_);
    } else {
      segments_.push_back(Bytes::FromVector(std::move(open_)));
    }
    open_ = {};
  }

  // The segment that begins with the record's header, which is filled in last. After
  // Close().
  MutableBytes first() { return first_; }

  std::vector<Bytes> Take() && {
    segments_.insert(segments_.begin(), Bytes::FromVector(std::move(first_)));
    return std::move(segments_);
  }

 private:
  uint64_t alignment_;
  ByteVector first_;
  std::vector<Bytes> segments_;
  ByteVector open_;
  uint64_t done_ = 0;
};

struct PreparedEntry {
  const File* file = nullptr;
  ByteVector extensions;
  StoredContent content;
};

void WriteEntry(PreparedEntry& entry, BlockBuilder& block, EncodedRecord& record) {
  const File& file = *entry.file;
  const StoredContent& content = entry.content;
  EntrySummary summary{
      .name = file.name,
      .content_type = file.content_type,
      .header_at = block.size(),
      .raw_size = file.data.size(),
      .stored_size = content.size,
      .is_plain = content.codec == Compression::kNone && !content.is_chunked,
      .is_aux = file.is_aux,
      .dictionary_id = DictionaryIdIn(file.content_type, file.data),
      .segment = file.segment};
  ByteVector header;
  header.reserve(kEntryHeaderBytes + file.name.size() + file.content_type.size() +
                 entry.extensions.size());
  Put(header, content.size);
  Put(header, uint64_t{file.data.size()});
  Put(header, content.crc32c);
  Put(header, static_cast<uint16_t>(file.name.size()));
  Put(header, static_cast<uint16_t>(file.content_type.size()));
  Put(header, static_cast<uint16_t>(entry.extensions.size()));
  Put(header, static_cast<uint8_t>(content.codec));
  Put(header, static_cast<uint8_t>((content.is_chunked ? kEntryChunked : 0) |
                                   (file.is_aux ? kEntryAux : 0)));
  const uint32_t fixed = Crc32c(header);
  Put(header, uint32_t{0});
  PutText(header, file.name);
  PutText(header, file.content_type);
  Append(header, entry.extensions);
  StoreLE(header.data() + kEntryHeaderBytes - 4,
          Crc32c(BytesView(header).subspan(kEntryHeaderBytes), fixed));
  Append(block.open(), header);
  block.PadToData();
  for (const Bytes& segment : content.segments) block.Add(segment);
  summary.end = block.size();
  record.entries.push_back(std::move(summary));
}

Result<void> CheckFormat(const Metadata& metadata) {
  if (metadata.format != MetadataFormat::kNone || metadata.bytes.empty()) return {};
  return InvalidArgument(
      fmt::format("{} bytes of metadata in no format", metadata.bytes.size()));
}

// The error with context() in front, which is asked for only then.
template <typename T, typename Context>
Result<T> In(const Context& context, Result<T> result) {
  if (result) return result;
  return std::move(result).error().Within(context());
}

// The name of a file that comes before it as well; nullptr if there is none.
const std::string* FindTwice(const std::vector<File>& files) {
  constexpr size_t kFew = 8;
  if (files.size() <= kFew) {
    for (size_t i = 1; i < files.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (files[i].name == files[j].name) return &files[i].name;
      }
    }
    return nullptr;
  }
  std::set<std::string_view> names;
  for (const File& file : files) {
    if (!names.insert(file.name).second) return &file.name;
  }
  return nullptr;
}

Result<EncodedRecord> Encode(const Sample& sample, std::optional<PartNumber> part,
                             const EncodeOptions& options) {
  DOLIUM_TRY_VOID(CheckSample(sample));
  EncodedRecord record{.key = sample.key, .part = part};
  std::vector<PreparedEntry> entries;
  entries.reserve(sample.files.size());
  record.entries.reserve(sample.files.size());
  uint64_t bytes = 0;
  for (const File& file : sample.files) {
    PreparedEntry& entry = entries.emplace_back();
    entry.file = &file;
    entry.extensions = EntryExtensions(file);
    entry.content = Store(file, options);
    bytes += entry.content.size;
  }
  BlockBuilder block(uint64_t{1} << options.align_log2);
  ByteVector& header = block.open();
  // Small contents join the headers in one segment.
  header.reserve(kRecordHeaderBytes + sample.key.size() + sample.metadata.bytes.size() +
                 static_cast<size_t>(std::min<uint64_t>(bytes, kCopiedContent)) +
                 entries.size() *
                     (2 * kEntryHeaderBytes + (size_t{1} << options.align_log2)));
  ByteVector extensions;
  if (part) {
    ByteVector body;
    Put(body, part->index);
    Put(body, part->count);
    PutExtension(extensions, kRecordExtensionPart, body);
  }
  header.resize(kRecordHeaderBytes);
  PutText(header, sample.key);
  Append(header, extensions);
  Append(header, sample.metadata.bytes);
  const size_t header_end = header.size();
  block.Pad(kEntryAlignment);
  for (PreparedEntry& entry : entries) {
    block.Pad(kEntryAlignment);
    WriteEntry(entry, block, record);
  }
  block.PadToData();
  record.size = block.size();
  if (options.record_limit > 0 && record.size > options.record_limit) {
    return InvalidArgument(fmt::format("\"{}\": a record of {} bytes, the limit is {}",
                                       sample.key, record.size, options.record_limit))
        .WithKind("record-size");
  }
  block.Close();
  std::byte* first = block.first().data();
  StoreLE(first, record.size);
  std::memcpy(first + kRecordMagicAt, kRecordMagic.data(), kRecordMagic.size());
  first[12] = std::byte{kRecordVersion};
  first[13] = static_cast<std::byte>(options.align_log2);
  first[14] = static_cast<std::byte>((sample.tombstone ? kRecordTombstone : 0) |
                                     (part ? kRecordPart : 0));
  first[15] = static_cast<std::byte>(sample.metadata.format);
  StoreLE(first + 16, static_cast<uint32_t>(sample.metadata.bytes.size()));
  StoreLE(first + 20, static_cast<uint16_t>(sample.key.size()));
  StoreLE(first + 22, static_cast<uint16_t>(extensions.size()));
  StoreLE(first + 28, static_cast<uint32_t>(sample.files.size()));
  const BytesView whole(first, header_end);
  StoreLE(first + 24, Crc32c(whole.subspan(28), Crc32c(whole.first(24))));
  record.segments = std::move(block).Take();
  return record;
}

// The id of the dictionary that an entry is; 0 if it is none.
uint32_t DictionaryIdOf(const Record& record, const EntryHeader& entry) {
  if (entry.content_type != kDictionaryType) return 0;
  const auto content = record.Content(entry, {});
  return content ? ZstdIdOfDictionary(*content) : 0;
}

}  // namespace

Result<void> CheckOptions(const EncodeOptions& options) {
  if (options.align_log2 < kMinAlignLog2 || options.align_log2 > kMaxAlignLog2) {
    return InvalidArgument(fmt::format("alignment 2^{}, 2^{} to 2^{} are possible",
                                       options.align_log2, kMinAlignLog2, kMaxAlignLog2));
  }
  if (!std::has_single_bit(options.chunk_size) || options.chunk_size < kMinChunkSize ||
      options.chunk_size > kMaxChunkSize) {
    return InvalidArgument(
        fmt::format("chunk size {}, powers of two from {} to {} are possible",
                    options.chunk_size, kMinChunkSize, kMaxChunkSize));
  }
  if (options.dictionary && options.compression != Compression::kZstd) {
    return InvalidArgument("a dictionary is for zstd");
  }
  return {};
}

Result<void> CheckSample(const Sample& sample) {
  DOLIUM_TRY_VOID(CheckKey(sample.key));
  const auto context = [&] { return fmt::format("\"{}\"", sample.key); };
  if (sample.tombstone != sample.files.empty()) {
    return InvalidArgument(sample.tombstone ? "a tombstone has no files"
                                            : "a sample needs a file")
        .Within(context());
  }
  if (sample.metadata.bytes.size() > UINT32_MAX) {
    return InvalidArgument("metadata of 4 GiB and more").Within(context());
  }
  DOLIUM_TRY_VOID(In(context, CheckFormat(sample.metadata)));
  if (sample.files.size() > UINT32_MAX) {
    return InvalidArgument(fmt::format("{} files", sample.files.size()))
        .Within(context());
  }
  for (const File& file : sample.files) {
    DOLIUM_TRY_VOID(In(context, CheckEntryName(file.name)));
    const auto in_entry = [&] { return EntryContext(sample.key, file.name); };
    DOLIUM_TRY_VOID(In(in_entry, CheckContentType(file.content_type)));
    DOLIUM_TRY_VOID(In(in_entry, CheckFormat(file.metadata)));
    DOLIUM_TRY_VOID(In(in_entry, CheckFileExtensions(file)));
  }
  if (const std::string* name = FindTwice(sample.files)) {
    return InvalidArgument(fmt::format("entry \"{}\" is there twice", *name))
        .Within(context());
  }
  return {};
}

uint64_t MostBytes(const Sample& sample, const EncodeOptions& options) {
  const uint64_t alignment = uint64_t{1} << options.align_log2;
  uint64_t bytes = kRecordHeaderBytes + ExtensionBytes(2 * sizeof(uint32_t)) +
                   sample.key.size() + sample.metadata.bytes.size() + alignment;
  for (const File& file : sample.files) bytes += MostBytes(file, options);
  return bytes;
}

uint64_t MostBytes(const File& file, const EncodeOptions& options) {
  const uint64_t chunks = file.data.size() / options.chunk_size + 1;
  return kEntryAlignment + kEntryHeaderBytes + file.name.size() +
         file.content_type.size() + BytesOfExtensions(file) +
         (uint64_t{1} << options.align_log2) + kChunkTableHeaderBytes +
         chunks * kChunkRowBytes + file.data.size();
}

Result<EncodedRecord> EncodeRecord(const Sample& sample, const EncodeOptions& options) {
  return Encode(sample, std::nullopt, options);
}

Result<EncodedRecord> EncodePart(const Sample& sample, PartNumber part,
                                 const EncodeOptions& options) {
  return Encode(sample, part, options);
}

File DictionaryFile(const ZstdDictionary& dictionary) {
  return {.name = fmt::format(".zstd-dictionary-{}", dictionary.id()),
          .content_type = std::string(kDictionaryType),
          .data = dictionary.bytes(),
          .compression = Compression::kNone,
          .is_aux = true};
}

Result<EncodedRecord> SummarizeBlock(Bytes block, Check check) {
  DOLIUM_TRY(const Record record, Record::Parse(block, check));
  if (record.damage()) return *record.damage();
  EncodedRecord out{.key = std::string(record.key()), .size = block.size()};
  DOLIUM_TRY(out.part, ParsePart(record.header()));
  uint64_t at = record.header().first_entry_at;
  for (const EntryHeader& entry : record.entries()) {
    if (check == Check::kFull) {
      DOLIUM_TRY_VOID(CheckStored(entry, record.Stored(entry))
                          .Within(EntryContext(out.key, entry.name)));
    }
    out.entries.push_back({.name = std::string(entry.name),
                           .content_type = std::string(entry.content_type),
                           .header_at = at,
                           .end = entry.content_end(),
                           .raw_size = entry.raw_size,
                           .stored_size = entry.stored_size,
                           .is_plain = entry.codec == 0 && !entry.is_chunked(),
                           .is_aux = entry.is_aux(),
                           .dictionary_id = DictionaryIdOf(record, entry),
                           .segment = entry.segment});
    at = RoundUp(entry.content_end(), kEntryAlignment);
  }
  out.segments.push_back(std::move(block));
  return out;
}

}  // namespace dolium::shardpack
