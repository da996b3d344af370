// Source: what a location turned out to hold, and what can be done with it.
//
// Faces (command line, Python, servers) open a source and ask for what they need; they
// never ask for the name of a format. What a capability gives is typed: hot paths use it,
// and not the source. Const methods may be called from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/once.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/container/format.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/ops/stats.h"
#include "dolium/ops/verify.h"

namespace dolium {

namespace annotation {
class AnnotationSource;
}
namespace cas {
class CasStore;
}
namespace dataset {
class SampleSet;
}
namespace mesh {
class MeshSource;
}
namespace skeleton {
class SkeletonSource;
}
namespace volume {
class Volume;
}
struct SourceKind;

struct SourceOptions {
  std::string format = {};  // a name of the table; empty: recognised
  OpenOptions open = {};
  volume::DvidReadOptions exported = {};  // how a DVID export is read as a volume
};

// What a source is made of. Each opens alone, by its location.
struct SourcePart {
  std::string name;  // what the keys of its entries begin with
  std::string kind;  // "scale", "mesh", "skeletons", "segment_properties"
  Location location;
};

// Voxels of one entry, x fastest.
struct EntryVoxels {
  std::array<uint64_t, 3> size = {0, 0, 0};
  std::vector<uint64_t> values;
};

// What a DVID block has beside its voxels: its label lists, which go together by
// position.
struct EntryLabels {
  std::vector<uint64_t> labels;
  std::vector<uint64_t> supervoxels;
};

// What a copy is made of, and the format that it is written in.
struct CopySource {
  std::shared_ptr<const Container> entries;
  const Format* format = nullptr;
  // Entries are files that hold many chunks each, whose damage a copy does not see.
  bool is_unchecked = false;
  // What the format cannot hold: warnings.
  std::vector<Finding> left_out = {};
  // Text of an info that goes with the entries, which have none; mostly empty.
  std::string own_info = {};
};

class Source {
 public:
  // `entries` may be null: then they are opened when they are asked for.
  Source(const SourceKind& row, Formats formats, Location location, SourceOptions options,
         std::shared_ptr<Container> entries);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::string_view kind() const;  // "volume", "sharded set": for people
  const Location& location() const { return location_; }
  Formats formats() const { return formats_; }
  const SourceOptions& options() const { return options_; }

  // The capabilities: nullptr if it has none of that kind. They are opened when they are
  // first asked for, and stay as long as the source.
  Result<const Container*> entries() const;
  // The same for those who change them, also after the source has gone. What cannot be
  // changed by key, as a volume or a cas store, says so in Apply().
  Result<std::shared_ptr<Container>> MutableEntries() const;
  Result<const volume::Volume*> volume() const;
  Result<const dataset::SampleSet*> samples() const;
  Result<const cas::CasStore*> versions() const;
  // Its own, or those that the info of a volume names.
  Result<const mesh::MeshSource*> meshes() const;
  Result<const skeleton::SkeletonSource*> skeletons() const;
  Result<const annotation::AnnotationSource*> annotations() const;

  Result<std::vector<SourcePart>> parts() const;

  // What a conversion of all that is here into a format takes; an empty name means the
  // kind's own. kUnsupported, with the name of it, if something would be left out; a
  // caller that names a format (SourceOptions::format) wants what that one shows.
  Result<CopySource> OpenForCopy(std::string_view format) const;

  // The voxel target (ops/write_voxels.h) that a copy of the same kind is; empty: none.
  std::string_view own_voxel_target() const;

  // Checks everything that there is to check: see Verify().
  Result<VerifyReport> Check(const VerifyOptions& options,
                             const FindingVisitor& visitor) const;
  // Counts and sizes, and what only this kind has.
  Result<StatsReport> CountSizes(const StatsOptions& options) const;
  Result<Properties> Statistics(std::stop_token stop) const;
  // About how many entries there are: what a sample of them is taken from.
  Result<uint64_t> CountEntries(const StatsOptions& options) const;

  // Whether its writing has ended.
  Result<bool> IsFinished() const;
  // Objects that hold the index; nullopt where counting them would mean probing.
  Result<std::optional<uint64_t>> CountObjects() const;

  // The voxels of an entry, of labels or supervoxels; nullopt if entries of this kind
  // have none by themselves. kNotFound if there is no such key.
  Result<std::optional<EntryVoxels>> DecodeEntry(std::string_view key,
                                                 std::string_view labels) const;
  // The label lists of an entry; nullopt if entries of this kind have none. Errors as
  // above.
  Result<std::optional<EntryLabels>> LabelsOf(std::string_view key) const;

 private:
  const SourceKind& row_;
  const Formats formats_;
  const Location location_;
  const SourceOptions options_;
  Once<std::shared_ptr<Container>> entries_;
  Once<std::shared_ptr<const volume::Volume>> volume_;
  Once<std::shared_ptr<const dataset::SampleSet>> samples_;
  Once<std::shared_ptr<const cas::CasStore>> versions_;
  Once<std::shared_ptr<const mesh::MeshSource>> meshes_;
  Once<std::shared_ptr<const skeleton::SkeletonSource>> skeletons_;
  Once<std::shared_ptr<const annotation::AnnotationSource>> annotations_;
};

// Recognises what is at `location` and opens it. kNotFound if there is nothing.
Result<std::unique_ptr<Source>> OpenSource(Formats formats, const Location& location,
                                           const SourceOptions& options = {});

}  // namespace dolium
