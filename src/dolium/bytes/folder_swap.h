// Whole folders of the local file system: moving them into place and removing them.
//
// Paths are absolute or relative to the working directory, without a trailing slash. All
// changes are durable when the functions return. Errors name the paths.
#pragma once

#include <string>

#include "dolium/base/result.h"

namespace dolium {

// Whether there is a folder at `path`; a link is not one.
Result<bool> FolderExists(const std::string& path);

// Gives each of two folders the name of the other, at once: at every moment both names
// are there. kUnsupported where the file system cannot.
Result<void> ExchangeFolders(const std::string& a, const std::string& b);

// Gives a folder a new name. kExists if there is something of that name already, save an
// empty folder, which is replaced.
Result<void> RenameFolder(const std::string& from, const std::string& to);

// Removes a folder with all that is in it; links in it are removed, not followed. One
// that is not there is fine. Killed half way, it leaves a part of the contents.
Result<void> RemoveFolder(const std::string& path);

}  // namespace dolium
