// A folder of annotations as a container: the entries of its indexes, with keys
// `by_id/ID`, `RELATIONSHIP/ID` and `LEVEL/CELL`; and its check.
#pragma once

#include <memory>
#include <vector>

#include "dolium/container/format.h"
#include "dolium/domain/annotation/annotation_source.h"
#include "dolium/ops/source/part_container.h"
#include "dolium/ops/verify.h"

namespace dolium {

std::vector<SourcePart> PartsOf(const annotation::AnnotationSource& annotations);

class AnnotationEntries final : public PartContainer {
 public:
  AnnotationEntries(Formats formats,
                    std::shared_ptr<const annotation::AnnotationSource> annotations,
                    OpenOptions options);

  const Location& location() const override { return annotations_->folder(); }
  std::string_view format_name() const override;
  Properties properties() const override;

 private:
  Result<std::shared_ptr<const Container>> Load(const SourcePart& part) const override;

  const Formats formats_;
  const std::shared_ptr<const annotation::AnnotationSource> annotations_;
  const OpenOptions options_;
};

// Checks the shards of all indexes as Verify() does, then, unless that is to be quick,
// every value and list: exact lengths, finite numbers, enum values, zeros between the
// properties; that an annotation is in one level, in no list twice, and by its id; that
// lists of relationships are what the values say. Warnings: what lies outside of the
// bounds or of its cell, and other enum values than the info has. A sample is not taken.
Result<VerifyReport> VerifyAnnotations(const annotation::AnnotationSource& annotations,
                                       const Container& entries,
                                       const VerifyOptions& options,
                                       const FindingVisitor& visitor);

}  // namespace dolium
