#include "dolium/bytes/folder_check.h"

namespace dolium {

Result<void> CheckNoFolder(const Store& store, std::string_view object) {
  auto listed = store.List(object, [](std::string_view, bool) { return false; });
  if (listed) {
    return Corrupt(store.Describe(object) + ": a folder, where a file is expected");
  }
  const ErrorCode code = listed.error().code;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kUnsupported) return {};
  return listed;
}

}  // namespace dolium
