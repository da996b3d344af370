#include "dolium/ops/annotation/annotation_rows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/formats/files/files_container.h"
#include "dolium/ops/annotation/annotation_entries.h"
#include "dolium/ops/properties/segment_tables.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium {
namespace {

constexpr std::string_view kPropertiesFormat = "segment_properties";
constexpr int kSaysItsType = 100;
constexpr uint64_t kMaxTypedInfo = uint64_t{1} << 32;

// Whether the info of a folder says that it is of that type.
int ProbeType(const Location& location, std::string_view type) {
  const Location info = location.Child("info");
  const auto whole = info.store->ReadWhole(info.path, kMaxTypedInfo);
  if (!whole) return 0;
  const auto json = ParseJson(AsText(whole->bytes));
  if (!json || !json->is_object()) return 0;
  return json->value("@type", nlohmann::json()) == type ? kSaysItsType : 0;
}

// A folder of files, of which the info is one.
class PropertyFiles : public files::FilesContainer {
 public:
  using FilesContainer::FilesContainer;
  std::string_view format_name() const override { return kPropertiesFormat; }
};

}  // namespace

Result<int> ProbeAnnotations(const Location& location) {
  return ProbeType(location, annotation::kAnnotationsType);
}

Result<std::shared_ptr<const annotation::AnnotationSource>> OpenAnnotationsOf(
    const Source& source) {
  if (!source.options().open.allow_unfinished) return OpenAnnotations(source.location());
  DOLIUM_TRY(auto opened, annotation::AnnotationSource::Open(source.location()));
  return std::make_shared<const annotation::AnnotationSource>(std::move(opened));
}

Result<std::shared_ptr<Container>> OpenAnnotationEntries(const Source& source) {
  DOLIUM_TRY(auto opened, OpenAnnotationsOf(source));
  return std::make_shared<AnnotationEntries>(source.formats(), std::move(opened),
                                             source.options().open);
}

Result<std::vector<SourcePart>> ListAnnotationParts(const Source& source) {
  DOLIUM_TRY(const annotation::AnnotationSource* const opened, source.annotations());
  return PartsOf(*opened);
}

Result<VerifyReport> CheckAnnotationSource(const Source& source,
                                           const VerifyOptions& options,
                                           const FindingVisitor& visitor) {
  DOLIUM_TRY(const annotation::AnnotationSource* const opened, source.annotations());
  DOLIUM_TRY(const Container* const entries, source.entries());
  return VerifyAnnotations(*opened, *entries, options, visitor);
}

Result<CopySource> RefuseAnnotationCopy(
    const Source& source,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): a row
    std::shared_ptr<const Container> /*entries*/, std::string_view /*format*/) {
  return Unsupported(fmt::format(
      "{}: annotations are written again from a table: export them and import that",
      source.location().Describe()));
}

Result<int> ProbeSegmentProperties(const Location& location) {
  return ProbeType(location, properties::kSegmentPropertiesType);
}

Result<std::shared_ptr<Container>> OpenPropertyFiles(const Source& source) {
  return std::make_shared<PropertyFiles>(source.location());
}

Result<VerifyReport> CheckPropertySource(const Source& source,
                                         const VerifyOptions& /*options*/,
                                         const FindingVisitor& visitor) {
  return VerifySegmentProperties(source.location(), visitor);
}

}  // namespace dolium
