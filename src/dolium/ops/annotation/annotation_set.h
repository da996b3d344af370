// Folders of annotations as faces make them, whole and at once: from what a program has,
// or from CSV; and as CSV again.
//
// A CSV file has a row for each annotation. Columns are `id` (else the number of the
// row), coordinates, properties and relationships:
//
//   point      x, y, z                    the names of the dimensions
//   line, box  x1, y1, z1, x2, y2, z2     of the two ends, or corners
//   ellipsoid  x, y, z, rx, ry, rz        centre and radii
//   polyline   points                     `x y z;x y z;...`
//
// A property is named `name` or `name:type`, and is of float32 where nothing says another
// type; colours are `#rrggbb`. A relationship has ids with spaces between them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/annotation/annotation_source.h"
#include "dolium/domain/annotation/annotation_writer.h"
#include "dolium/ops/folder_draft.h"

namespace dolium {

// A new folder of annotations, which appears when it is complete. One thread at a time.
class AnnotationSetWriter {
 public:
  // `target` is a local folder. kExists if it holds something, unless those are
  // annotations that may be replaced.
  static Result<std::unique_ptr<FolderDraft>> BeginFolder(const Location& target,
                                                          bool replace);
  static Result<std::unique_ptr<AnnotationSetWriter>> Begin(
      std::unique_ptr<FolderDraft> draft, annotation::AnnotationSchema schema,
      const annotation::AnnotationWriteOptions& options);

  annotation::AnnotationWriter& writer() { return *writer_; }
  Result<annotation::AnnotationSummary> Finish();

 private:
  AnnotationSetWriter() = default;

  std::unique_ptr<FolderDraft> draft_;
  std::unique_ptr<annotation::AnnotationWriter> writer_;
};

struct AnnotationImport {
  Location csv;
  Location target;
  bool replace = false;
  // Its properties come from the header, but for those that it lists; its relationships
  // are columns.
  annotation::AnnotationSchema schema;
  annotation::AnnotationWriteOptions options;
};

Result<annotation::AnnotationSummary> ImportAnnotations(const AnnotationImport& request);

// The names of the columns of coordinates.
std::vector<std::string> CoordinateColumns(
    annotation::AnnotationType type,
    const std::vector<annotation::Dimension>& dimensions);

// The header, and a row of a table, each with a line break. Relationships are there where
// the table has them.
std::string CsvHeader(const annotation::AnnotationInfo& info, bool with_relationships);
void AppendCsvRow(const annotation::AnnotationInfo& info,
                  const annotation::RecordLayout& layout,
                  const annotation::AnnotationTable& table, size_t row,
                  std::string& line);

// All annotations as CSV, in the order of their ids, in segments.
using TextSink = std::function<Result<void>(std::string_view text)>;
Result<uint64_t> ExportAnnotations(const annotation::AnnotationSource& source,
                                   size_t jobs, const std::stop_token& stop,
                                   const TextSink& sink);

}  // namespace dolium
