#include "dolium/ops/objects/verify_objects.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/domain/mesh/draco.h"
#include "dolium/domain/mesh/legacy_mesh.h"
#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/objects/object_storage.h"
#include "dolium/domain/skeleton/skeleton_source.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium {
namespace {

constexpr std::string_view kManifestEnding = ".index";
// Of the positions of a vertex, in steps of its cell, for rounding.
constexpr double kMiddleTolerance = 1;

void AddError(DataCheck& check, std::string kind, Error error) {
  check.findings.push_back({Severity::kError, std::move(kind), std::move(error)});
}

void AddWarning(DataCheck& check, std::string kind, std::string message) {
  check.findings.push_back(
      {Severity::kWarning, std::move(kind), Corrupt(std::move(message))});
}

// The uint64 and the suffix that a file's name is made of, whatever is around the file.
struct ObjectName {
  uint64_t id = 0;
  std::string_view suffix;
};
std::optional<ObjectName> ParseName(std::string_view name) {
  name.remove_suffix(volume::FormOf(name).suffix.size());
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const auto id = neuroglancer::ParseKey(name.substr(0, digits));
  if (!id) return std::nullopt;
  return ObjectName{*id, name.substr(digits)};
}

void CheckLabel(uint64_t id, DataCheck& check) {
  if (id == 0) AddWarning(check, "label", "0 is no label: clients never ask for it");
}

// Whether a triangle has corners on both sides of the middle of its cell.
bool CrossesMiddle(const mesh::QuantizedMesh& fragment, const mesh::Triangle& triangle,
                   double middle) {
  for (size_t d = 0; d < 3; ++d) {
    bool below = false;
    bool above = false;
    for (const uint32_t corner : triangle) {
      const double at = fragment.vertices[corner][d];
      below = below || at < middle - kMiddleTolerance;
      above = above || at > middle + kMiddleTolerance;
    }
    if (below && above) return true;
  }
  return false;
}

class MeshChecker {
 public:
  MeshChecker(const mesh::MeshSource& source, const VerifyOptions& options)
      : source_(source), options_(options), is_sharded_(source.storage().is_sharded()) {}

  // Of files: which manifests there are.
  Result<void> ListManifests() {
    if (is_sharded_ || source_.kind() == mesh::MeshKind::kLegacy) return {};
    DOLIUM_TRY(manifests_, source_.ListIds(options_.stop));
    return {};
  }

  // Fragments are read with the manifest beside them.
  bool IsReadWithOthers(const Entry& entry) const {
    const auto name = is_sharded_ ? std::nullopt : ParseName(entry.key);
    return name && name->suffix.empty() &&
           std::ranges::binary_search(manifests_, name->id);
  }

  // Whether the fragments of a manifest in a file are there, without reading them.
  Result<void> CheckThere(const Entry& entry) const {
    const auto name = is_sharded_ ? std::nullopt : ParseName(entry.key);
    if (source_.info() == nullptr || !name || name->suffix != kManifestEnding) return {};
    const Location object = folder().Child(std::to_string(name->id));
    DOLIUM_TRY(const auto found, object.store->Stat(object.path));
    if (found) return {};
    DOLIUM_TRY(const auto manifest, source_.GetManifest(name->id));
    if (!manifest || manifest->fragment_bytes() == 0) return {};
    return MissingFragments(name->id, *manifest);
  }

  DataCheck Check(const Entry& entry, const EntryData& data) const {
    DataCheck check;
    const auto name = ParseName(entry.key);
    if (!name) return check;
    if (is_sharded_) {
      CheckLabel(name->id, check);
      CheckMultires(data.value, data.preceding, check);
      return check;
    }
    auto value = objects::UnwrapFile(entry.key, data.value, options_.limits.decoded);
    if (!value) {
      AddError(check, "decode", std::move(value).error());
      return check;
    }
    if (source_.kind() == mesh::MeshKind::kLegacy) {
      CheckLegacy(*name, *value, check);
    } else if (name->suffix == kManifestEnding) {
      CheckLabel(name->id, check);
      CheckFiles(name->id, *value, check);
    } else if (name->suffix.empty()) {
      AddWarning(
          check, "orphan",
          fmt::format("fragments without a manifest {}{}", name->id, kManifestEnding));
    }
    return check;
  }

