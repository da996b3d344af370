#include "dolium/domain/annotation/annotation_table.h"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/checked_math.h"

namespace dolium::annotation {
namespace {

constexpr size_t kFloatBytes = sizeof(float);
constexpr size_t kIdBytes = sizeof(uint64_t);

void AppendWord32(uint32_t word, ByteVector& bytes) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(word));
  StoreLE(&bytes[at], word);
}

void AppendWord64(uint64_t word, ByteVector& bytes) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(word));
  StoreLE(&bytes[at], word);
}

// Reads one record; its numbers go to `scratch`, where they are valid until the next.
Result<AnnotationView> ReadRecord(ByteReader& reader, const RecordLayout& layout,
                                  std::vector<float>& scratch) {
  uint64_t count = layout.geometry_size();
  if (count == 0) {
    DOLIUM_TRY(const uint32_t points, reader.Read<uint32_t>("count of points"));
    if (points == 0) return Corrupt("a polyline without points");
    count = uint64_t{points} * layout.rank();
  }
  DOLIUM_TRY(const BytesView geometry, reader.ReadBytes(count * kFloatBytes, "geometry"));
  DOLIUM_TRY(const BytesView properties,
             reader.ReadBytes(layout.property_bytes(), "properties"));
  scratch.resize(static_cast<size_t>(count));
  for (size_t i = 0; i < count; ++i) {
    scratch[i] = std::bit_cast<float>(LoadLE<uint32_t>(&geometry[i * kFloatBytes]));
    if (!std::isfinite(scratch[i])) {
      return Corrupt(fmt::format("geometry has {}, expected finite numbers", scratch[i]));
    }
  }
  return AnnotationView{0, scratch, properties};
}

Error TrailingBytes(const ByteReader& reader, std::string_view what) {
  return Corrupt(
      fmt::format("{} bytes after {}, expected none", reader.remaining(), what));
}

}  // namespace

std::span<const uint64_t> RelatedIds::Of(size_t annotation) const {
  const uint64_t begin = annotation == 0 ? 0 : ends[annotation - 1];
  return std::span(ids).subspan(static_cast<size_t>(begin),
                                static_cast<size_t>(ends[annotation] - begin));
}

AnnotationView AnnotationTable::operator[](size_t i) const {
  size_t begin = i * stride_;
  size_t count = stride_;
  if (stride_ == 0) {
    begin = i == 0 ? 0 : static_cast<size_t>(ends_[i - 1]);
    count = static_cast<size_t>(ends_[i]) - begin;
  }
  return {ids_[i], std::span(geometry_).subspan(begin, count),
          BytesView(properties_).subspan(i * property_bytes_, property_bytes_)};
}

void AnnotationTable::Append(const AnnotationView& annotation) {
  ids_.push_back(annotation.id);
  geometry_.insert(geometry_.end(), annotation.geometry.begin(),
                   annotation.geometry.end());
  if (stride_ == 0) ends_.push_back(geometry_.size());
  dolium::Append(properties_, annotation.properties);
}

void AnnotationTable::AppendFrom(const AnnotationTable& from, size_t index) {
  Append(from[index]);
  related_.resize(from.related_.size());
  for (size_t r = 0; r < related_.size(); ++r) {
    const auto ids = from.related_[r].Of(index);
    related_[r].ids.insert(related_[r].ids.end(), ids.begin(), ids.end());
    related_[r].ends.push_back(related_[r].ids.size());
  }
}

void AnnotationTable::Append(const AnnotationTable& other) {
  for (size_t i = 0; i < other.size(); ++i) AppendFrom(other, i);
}

Result<void> ParseList(BytesView bytes, const RecordLayout& layout,
                       AnnotationTable& table) {
  ByteReader reader(bytes);
  DOLIUM_TRY(const uint64_t count, reader.Read<uint64_t>("count of annotations"));
  const uint64_t least = layout.min_record_bytes() + kIdBytes;
  if (count > std::numeric_limits<uint32_t>::max() ||
      count > reader.remaining() / least) {
    return Corrupt(fmt::format("{} annotations of at least {} bytes each, {} remain",
                               count, least, reader.remaining()));
  }
  const BytesView ids = bytes.last(static_cast<size_t>(count) * kIdBytes);
  ByteReader records(bytes.subspan(reader.position(), reader.remaining() - ids.size()));
  std::vector<float> scratch;
  for (size_t i = 0; i < count; ++i) {
    auto annotation = ReadRecord(records, layout, scratch);
    if (!annotation) {
      return std::move(annotation)
          .error()
          .Within(fmt::format("annotation {} of {}", i, count));
    }
    annotation->id = LoadLE<uint64_t>(&ids[i * kIdBytes]);
    table.Append(*annotation);
  }
  if (records.remaining() > 0) {
    return TrailingBytes(records, fmt::format("{} records", count));
  }
  return {};
}

