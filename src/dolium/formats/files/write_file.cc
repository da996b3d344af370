#include "dolium/formats/files/write_file.h"

#include <memory>
#include <utility>

#include "dolium/formats/files/file_key.h"

namespace dolium::files {
namespace {

Result<void> RemoveIfThere(Store& store, std::string_view object) {
  auto removed = store.Remove(object, Precondition::None());
  if (!removed && removed.error().code == ErrorCode::kNotFound) return {};
  return removed;
}

// The preceding bytes go first: whoever sees a new value sees them too.
Result<WriteSummary> CommitEntry(const Location& folder, std::string_view key,
                                 ObjectWriter& value, BytesView preceding,
                                 const Precondition& precondition) {
  WriteSummary summary{1, value.size(), value.size() + preceding.size(), 1};
  const std::string preceding_path = JoinPath(folder.path, PrecedingName(key));
  if (preceding.empty()) {
    DOLIUM_TRY_VOID(RemoveIfThere(*folder.store, preceding_path));
  } else {
    DOLIUM_TRY([[maybe_unused]] const Generation generation,
               folder.store->Put(preceding_path, preceding, Precondition::None()));
    ++summary.objects;
  }
  DOLIUM_TRY([[maybe_unused]] const Generation generation, value.Commit(precondition));
  return summary;
}

}  // namespace

Result<WriteSummary> WriteFile(const Location& folder, std::string_view key,
                               BytesView value, BytesView preceding,
                               const Precondition& precondition) {
  DOLIUM_TRY(const auto writer, folder.store->Begin(JoinPath(folder.path, key)));
  DOLIUM_TRY_VOID(writer->Append(value));
  return CommitEntry(folder, key, *writer, preceding, precondition);
}

Result<WriteSummary> CopyFile(const Location& folder, const Store& source,
                              const Entry& entry, BytesView preceding,
                              const Precondition& precondition) {
  DOLIUM_TRY(const auto writer, folder.store->Begin(JoinPath(folder.path, entry.key)));
  for (const Extent& extent : entry.extents) {
    DOLIUM_TRY_VOID(writer->AppendFrom(source, extent.object->name, extent.range,
                                       extent.object->generation));
  }
  return CommitEntry(folder, entry.key, *writer, preceding, precondition);
}

Result<void> RemoveFile(const Location& folder, std::string_view key) {
  DOLIUM_TRY_VOID(folder.store->Remove(JoinPath(folder.path, key), Precondition::None()));
  return RemoveIfThere(*folder.store, JoinPath(folder.path, PrecedingName(key)));
}

}  // namespace dolium::files
