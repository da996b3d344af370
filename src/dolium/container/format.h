// Format: one row of the table of formats (formats/builtin.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/container/writer.h"

namespace dolium {

struct OpenOptions {
  std::optional<std::string> spec;             // text of a file that describes the set
  bool allow_unfinished = false;               // read a set whose writing has not ended
  uint64_t cache_bytes = uint64_t{256} << 20;  // index blocks kept in memory
  // "xorbs", "coordinates", "salvage": the format's own. One that does not know them
  // passes them over.
  std::map<std::string, std::string> parameters = {};
};

struct CreateOptions {
  std::optional<std::string> spec;  // as in OpenOptions, for the new set
  std::map<std::string, std::string>
      parameters;  // "shard-size", "hash", ...: the format's own
  // What is to come, as far as known: formats choose their parameters by it.
  uint64_t expected_entries = 0;
  uint64_t expected_bytes = 0;
  uint64_t largest_entry = 0;
  const Container* like = nullptr;  // a set to take after, where `spec` is silent
  // Text of an info that the new set is to have the members of, where `like` has none.
  std::string own_info = {};
};

// What can be chosen of a new set: one of CreateOptions::parameters, as faces offer it.
struct Parameter {
  enum class Kind : uint8_t { kNumber, kSize, kChoice };
  std::string_view name;  // "shard-size"
  Kind kind;
  std::string_view value;         // as help shows it: "<size>"
  std::string_view help;          // defaults in []
  std::string_view choices = {};  // kChoice: separated by spaces
};

struct Format {
  std::string_view name;
  std::string_view summary;

  // How sure the format is that `location` holds it: 0 no, 100 certain. Cheap.
  Result<int> (*probe)(const Location& location);
  Result<std::unique_ptr<Container>> (*open)(const Location& location,
                                             const OpenOptions& options);
  Result<std::unique_ptr<Target>> (*create)(const Location& location,
                                            const CreateOptions& options);
  // A target from Target::Describe().
  Result<std::unique_ptr<Target>> (*reopen)(const Location& location,
                                            std::string_view description);
  // Whether an object of this base name can be part of a set: what a new set may replace.
  // A name that ends in a slash is that of a folder with objects.
  bool (*owns_object)(std::string_view name);
  // Whether OpenOptions::spec means something to it. If one is given, it must be this
  // format.
  bool takes_spec = false;
  // All that CreateOptions::parameters may hold.
  std::span<const Parameter> parameters = {};
  // Endings of names that are its own. If the probe of an object that is called so gives
  // kUnmistakable, no other format is asked.
  std::span<const std::string_view> endings = {};
};

// The score of what nothing else looks like: the bytes say it.
inline constexpr int kUnmistakable = 80;

using Formats = std::span<const Format>;

// The format of that name; kInvalidArgument names the ones there are.
Result<const Format*> FindFormat(Formats formats, std::string_view name);

// The format that owns the ending of the name, if what is there looks like it
// unmistakably; else nullptr. Asks nobody else.
const Format* FindByEnding(Formats formats, const Location& location);

// Opens `location` as format `name`, or as the format that matches it best.
Result<std::unique_ptr<Container>> OpenContainer(Formats formats,
                                                 const Location& location,
                                                 std::string_view name,
                                                 const OpenOptions& options);

}  // namespace dolium
