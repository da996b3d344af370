// Segment properties from CSV, as CSV, from the voxels of a volume; and where they go.
//
// A CSV file has a row for each segment and a column `id`. Other columns are `name` or
// `name:kind`; a kind is label, description, string, tags, number, or a type of numbers
// (uint32, float32, ...). Without one, columns of that name are label, description and
// tags, those of numbers are numbers of the smallest type of 32 bits, all others strings.
// Tags have spaces between them.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/progress.h"
#include "dolium/domain/properties/segment_properties.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/verify.h"

namespace dolium {

Result<properties::SegmentProperties> ReadPropertiesCsv(const Location& csv,
                                                        const std::stop_token& stop = {});
std::string WritePropertiesCsv(const properties::SegmentProperties& properties);

// The folder that a location names: of segment properties, or the one that the info of a
// volume there names. kNotFound if that names none.
Result<Location> FindPropertiesFolder(const Location& location);

// Writes them where `location` says: to the folder, or, where it is a volume, to the
// folder that its info names or else to `segment_properties` in it, which its info then
// names. kExists if there are some, unless they are to be replaced.
struct PropertiesTarget {
  Location folder;
  bool is_new_in_volume = false;  // the info names it since
};
Result<PropertiesTarget> PutSegmentProperties(
    const Location& location, const properties::SegmentProperties& properties,
    bool replace);

// The number of voxels of each label but 0, its bounding box and its centre, from one
// scale of a volume. Coordinates are those of scale 0; boxes are half-open. Memory grows
// with the number of labels alone.
struct MeasureOptions {
  size_t scale = 0;
  size_t jobs = 0;
  ProgressFunction progress = {};
  std::stop_token stop = {};
};
// kUnsupported for volumes that are no segmentation of integers.
Result<properties::SegmentProperties> MeasureSegments(const volume::Volume& volume,
                                                      const MeasureOptions& options);

// What ParseSegmentProperties() says, as a finding.
Result<VerifyReport> VerifySegmentProperties(const Location& folder,
                                             const FindingVisitor& visitor);

}  // namespace dolium
