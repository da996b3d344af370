// The row of plain folders in the table of formats.
#pragma once

#include "dolium/container/format.h"

namespace dolium::files {

Result<int> Probe(const Location& location);
Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options);
Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options);
Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description);
bool OwnsObject(std::string_view name);

inline constexpr Format kFormat{
    .name = "files",
    .summary = "plain folder: one file per entry, named by its key",
    .probe = Probe,
    .open = Open,
    .create = Create,
    .reopen = Reopen,
    .owns_object = OwnsObject,
};

}  // namespace dolium::files
