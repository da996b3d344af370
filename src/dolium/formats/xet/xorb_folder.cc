#include "dolium/formats/xet/xorb_folder.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "dolium/formats/xet/xorb_reader.h"
#include "dolium/formats/xet/xorb_stream.h"

namespace dolium::xet {

namespace {

constexpr size_t kHashText = 2 * Hash::kSize;
constexpr std::string_view kExtension = ".xorb";

// What is read of the end at first: the footers of most xorbs.
constexpr uint64_t kFirstSuffix = uint64_t{64} << 10;

// Names that xorbs have in folders: in our own stores, plain, in the stock client's local
// store; and the first two without what sets them apart.
constexpr size_t kWays = 5;
std::string NameBy(size_t way, const std::string& hash) {
  std::string extended = hash + std::string(kExtension);
  switch (way) {
    case 0:
      return JoinPath(hash.substr(0, 2), extended);
    case 1:
      return hash;
    case 2:
      return "default." + hash;
    case 3:
      return extended;
    default:
      return JoinPath(hash.substr(0, 2), hash);
  }
}

// The footer with the length behind it; nullopt if there is none.
Result<std::optional<Bytes>> ReadFooter(const Location& location, const Suffix& end) {
  const auto size = FooterBytesOf(end.bytes, end.info.size);
  if (!size || *size > XorbFooterBytes(kMaxXorbChunks)) return std::nullopt;
  Bytes footer;
  if (*size <= end.bytes.size()) {
    footer = end.bytes.Slice(end.bytes.size() - static_cast<size_t>(*size),
                             static_cast<size_t>(*size));
  } else {
    DOLIUM_TRY(footer,
               location.store->ReadRange(location.path, {end.info.size - *size, *size},
                                         {.if_generation = end.info.generation}));
  }
  if (!IsXorbFooter(footer)) return std::nullopt;
  return footer;
}

// From the footer alone; nullopt if that does not say all there is to know.
Result<std::optional<XorbObject>> ReadByFooter(const Location& location,
                                               const Suffix& end, const Hash* name) {
  DOLIUM_TRY(const auto footer, ReadFooter(location, end));
  if (!footer) return std::nullopt;
  auto index = ParseXorbFooter(*footer, end.info.size - footer->size());
  if (!index || index->raw_ends.empty()) return std::nullopt;
  const Hash expected = name != nullptr ? *name : index->hash;
  if (!CheckXorbHash(*index, expected) || index->hash != expected) return std::nullopt;
  return XorbObject{*std::move(index), nullptr, end.info.size, uint8_t{1}};
}

Result<XorbObject> ReadWholly(const Location& location, const Suffix& end,
                              const Hash* name) {
  DOLIUM_TRY(const WholeObject whole,
             location.store->ReadWhole(location.path, kMaxXorbObject));
  if (whole.generation != end.info.generation) {
    return Conflict(fmt::format("{}: changed while it was read", location.Describe()));
  }
  DOLIUM_TRY(XorbIndex index, VerifyXorb(whole.bytes, name).Within(location.Describe()));
  const uint64_t records = index.record_ends.back();
  std::optional<uint8_t> version;
  if (records < whole.bytes.size())
    version = std::to_integer<uint8_t>(whole.bytes.data()[records + 7]);
  return XorbObject{std::move(index), nullptr, whole.bytes.size(), version};
}

class RunDecoder final : public StepDecoder {
 public:
  RunDecoder(std::shared_ptr<const XorbObject> xorb, size_t first, size_t end,
             std::string_view what)
      : xorb_(std::move(xorb)), first_(first), end_(end), what_(what) {}

  Result<void> DecodeInto(BytesView stored, MutableBytes into) const override {
    ChunkDecompressor decompressor;
    auto read = ReadChunks(xorb_->index, first_, end_, stored, decompressor, into)
                    .Within("xorb " + ToString(xorb_->index.hash));
    return what_.empty() ? std::move(read) : std::move(read).Within(what_);
  }

 private:
  const std::shared_ptr<const XorbObject> xorb_;
  const size_t first_;
  const size_t end_;
  const std::string what_;
};

uint64_t MemoryOf(const XorbObject& xorb) {
  return sizeof(XorbObject) + xorb.index.size() * (Hash::kSize + 8);
}

}  // namespace

std::optional<Hash> XorbNameOf(std::string_view path) {
  std::string_view name = BaseName(path);
  if (name.ends_with(kExtension)) name.remove_suffix(kExtension.size());
  if (name.size() < kHashText) return std::nullopt;
  const std::string_view before = name.substr(0, name.size() - kHashText);
  if (!before.empty() && !before.ends_with('.')) return std::nullopt;
  auto hash = ParseHash(name.substr(before.size()));
  if (!hash) return std::nullopt;
  return *hash;
}

Result<XorbObject> ReadXorbObject(const Location& location, const Hash* name) {
  DOLIUM_TRY(const Suffix end, location.store->ReadSuffix(location.path, kFirstSuffix));
  DOLIUM_TRY(auto read, ReadByFooter(location, end, name));
  if (!read) {
    DOLIUM_TRY(read, ReadWholly(location, end, name));
  }
  read->object = std::make_shared<const ObjectVersion>(
      ObjectVersion{location.path, end.info.generation});
  return *std::move(read);
}

Extent ExtentOf(const std::shared_ptr<const XorbObject>& xorb, size_t first, size_t end,
                std::string_view what) {
  const XorbIndex& index = xorb->index;
  CodecStep step{CodecId::kXetChunks, index.raw_offset(end) - index.raw_offset(first)};
  step.decoder = std::make_shared<const RunDecoder>(xorb, first, end, what);
  return {xorb->object, index.records(first, end), {std::move(step)}};
}

XorbFolder::XorbFolder(std::vector<Location> folders, uint64_t cache_bytes)
    : folders_(std::move(folders)), cache_bytes_(cache_bytes) {}

Result<std::optional<Location>> XorbFolder::Locate(const Hash& hash) const {
  const std::string text = ToString(hash);
  const size_t ways = folders_.size() * kWays;
  size_t begin = 0;
  {
    const std::scoped_lock lock(mutex_);
    begin = last_way_;
  }
  for (size_t i = 0; i < ways; ++i) {
    const size_t way = (begin + i) % ways;
    Location location = folders_[way / kWays].Child(NameBy(way % kWays, text));
    DOLIUM_TRY(const auto info, location.store->Stat(location.path));
    if (!info) continue;
    const std::scoped_lock lock(mutex_);
    last_way_ = way;
    return location;
  }
  return std::nullopt;
}

Result<std::shared_ptr<const XorbObject>> XorbFolder::Find(const Hash& hash) const {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(hash); found != known_.end()) {
      return found->second;
    }
  }
  DOLIUM_TRY(const auto location, Locate(hash));
  if (!location) return std::shared_ptr<const XorbObject>();
  DOLIUM_TRY(XorbObject read, ReadXorbObject(*location, &hash));
  auto xorb = std::make_shared<const XorbObject>(std::move(read));
  const std::scoped_lock lock(mutex_);
  if (known_bytes_ + MemoryOf(*xorb) > cache_bytes_) {
    known_.clear();
    known_bytes_ = 0;
  }
  if (known_.emplace(hash, xorb).second) known_bytes_ += MemoryOf(*xorb);
  return xorb;
}

}  // namespace dolium::xet
