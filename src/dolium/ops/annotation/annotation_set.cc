#include "dolium/ops/annotation/annotation_set.h"

#include <utility>

#include <fmt/format.h>

namespace dolium {

using annotation::AnnotationSource;
using annotation::AnnotationSummary;

namespace {

constexpr std::string_view kImportOperation = "annotations";

// What is there is annotations.
Result<void> CheckAnnotationsReplaceable(const Location& folder) {
  const auto source = AnnotationSource::Open(folder);
  if (source) return {};
  return Exists(fmt::format("{}: holds no annotations; move it away", folder.Describe()));
}

}  // namespace

Result<std::unique_ptr<FolderDraft>> AnnotationSetWriter::BeginFolder(
    const Location& target, bool replace) {
  return FolderDraft::Begin(target, replace, kImportOperation,
                            CheckAnnotationsReplaceable);
}

Result<std::unique_ptr<AnnotationSetWriter>> AnnotationSetWriter::Begin(
    std::unique_ptr<FolderDraft> draft, annotation::AnnotationSchema schema,
    const annotation::AnnotationWriteOptions& options) {
  std::unique_ptr<AnnotationSetWriter> set(new AnnotationSetWriter());
  set->draft_ = std::move(draft);
  DOLIUM_TRY(set->writer_, annotation::AnnotationWriter::Create(
                               set->draft_->folder(), std::move(schema), options));
  return set;
}

Result<AnnotationSummary> AnnotationSetWriter::Finish() {
  DOLIUM_TRY(const AnnotationSummary summary, writer_->Finish());
  writer_.reset();  // With what it spilled.
  DOLIUM_TRY_VOID(draft_->Finish());
  return summary;
}

}  // namespace dolium
