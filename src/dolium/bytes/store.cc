#include "dolium/bytes/store.h"

#include <algorithm>

#include "dolium/bytes/slice_check.h"

namespace dolium {
namespace {

// Large enough that a request per segment costs little, on a network too.
constexpr uint64_t kCopySegment = uint64_t{4} << 20;

std::string_view DropTrailingSlashes(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

}  // namespace

Result<void> ObjectWriter::AppendFrom(const Store& source, std::string_view object,
                                      ByteRange range, const Generation& generation) {
  ReadOptions options;
  if (!generation.token.empty()) options.if_generation = generation;
  Buffer buffer(static_cast<size_t>(std::min(range.length, kCopySegment)));
  for (uint64_t done = 0; done < range.length;) {
    const uint64_t length = std::min(range.length - done, kCopySegment);
    const ReadSlice slice{range.offset + done,
                          buffer.view().first(static_cast<size_t>(length))};
    DOLIUM_TRY(const ObjectInfo info, source.ReadInto(object, {&slice, 1}, options));
    // Without a generation to hold on to, at least all segments come from one.
    if (!options.if_generation && !info.generation.token.empty()) {
      options.if_generation = info.generation;
    }
    DOLIUM_TRY_VOID(Append(slice.into));
    done += length;
  }
  return {};
}

Result<Suffix> Store::ReadSuffix(std::string_view object, uint64_t length) const {
  DOLIUM_TRY(const auto info, Stat(object));
  if (!info) return NoSuchObjectError(Describe(object));
  const uint64_t size = std::min(length, info->size);
  DOLIUM_TRY(Bytes bytes, ReadRange(object, {info->size - size, size},
                                    {.if_generation = info->generation}));
  return Suffix{*info, std::move(bytes)};
}

Result<std::shared_ptr<void>> Store::LockForRewrite(std::string_view, bool) {
  return std::shared_ptr<void>();
}

Result<std::optional<Store::LocalFile>> Store::OpenLocal(std::string_view) const {
  return std::nullopt;
}

Result<std::optional<std::string>> Store::LocalPath(std::string_view) const {
  return std::nullopt;
}

Result<ObjectInfo> Store::ReadThrough(std::string_view object,
                                      const Download& download) const {
  constexpr uint64_t kAtOnce = uint64_t{4} << 20;
  DOLIUM_TRY(const auto info, Stat(object));
  if (!info) return NoSuchObjectError(Describe(object));
  DOLIUM_TRY_VOID(download.begin(*info));
  for (uint64_t at = 0; at < info->size;) {
    const uint64_t size = std::min(kAtOnce, info->size - at);
    DOLIUM_TRY(const Bytes bytes,
               ReadRange(object, {at, size}, {.if_generation = info->generation}));
    DOLIUM_TRY_VOID(download.take(at, bytes));
    at += size;
  }
  return *info;
}

Result<std::optional<Bytes>> Store::Map(std::string_view, MapGuard) const {
  return std::nullopt;
}

Result<size_t> Store::RemoveStaleTemporaries(std::string_view) { return size_t{0}; }

Result<ReadRangesResult> Store::ReadRanges(std::string_view object,
                                           std::span<const ByteRange> ranges,
                                           const ReadOptions& options) const {
  // A buffer each: a part that is kept does not keep the others.
  std::vector<Buffer> buffers;
  std::vector<ReadSlice> slices;
  buffers.reserve(ranges.size());
  slices.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    buffers.emplace_back(static_cast<size_t>(range.length));
    slices.push_back({range.offset, buffers.back().view()});
  }
  DOLIUM_TRY(ObjectInfo info, ReadInto(object, slices, options));
  ReadRangesResult result{std::move(info), {}};
  result.parts.reserve(ranges.size());
  for (Buffer& buffer : buffers) result.parts.push_back(std::move(buffer).Share());
  return result;
}

Result<Bytes> Store::ReadRange(std::string_view object, ByteRange range,
                               const ReadOptions& options) const {
  Buffer buffer(static_cast<size_t>(range.length));
  const ReadSlice slice{range.offset, buffer.view()};
  DOLIUM_TRY([[maybe_unused]] const ObjectInfo info,
             ReadInto(object, {&slice, 1}, options));
  return std::move(buffer).Share();
}

Result<Generation> Store::Put(std::string_view object, BytesView bytes,
                              const Precondition& precondition) {
  DOLIUM_TRY(const std::unique_ptr<ObjectWriter> writer, Begin(object));
  DOLIUM_TRY_VOID(writer->Append(bytes));
  return writer->Commit(precondition);
}

std::string JoinPath(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  if (name.empty()) return std::string(folder);
  folder = DropTrailingSlashes(folder);
  while (!name.empty() && name.front() == '/') name.remove_prefix(1);
  std::string path(folder);
  if (path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string ParentPath(std::string_view path) {
  path = DropTrailingSlashes(path);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return std::string(DropTrailingSlashes(path.substr(0, std::max<size_t>(slash, 1))));
}

std::string_view BaseName(std::string_view path) {
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string NormalizePath(std::string_view path) {
  const bool absolute = path.starts_with('/');
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part == ".." && !kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (part != ".." || !absolute) {
      kept.push_back(part);
    }
  }
  std::string normal(absolute ? "/" : "");
  for (const std::string_view part : kept) {
    if (!normal.empty() && normal.back() != '/') normal += '/';
    normal += part;
  }
  return normal;
}

}  // namespace dolium
