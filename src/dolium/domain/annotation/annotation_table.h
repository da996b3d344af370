// AnnotationTable: many annotations side by side, and their bytes.
//
// A record is a geometry of float32, then properties, as RecordLayout says. The value of
// an id is a record and its related ids; a list (of a cell of the spatial index, or of
// what is related to an id) is a count, records, ids. All lengths must be exact: the
// client demands it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/annotation/annotation_info.h"

namespace dolium::annotation {

// One of them, to look at. `properties` are as stored, with the zeros behind them.
struct AnnotationView {
  uint64_t id = 0;
  std::span<const float> geometry;
  BytesView properties;
};

// The ids that annotations are related to, by one relationship.
struct RelatedIds {
  std::vector<uint64_t> ids;
  std::vector<uint64_t> ends;  // where those of each annotation end in `ids`

  std::span<const uint64_t> Of(size_t annotation) const;
};

class AnnotationTable {
 public:
  AnnotationTable() = default;
  explicit AnnotationTable(const RecordLayout& layout)
      : stride_(layout.geometry_size()), property_bytes_(layout.property_bytes()) {}

  size_t size() const { return ids_.size(); }
  bool empty() const { return ids_.empty(); }
  AnnotationView operator[](size_t i) const;

  const std::vector<uint64_t>& ids() const { return ids_; }
  // Of all, one after another; of polylines, ends() says where each ends.
  const std::vector<float>& geometry() const { return geometry_; }
  const std::vector<uint64_t>& ends() const { return ends_; }
  const ByteVector& properties() const { return properties_; }
  size_t property_bytes() const { return property_bytes_; }

  // Those of each relationship, where they were read: by id.
  const std::vector<RelatedIds>& related() const { return related_; }
  std::vector<RelatedIds>& related() { return related_; }

  // Precondition: of the layout that the table was made with.
  void Append(const AnnotationView& annotation);
  // The same with the related ids that `from` has of its annotation `index`.
  void AppendFrom(const AnnotationTable& from, size_t index);
  void Append(const AnnotationTable& other);

 private:
  size_t stride_ = 0;
  size_t property_bytes_ = 0;
  std::vector<uint64_t> ids_;
  std::vector<float> geometry_;
  std::vector<uint64_t> ends_;
  ByteVector properties_;
  std::vector<RelatedIds> related_;
};

// Reading appends to a table. kCorrupt if a length is not exact, a number of a position
// is not finite, or a polyline has no point; nothing is allocated before the counts fit.
Result<void> ParseList(BytesView bytes, const RecordLayout& layout,
                       AnnotationTable& table);
// `relationships` of them.
Result<void> ParseValue(BytesView bytes, uint64_t id, const RecordLayout& layout,
                        size_t relationships, AnnotationTable& table);

// kInvalidArgument if it is no annotation of the layout: another number of coordinates or
// bytes, one that is not finite, a radius below 0, more than 2^32 points.
Result<void> CheckAnnotation(const AnnotationView& annotation,
                             const RecordLayout& layout);

// Appends the record. Precondition: CheckAnnotation() holds.
void AppendRecord(const AnnotationView& annotation, const RecordLayout& layout,
                  ByteVector& bytes);
void AppendRelated(std::span<const uint64_t> ids, ByteVector& bytes);

// Makes a list of records that are bytes already. Used again and again.
class ListBuilder {
 public:
  void Add(uint64_t id, BytesView record) {
    ids_.push_back(id);
    dolium::Append(records_, record);
  }
  // The bytes of what was added, which is forgotten. Valid until the next call.
  BytesView Finish();

 private:
  std::vector<uint64_t> ids_;
  ByteVector records_;
  ByteVector bytes_;
};

}  // namespace dolium::annotation