Result<void> ParseValue(BytesView bytes, uint64_t id, const RecordLayout& layout,
                        size_t relationships, AnnotationTable& table) {
  ByteReader reader(bytes);
  std::vector<float> scratch;
  DOLIUM_TRY(AnnotationView annotation, ReadRecord(reader, layout, scratch));
  annotation.id = id;
  std::vector<BytesView> related(relationships);
  for (BytesView& ids : related) {
    DOLIUM_TRY(const uint32_t count, reader.Read<uint32_t>("count of related ids"));
    DOLIUM_TRY(ids, reader.ReadBytes(uint64_t{count} * kIdBytes, "related ids"));
  }
  if (reader.remaining() > 0) return TrailingBytes(reader, "the related ids");
  table.Append(annotation);
  table.related().resize(relationships);
  for (size_t r = 0; r < relationships; ++r) {
    RelatedIds& to = table.related()[r];
    for (size_t at = 0; at < related[r].size(); at += kIdBytes) {
      to.ids.push_back(LoadLE<uint64_t>(&related[r][at]));
    }
    to.ends.push_back(to.ids.size());
  }
  return {};
}

Result<void> CheckAnnotation(const AnnotationView& annotation,
                             const RecordLayout& layout) {
  const size_t numbers = annotation.geometry.size();
  const bool is_polyline = layout.type() == AnnotationType::kPolyline;
  const bool fits = is_polyline ? numbers > 0 && numbers % layout.rank() == 0
                                : numbers == layout.geometry_size();
  if (!fits) {
    return InvalidArgument(
        fmt::format("annotation {}: {} coordinates, expected {}", annotation.id, numbers,
                    is_polyline ? fmt::format("a multiple of {}", layout.rank())
                                : std::to_string(layout.geometry_size())));
  }
  if (is_polyline && numbers / layout.rank() > std::numeric_limits<uint32_t>::max()) {
    return InvalidArgument(
        fmt::format("annotation {}: a polyline of more than 2^32 points", annotation.id));
  }
  if (annotation.properties.size() != layout.property_bytes()) {
    return InvalidArgument(
        fmt::format("annotation {}: {} bytes of properties, expected {}", annotation.id,
                    annotation.properties.size(), layout.property_bytes()));
  }
  for (size_t i = 0; i < numbers; ++i) {
    const float number = annotation.geometry[i];
    if (!std::isfinite(number)) {
      return InvalidArgument(
          fmt::format("annotation {}: coordinate {} is {}, expected a "
                      "finite number",
                      annotation.id, i, number));
    }
    if (layout.type() == AnnotationType::kEllipsoid && i >= layout.rank() && number < 0) {
      return InvalidArgument(
          fmt::format("annotation {}: a radius of {}", annotation.id, number));
    }
  }
  return {};
}

void AppendRecord(const AnnotationView& annotation, const RecordLayout& layout,
                  ByteVector& bytes) {
  if (layout.type() == AnnotationType::kPolyline) {
    AppendWord32(static_cast<uint32_t>(annotation.geometry.size() / layout.rank()),
                 bytes);
  }
  for (const float number : annotation.geometry) {
    AppendWord32(std::bit_cast<uint32_t>(number), bytes);
  }
  Append(bytes, annotation.properties);
}

void AppendRelated(std::span<const uint64_t> ids, ByteVector& bytes) {
  AppendWord32(static_cast<uint32_t>(ids.size()), bytes);
  for (const uint64_t id : ids) AppendWord64(id, bytes);
}

BytesView ListBuilder::Finish() {
  bytes_.clear();
  bytes_.reserve(kIdBytes + records_.size() + ids_.size() * kIdBytes);
  AppendWord64(ids_.size(), bytes_);
  Append(bytes_, records_);
  for (const uint64_t id : ids_) AppendWord64(id, bytes_);
  ids_.clear();
  records_.clear();
  return bytes_;
}

}  // namespace dolium::annotation
