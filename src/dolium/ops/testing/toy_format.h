// ToyFormat: a format for tests of ops, small enough to be seen through.
//
// A set is a folder with an `info` (`toy <parts>`) and objects `<part>.toy`. A key is a
// number; its part is the key modulo the number of parts. An object is text, a line for
// each entry, `<key> <length>`, in order of key; then an empty line; then the values,
// joined.
//
// A line `?` is damage to the index: it stands for an entry that cannot be named. The
// number of parts comes from the spec (the text of a number), the parameter "parts", the
// set to take after, or is 4.
#pragma once

#include "dolium/container/format.h"

namespace dolium::toy {

Result<int> Probe(const Location& location);
Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options);
Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options);
Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description);
bool OwnsObject(std::string_view name);

inline constexpr Format kFormat{
    .name = "toy",
    .summary = "for tests",
    .probe = Probe,
    .open = Open,
    .create = Create,
    .reopen = Reopen,
    .owns_object = OwnsObject,
};

// What the last Create() was given to expect.
struct Expected {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  uint64_t largest = 0;
};
Expected LastExpected();

}  // namespace dolium::toy
