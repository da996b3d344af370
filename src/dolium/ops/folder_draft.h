// FolderDraft: a local folder that one process makes, and that appears whole.
//
// It is made beside its place, in `<target>.dolium-new`, under the marker of unfinished
// sets, and takes its place by an exchange of names. What a killed process left there is
// removed by the next one.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/ops/job/target_folder.h"

namespace dolium {

// One thread at a time. Destroyed without Finish(), it removes what was made.
class FolderDraft {
 public:
  // kExists if there is something at the target already: unless it may be replaced, which
  // `check_replaceable` then says, or while another process writes it. kUnsupported for
  // what is no local folder. `operation` is what the marker says.
  using Check = std::function<Result<void>(const Location& folder)>;
  static Result<std::unique_ptr<FolderDraft>> Begin(const Location& target, bool replace,
                                                    std::string_view operation,
                                                    const Check& check_replaceable);
  ~FolderDraft();
  FolderDraft(const FolderDraft&) = delete;
  FolderDraft& operator=(const FolderDraft&) = delete;

  // Where it is made.
  const Location& folder() const { return folder_; }

  // It takes its place.
  Result<void> Finish();

 private:
  FolderDraft(SwapFolders swap, Location folder)
      : swap_(std::move(swap)), folder_(std::move(folder)) {}

  SwapFolders swap_;
  Location folder_;
  std::shared_ptr<void> lock_;  // keeps other writers away
  bool is_open_ = false;        // begun, and not finished
};

}  // namespace dolium