 private:
  static Error MissingFragments(uint64_t id, const mesh::Manifest& manifest) {
    return Corrupt(fmt::format("the fragments are missing: no file {}, of {} bytes", id,
                               manifest.fragment_bytes()));
  }

  const Location& folder() const { return source_.storage().folder(); }

  void CheckFiles(uint64_t id, BytesView manifest, DataCheck& check) const {
    const Location object = folder().Child(std::to_string(id));
    auto fragments = object.store->ReadWhole(object.path, options_.limits.stored);
    if (fragments) {
      ++check.entries_read;
      check.bytes_read += fragments->bytes.size();
      CheckMultires(manifest, fragments->bytes, check);
      return;
    }
    if (fragments.error().code != ErrorCode::kNotFound) {
      AddError(check, "read", std::move(fragments).error());
      return;
    }
    const auto parsed = mesh::ParseManifest(manifest);
    if (parsed && parsed->fragment_bytes() > 0) {
      AddError(check, "missing", MissingFragments(id, *parsed));
      return;
    }
    CheckMultires(manifest, {}, check);
  }

  void CheckMultires(BytesView bytes, BytesView fragments, DataCheck& check) const {
    const auto manifest = mesh::ParseManifest(bytes);
    if (!manifest) {
      AddError(check, "manifest", manifest.error());
      return;
    }
    for (std::string& sentence : mesh::CheckManifest(*manifest, fragments.size())) {
      AddError(check, "manifest", Corrupt(std::move(sentence)));
    }
    const uint64_t listed = manifest->fragment_bytes();
    if (listed > fragments.size()) return;  // That is one of the sentences.
    // Of a shard, the last of what precedes the manifest.
    BytesView rest = fragments.last(static_cast<size_t>(listed));
    for (size_t level = 0; level < manifest->levels.size(); ++level) {
      const auto& entries = manifest->levels[level].fragments;
      for (size_t i = 0; i < entries.size(); ++i) {
        CheckFragment(level, i, rest.first(entries[i].size), check);
        rest = rest.subspan(entries[i].size);
      }
    }
  }

  void CheckFragment(size_t level, size_t number, BytesView bytes,
                     DataCheck& check) const {
    const unsigned bits = source_.info()->vertex_quantization_bits;
    const auto context = [&] {
      return fmt::format("level {}, fragment {}", level, number);
    };
    auto fragment = mesh::DecodeFragment(bytes, bits);
    if (!fragment) {
      AddError(check, "fragment", std::move(fragment).error().Within(context()));
      return;
    }
    if (options_.depth != CheckDepth::kDeep || level == 0) return;
    const double middle = static_cast<double>((1U << bits) - 1) / 2;
    const auto crossing =
        std::ranges::count_if(fragment->triangles, [&](const mesh::Triangle& triangle) {
          return CrossesMiddle(*fragment, triangle, middle);
        });
    if (crossing == 0) return;
    AddWarning(
        check, "cut",
        fmt::format("{}: {} of {} triangles are not cut at the middle of the cell, "
                    "so that clients show gaps where levels meet",
                    context(), crossing, fragment->triangles.size()));
  }

  void CheckLegacy(const ObjectName& name, BytesView value, DataCheck& check) const {
    if (name.suffix == mesh::kLegacySuffix) {
      CheckLabel(name.id, check);
      CheckLegacyManifest(AsText(value), check);
    } else if (name.suffix.starts_with(':')) {
      CheckLegacyFragment({}, value, check);
    }
  }

  void CheckLegacyManifest(std::string_view text, DataCheck& check) const {
    const auto fragments = mesh::ParseLegacyManifest(text);
    if (!fragments) {
      AddError(check, "manifest", fragments.error());
      return;
    }
    for (const std::string& fragment : *fragments) {
      const auto own = ParseName(fragment);
      // Those are entries, and read as such.
      if (own && own->suffix.starts_with(':') && Exists(fragment)) continue;
      auto bytes =
          mesh::ReadLegacyFragmentFile(folder(), fragment, options_.limits.decoded);
      if (!bytes) {
        const bool is_missing = bytes.error().code == ErrorCode::kCorrupt;
        AddError(check, is_missing ? "missing" : "read", std::move(bytes).error());
        continue;
      }
      check.bytes_read += bytes->size();
      CheckLegacyFragment(fragment, *bytes, check);
    }
  }

