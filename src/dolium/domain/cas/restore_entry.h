// What a restore makes besides the contents of files: folders, links, pipes, devices, and
// what entries have of modes, times, owners and extended attributes.
//
// All functions take the folder that is restored to as a descriptor, and paths that come
// from a manifest: none follows a link below that folder. Errors do not name the path.
#pragma once

#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/unique_fd.h"
#include "dolium/domain/cas/manifest.h"
#include "dolium/domain/cas/restore.h"

namespace dolium::cas {

// Opens the folder of `path` below `root`.
Result<UniqueFd> OpenParent(int root, std::string_view path);
std::string LastPart(std::string_view path);

// What keeps a file or link from its name, if anything does. Files and links are replaced
// on request, all else never.
Result<void> CheckFree(int folder, const std::string& name, bool force);

// Sets what an entry has, on what is open as `fd`, by O_PATH if need be: owner, extended
// attributes, mode and time. What may not be set is reported as lost, and is an error if
// nobody listens; without its owner, nothing is left to run as that.
Result<void> SetAttributes(int fd, const ManifestEntry& entry, const std::string& label,
                           const GetOptions& options);

// Makes a folder, writable for us while it is filled, or finds it there. A link in its
// place is not followed, but replaced on request.
Result<void> MakeFolderBelow(int root, const ManifestEntry& entry, bool force);
Result<void> SetFolder(int root, const ManifestEntry& entry, const std::string& label,
                       const GetOptions& options);

Result<void> MakeLink(int root, const ManifestEntry& entry, const std::string& label,
                      const GetOptions& options);

// A pipe or a device. One that is there already stays.
Result<void> MakeSpecial(int root, const ManifestEntry& entry, const std::string& label,
                         const GetOptions& options);

// Gives the file `first` a second name. kUnsupported where that cannot be; then it has to
// be a file of its own.
Result<void> MakeHardLink(int root, const std::string& first, const ManifestEntry& entry,
                          bool force);

}  // namespace dolium::cas
