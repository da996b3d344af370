// Whole folders of the local file system: moving them into place and removing them.
//
// Paths are absolute or relative to the working directory, without a trailing slash. All
// changes are durable when the functions return. Errors name the paths.
#pragma once

#include <string>
#include <string_view>

#include "dolium/base/result.h"

namespace dolium {

// How the names of folders end in which a job makes what is to be put in place later.
inline constexpr std::string_view kFreshSuffix = ".dolium-new";

// Whether there is a folder at `path`; a link is not one.
Result<bool> FolderExists(const std::string& path);

// Gives each of two folders the name of the other, at once: at every moment both names
// are there. kUnsupported where the file system cannot.
Result<void> ExchangeFolders(const std::string& a, const std::string& b);

// Gives a folder a new name. kExists if there is something of that name already, save an
// empty folder, which is replaced.
Result<void> RenameFolder(const std::string& from, const std::string& to);

// Moves a file to another name on the same file system. kExists if something has the name
// and is not to be replaced, or is a folder. Durable only after SyncParents().
Result<void> MoveFile(const std::string& from, const std::string& to, bool replace);
// Makes the entries of the folders that two paths lie in durable.
Result<void> SyncParents(const std::string& a, const std::string& b);

// Removes a folder with all that is in it; links in it are removed, not followed. One
// that is not there is fine. Killed half way, it leaves a part of the contents.
Result<void> RemoveFolder(const std::string& path);

// Gives a folder that is to be removed a temporary name beside it, which is returned, so
// that its own name goes at once with all that is in it.
Result<std::string> HideFolder(const std::string& path);
// Removes what is left of folders that were hidden under `path` and not removed, and
// temporaries of a file of that name whose writers died.
Result<void> RemoveHidden(const std::string& path);

}  // namespace dolium