  bool Exists(const std::string& fragment) const {
    return std::ranges::any_of(volume::kChunkForms, [&](const volume::ChunkForm& form) {
      const Location at = folder().Child(fragment + std::string(form.suffix));
      const auto found = at.store->Stat(at.path);
      return found && *found;
    });
  }

  static void CheckLegacyFragment(const std::string& name, BytesView bytes,
                                  DataCheck& check) {
    auto fragment = mesh::ParseLegacyFragment(bytes);
    if (!fragment) {
      Error error = std::move(fragment).error();
      AddError(check, "fragment", name.empty() ? error : std::move(error).Within(name));
    } else if (mesh::IsDraco(bytes)) {
      AddWarning(check, "encoding",
                 "a legacy fragment of Draco, which clients cannot show");
    }
  }

  const mesh::MeshSource& source_;
  const VerifyOptions& options_;
  const bool is_sharded_;
  std::vector<uint64_t> manifests_;
};

// A report that begins with an info that cannot be read.
void ReportInfo(const Container& entries, const Error& error,
                const FindingVisitor& visitor, VerifyReport& report) {
  CountError(report, error.code);
  if (visitor) {
    visitor(
        ErrorFinding("info", entries.folder().Child("info").Describe(), {}, {}, error));
  }
}

}  // namespace

Result<VerifyReport> VerifyMeshes(const Container& entries, const VerifyOptions& options,
                                  const FindingVisitor& visitor) {
  const auto source = mesh::MeshSource::Open(entries.folder());
  if (!source) {
    DOLIUM_TRY(VerifyReport report, Verify(entries, options, visitor));
    ReportInfo(entries, source.error(), visitor, report);
    return report;
  }
  MeshChecker checker(*source, options);
  DOLIUM_TRY_VOID(checker.ListManifests());
  VerifyOptions further = options;
  further.check_data = [&](const Entry& entry, const EntryData& data) {
    return checker.Check(entry, data);
  };
  if (options.depth == CheckDepth::kQuick) {
    further.check_entry = [&](const Entry& entry) { return checker.CheckThere(entry); };
  }
  further.is_read_with_others = [&](const Entry& entry) {
    return checker.IsReadWithOthers(entry);
  };
  return Verify(entries, further, visitor);
}

Result<VerifyReport> VerifySkeletons(const Container& entries,
                                     const VerifyOptions& options,
                                     const FindingVisitor& visitor) {
  const auto source = skeleton::SkeletonSource::Open(entries.folder());
  if (!source) {
    DOLIUM_TRY(VerifyReport report, Verify(entries, options, visitor));
    ReportInfo(entries, source.error(), visitor, report);
    return report;
  }
  const bool is_sharded = source->storage().is_sharded();
  VerifyOptions further = options;
  further.check_data = [&](const Entry& entry, const EntryData& data) {
    DataCheck check;
    const auto name = ParseName(entry.key);
    if (!name || !name->suffix.empty()) return check;
    CheckLabel(name->id, check);
    auto value = is_sharded
                     ? Result<Bytes>(data.value)
                     : objects::UnwrapFile(entry.key, data.value, options.limits.decoded);
    if (!value) {
      AddError(check, "decode", std::move(value).error());
      return check;
    }
    auto parsed = skeleton::ParseSkeleton(*value, source->info());
    if (!parsed) {
      AddError(check, "skeleton", std::move(parsed).error());
    } else if (parsed->trailing_bytes > 0) {
      AddWarning(check, "skeleton",
                 fmt::format("{} bytes follow the last attribute of the info",
                             parsed->trailing_bytes));
    }
    return check;
  };
  DOLIUM_TRY(VerifyReport report, Verify(entries, further, visitor));
  if (!skeleton::IsShownByClients(source->info())) {
    ++report.warnings;
    if (visitor) {
      visitor({.severity = Severity::kWarning,
               .kind = "attributes",
               .object = entries.folder().Child("info").Describe(),
               .key = {},
               .range = std::nullopt,
               .message = "has an attribute that is not of float32, or of more than four "
                          "components: clients cannot show these skeletons"});
    }
  }
  return report;
}

}  // namespace dolium
