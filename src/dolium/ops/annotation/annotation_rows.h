// The functions of the rows of annotations and of segment properties in the table of
// sources (source/kinds.cc).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/annotation/annotation_source.h"
#include "dolium/ops/source/source.h"

namespace dolium {

Result<int> ProbeAnnotations(const Location& location);
Result<std::shared_ptr<const annotation::AnnotationSource>> OpenAnnotationsOf(
    const Source& source);
Result<std::shared_ptr<Container>> OpenAnnotationEntries(const Source& source);
Result<std::vector<SourcePart>> ListAnnotationParts(const Source& source);
Result<VerifyReport> CheckAnnotationSource(const Source& source,
                                           const VerifyOptions& options,
                                           const FindingVisitor& visitor);
// kUnsupported: indexes are no entries to be copied one by one.
Result<CopySource> RefuseAnnotationCopy(const Source& source,
                                        std::shared_ptr<const Container> entries,
                                        std::string_view format);

Result<int> ProbeSegmentProperties(const Location& location);
Result<std::shared_ptr<Container>> OpenPropertyFiles(const Source& source);
Result<VerifyReport> CheckPropertySource(const Source& source,
                                         const VerifyOptions& options,
                                         const FindingVisitor& visitor);

}  // namespace dolium
