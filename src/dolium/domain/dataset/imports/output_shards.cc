#include "dolium/domain/dataset/imports/output_shards.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

namespace dolium::dataset {
namespace {

constexpr int kGzip = 15 + 16;  // The largest window; 16 asks for the gzip wrapper.
constexpr size_t kDigits = 6;
constexpr size_t kMostDigits = 18;

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// A member of gzip with time 0 in its header: equal input gives equal output.
class OutputShards::Gzip {
 public:
  Gzip() {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Result<void> Write(BytesView bytes, bool last, ObjectWriter& writer) {
    do {
      const size_t taken =
          std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      // zlib does not write to its input; only its type is old.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(taken);
      bytes = bytes.subspan(taken);
      const int flush = last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(encoded_.data());
        stream_.avail_out = static_cast<uInt>(encoded_.size());
        deflate(&stream_, flush);
        const size_t made = encoded_.size() - stream_.avail_out;
        DOLIUM_TRY_VOID(writer.Append(BytesView(encoded_).first(made)));
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
    return {};
  }

 private:
  z_stream stream_{};
  std::array<std::byte, 64 << 10> encoded_;
};

Precondition MayReplace(bool force) {
  return force ? Precondition::None() : Precondition::Absent();
}

Result<std::string> NumberedName(const std::string& first, uint64_t number) {
  const std::string_view base = BaseName(first);
  const size_t base_at = first.size() - base.size();
  const size_t stem_end = base_at + std::min(base.find('.'), base.size());
  size_t digits_at = stem_end;
  while (digits_at > base_at && IsDecimal(first[digits_at - 1])) --digits_at;
  const std::string_view digits =
      std::string_view(first).substr(digits_at, stem_end - digits_at);
  const std::string_view stem = std::string_view(first).substr(0, digits_at);
  const std::string_view rest = std::string_view(first).substr(stem_end);
  if (digits.empty()) return fmt::format("{}-{:0{}}{}", stem, number, kDigits, rest);
  if (digits.size() > kMostDigits) {
    return InvalidArgument(fmt::format(
        "{}: a number of {} digits is too long to count on", first, digits.size()));
  }
  uint64_t begin = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), begin);
  return fmt::format("{}{:0{}}{}", stem, begin + number, digits.size(), rest);
}

OutputShards::OutputShards(std::string path, const SampleExportOptions& options)
    : path_(std::move(path)),
      options_(options),
      numbered_(options.shard_bytes > 0 || options.shard_samples > 0),
      gzip_wanted_(options.gzip || path_.ends_with(".gz") || path_.ends_with(".tgz")),
      files_(options.files_before) {}

OutputShards::~OutputShards() = default;

Result<std::unique_ptr<OutputShards>> OutputShards::Create(
    const std::string& path, const SampleExportOptions& options) {
  std::unique_ptr<OutputShards> shards(new OutputShards(path, options));
  DOLIUM_TRY_VOID(shards->BeginFile());
  return shards;
}

Result<void> OutputShards::BeginFile() {
  std::string name = path_;
  if (numbered_) {
    DOLIUM_TRY(name, NumberedName(path_, files_));
  }
  DOLIUM_TRY(const Location location, ParseLocation(name));
  if (!options_.force) {  // Said before the work, and enforced after it.
    DOLIUM_TRY(const auto there, location.store->Stat(location.path));
    if (there) return Exists(location.Describe() + ": is there already");
  }
  DOLIUM_TRY(writer_, location.store->Begin(location.path));
  if (gzip_wanted_) gzip_ = std::make_unique<Gzip>();
  ++files_;
  bytes_ = 0;
  samples_ = 0;
  return {};
}

Result<void> OutputShards::EndFile(BytesView tail, bool is_last) {
  if (gzip_) {
    DOLIUM_TRY_VOID(gzip_->Write(tail, /*last=*/true, *writer_));
  } else {
    DOLIUM_TRY_VOID(writer_->Append(tail));
  }
  DOLIUM_TRY(const Generation generation, writer_->Commit(MayReplace(options_.force)));
  static_cast<void>(generation);
  writer_ = nullptr;
  gzip_ = nullptr;
  return options_.file_done ? options_.file_done(is_last) : Result<void>();
}

Result<void> OutputShards::BeginSample(uint64_t bytes, BytesView tail) {
  const bool full =
      samples_ > 0 &&
      ((options_.shard_samples > 0 && samples_ >= options_.shard_samples) ||
       (options_.shard_bytes > 0 && bytes_ + tail.size() + bytes > options_.shard_bytes));
  if (full) {
    DOLIUM_TRY_VOID(EndFile(tail, /*is_last=*/false));
    DOLIUM_TRY_VOID(BeginFile());
  }
  ++samples_;
  return {};
}

Result<void> OutputShards::Append(BytesView bytes) {
  bytes_ += bytes.size();
  if (gzip_) return gzip_->Write(bytes, /*last=*/false, *writer_);
  return writer_->Append(bytes);
}

Result<void> OutputShards::Finish(BytesView tail) {
  return EndFile(tail, /*is_last=*/true);
}

}  // namespace dolium::dataset
