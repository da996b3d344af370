#include "dolium/formats/xet/xorb_container.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "dolium/formats/xet/format.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {

namespace {

Entry EntryOf(const std::shared_ptr<const XorbObject>& xorb, size_t chunk) {
  Entry entry;
  entry.key = std::to_string(chunk);
  entry.size = xorb->index.raw_size(chunk);
  entry.extents.push_back(ExtentOf(xorb, chunk, chunk + 1));
  return entry;
}

// How many chunks have which scheme: "lz4 12, none 3".
Result<std::string> SchemesOf(const Store& store, const XorbObject& xorb) {
  std::vector<ByteRange> headers;
  headers.reserve(xorb.index.size());
  for (size_t i = 0; i < xorb.index.size(); ++i) {
    headers.push_back({xorb.index.records(i, i + 1).offset, kChunkHeaderSize});
  }
  DOLIUM_TRY(const auto read,
             store.ReadRanges(xorb.object->name, headers,
                              {.if_generation = xorb.object->generation}));
  std::map<std::string_view, size_t> counts;
  for (const Bytes& bytes : read.parts) {
    DOLIUM_TRY(const ChunkHeader header, ParseChunkHeader(bytes));
    ++counts[SchemeName(header.scheme)];
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

}  // namespace

std::string_view XorbContainer::format_name() const { return kFormat.name; }

Result<std::shared_ptr<const XorbObject>> XorbContainer::Load() const {
  const std::scoped_lock lock(mutex_);
  if (!xorb_) {
    const auto name = XorbNameOf(location_.path);
    DOLIUM_TRY(XorbObject read, ReadXorbObject(location_, name ? &*name : nullptr));
    xorb_ = std::make_shared<const XorbObject>(std::move(read));
  }
  return xorb_;
}

Properties XorbContainer::properties() const {
  Properties properties = {{"kind", "xorb"}};
  const auto xorb = Load();
  if (!xorb) return properties;
  const XorbIndex& index = (*xorb)->index;
  properties.emplace_back("hash", ToString(index.hash));
  const auto& version = (*xorb)->footer_version;
  properties.emplace_back("footer",
                          version ? fmt::format("version {}", *version) : "none");
  properties.emplace_back("chunks", index.size());
  properties.emplace_back("raw_bytes", index.raw_offset(index.size()));
  properties.emplace_back("stored_bytes", index.record_ends.back());
  if (const auto schemes = SchemesOf(store(), **xorb)) {
    properties.emplace_back("compression", *schemes);
  }
  return properties;
}

Result<std::optional<Entry>> XorbContainer::Find(std::string_view key) const {
  DOLIUM_TRY(const auto xorb, Load());
  if (const auto hash = ParseHash(key)) {
    const auto& chunks = xorb->index.chunks;
    const auto found = std::ranges::find(chunks, *hash);
    if (found == chunks.end()) return std::nullopt;
    return EntryOf(xorb, static_cast<size_t>(found - chunks.begin()));
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  if (error != std::errc() || end != key.data() + key.size()) {
    return InvalidArgument(fmt::format(
        "\"{}\" is neither the number of a chunk nor a hash of 64 digits", key));
  }
  if (number >= xorb->index.size()) return std::nullopt;
  return EntryOf(xorb, static_cast<size_t>(number));
}

Result<std::vector<std::string>> XorbContainer::Objects() const {
  return std::vector<std::string>{location_.path};
}

Result<void> XorbContainer::ScanObject(std::string_view,
                                       const ScanVisitor& visitor) const {
  DOLIUM_TRY(const auto xorb, Load());
  for (size_t i = 0; i < xorb->index.size(); ++i) {
    if (!visitor.entry(EntryOf(xorb, i))) break;
  }
  return {};
}

Result<void> XorbContainer::CheckObject(std::string_view, const FindingVisitor&) const {
  DOLIUM_TRY_VOID(Load());
  return {};
}

}  // namespace dolium::xet
