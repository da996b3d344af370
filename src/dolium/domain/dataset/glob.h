// Patterns of file names, as shells have them.
#pragma once

#include <string_view>

namespace dolium::dataset {

// Whether `text` has a character with a meaning in patterns: `*`, `?` or `[`.
bool IsGlob(std::string_view text);

// Whether the pattern fits the whole of `name`, one component of a path. `*` is any text,
// `?` one character, `[a-z]` and `[!a-z]` one of a set; a backslash takes the meaning
// from what follows. Bytes are compared, `?` excepted, which is a whole UTF-8 character.
// A name that begins with a dot needs a pattern that does. No pattern makes it take
// forever.
bool GlobMatches(std::string_view pattern, std::string_view name);

}  // namespace dolium::dataset
