// The folder that a set is to be written to: what is there already, and how a finished
// set takes its place.
//
// A set that replaces another is built beside it, in `<target>.dolium-new`, and swapped
// in when it is complete: by exchanging the two names or, where the file system cannot,
// by way of `<target>.dolium-old`. Either way no part of the old set is touched before,
// and a rerun can see from the folders how far a swap that was cut short had come.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/format.h"

namespace dolium {

// The location's text as every process knows it: an absolute path for local files, else
// `text`, which the location was parsed from.
Result<std::string> PortableText(const Location& location, std::string_view text);

// kInvalidArgument if the source is the target or lies in it.
Result<void> CheckDisjoint(const Location& source, const Location& target);
// kInvalidArgument if the target is the source or lies in it.
Result<void> CheckOutside(const Location& source, const Location& target);

enum class Occupancy : uint8_t { kAbsent, kEmpty, kOccupied };

// Whether a folder holds anything but dolium's bookkeeping. kExists if it is a file.
Result<Occupancy> InspectFolder(const Location& folder);

// The first name in `folder`, or in folders within it, that `is_ours` says no to (the
// name of a folder ends in a slash), and that is no bookkeeping; nullopt if there is
// none. What can be no object, as a pipe, a link to a folder, and a hidden folder are
// nobody's.
Result<std::optional<std::string>> FindForeign(
    const Location& folder, const std::function<bool(std::string_view)>& is_ours);

// kExists if the folder holds what is neither bookkeeping nor owned by the format:
// something that would be lost with it. An absent folder holds nothing.
Result<void> CheckReplaceable(const Location& folder, const Format& format);

// kExists if the folder of a job that makes files holds a folder that is no bookkeeping.
Result<void> CheckOnlyFiles(const Location& folder);

// The folders that take part in a swap, by absolute path.
struct SwapFolders {
  std::string target;
  std::string fresh;  // where the new set is built
  std::string aside;  // where the old one waits if there is no exchange

  // kUnsupported unless the target is a local folder. A link is followed: the folder that
  // it names is the one to be replaced.
  static Result<SwapFolders> Of(const Location& target);
  static SwapFolders Beside(const std::string& target);
};

// Puts `fresh` in the place of `target`, which may be gone. The old set is in `fresh` or
// `aside` then. `exchange` is false to do without that ability; `between` is called
// between the two renames that take its place.
Result<void> SwapIn(const SwapFolders& folders, bool exchange = true,
                    const std::function<void()>& between = {});

// The folder of a job that makes files, of which `target` is the first: beside them.
Location FolderBeside(const Location& target);
// The reverse, of locations: the file that such a folder is for; any other location as it
// is.
std::string TargetBeside(std::string_view folder);

// Visits the files below a local folder by their paths from it, those of one folder after
// another. They may be moved away meanwhile.
Result<void> VisitFiles(
    const std::string& folder,
    const std::function<Result<void>(const std::string& path)>& visit);

// Removes what SwapIn() left of the old set.
Result<void> RemoveReplaced(const SwapFolders& folders);

}  // namespace dolium
