#include "dolium/ops/testing/toy_format.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/container/read_entry.h"
#include "dolium/container/unfinished.h"

namespace dolium::toy {
namespace {

constexpr uint64_t kLimit = uint64_t{1} << 30;
constexpr std::string_view kSuffix = ".toy";

Expected last_expected;

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<uint64_t> Key(std::string_view text) {
  const auto key = Number(text);
  if (!key) return InvalidArgument(fmt::format("\"{}\" is not a number", text));
  return *key;
}

class ToyTarget final : public Target {
 public:
  ToyTarget(Location location, uint64_t parts)
      : location_(std::move(location)), parts_(parts) {}

  const Location& location() const override { return location_; }
  std::string_view format_name() const override { return kFormat.name; }
  std::string Describe() const override { return std::to_string(parts_); }
  const CodecChain& codecs() const override { return codecs_; }
  Result<uint64_t> PartOf(std::string_view key) const override {
    DOLIUM_TRY(const uint64_t number, Key(key));
    return number % parts_;
  }
  std::string PartObject(uint64_t part) const override {
    return location_.Child(fmt::format("{}{}", part, kSuffix)).path;
  }

  Result<WriteSummary> WritePart(uint64_t part, const PartSource& source,
                                 const WriterOptions& options) override {
    std::vector<Entry> entries;
    while (true) {
      DOLIUM_TRY(const std::span<const Entry> next, source.entries->Next());
      if (next.empty()) break;
      entries.insert(entries.end(), next.begin(), next.end());
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return *Number(a.key) < *Number(b.key);
    });
    WriteSummary summary;
    std::string index;
    ByteVector values;
    for (const Entry& entry : entries) {
      if (options.stop.stop_requested()) return Cancelled();
      auto data = ReadEntry(*source.store, entry);
      if (!data) {
        if (source.skip_damaged && source.skip_damaged(entry, data.error())) continue;
        return std::move(data).error();
      }
      index += fmt::format("{} {}\n", entry.key, data->value.size());
      Append(values, data->value);
      summary.entries += 1;
      summary.value_bytes += data->value.size();
      if (source.progress) source.progress(1, entry.stored_size());
    }
    index += "\n";
    DOLIUM_TRY(const auto writer, location_.store->Begin(PartObject(part)));
    DOLIUM_TRY_VOID(writer->Append(AsBytes(index)));
    DOLIUM_TRY_VOID(writer->Append(values));
    summary.stored_bytes = writer->size();
    summary.objects = 1;
    DOLIUM_TRY([[maybe_unused]] const auto generation,
               writer->Commit(Precondition::None()));
    return summary;
  }

  Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions&) override {
    return Unsupported("a toy set is made by parts");
  }
  Result<void> Finish() override {
    DOLIUM_TRY([[maybe_unused]] const auto generation,
               location_.store->Put(location_.Child("info").path,
                                    AsBytes(fmt::format("toy {}", parts_)),
                                    Precondition::None()));
    return {};
  }

 private:
  const Location location_;
  const uint64_t parts_;
  const CodecChain codecs_;
};

class ToyContainer final : public Container {
 public:
  ToyContainer(Location location, uint64_t parts)
      : location_(std::move(location)), parts_(parts) {}

  uint64_t parts() const { return parts_; }
  const Location& location() const override { return location_; }
  std::string_view format_name() const override { return kFormat.name; }
  Properties properties() const override { return {{"parts", parts_}}; }

  Result<std::optional<Entry>> Find(std::string_view key) const override {
    std::optional<Entry> found;
    ScanVisitor visitor;
    visitor.entry = [&](const Entry& entry) {
      if (entry.key == key) found = entry;
      return !found;
    };
    DOLIUM_TRY_VOID(Scan(*this, visitor));
    return found;
  }

  Result<std::vector<std::string>> Objects() const override {
    std::vector<std::string> objects;
    DOLIUM_TRY_VOID(
        store().List(location_.path, [&](std::string_view name, bool is_folder) {
          if (!is_folder && name.ends_with(kSuffix))
            objects.push_back(location_.Child(name).path);
          return true;
        }));
    std::sort(objects.begin(), objects.end());
    return objects;
  }

  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override {
    DOLIUM_TRY(const WholeObject whole, store().ReadWhole(object, kLimit));
    const std::string_view text = AsText(whole.bytes);
    const size_t end = text.find("\n\n");
    const bool is_empty = text.starts_with('\n');
    if (end == std::string_view::npos && !is_empty) {
      return Corrupt(fmt::format("{}: its index has no end", store().Describe(object)));
    }
    const auto version = std::make_shared<const ObjectVersion>(
        ObjectVersion{std::string(object), whole.generation});
    std::string_view lines = is_empty ? "" : text.substr(0, end + 1);
    uint64_t offset = is_empty ? 1 : end + 2;
    for (size_t at = 0; !lines.empty();
         at = lines.find('\n') + 1, lines.remove_prefix(at)) {
      const std::string_view line = lines.substr(0, lines.find('\n'));
      const size_t space = std::min(line.find(' '), line.size());
      const auto length = Number(line.substr(std::min(space + 1, line.size())));
      if (!length) {
        Finding finding;
        finding.kind = "index";
        finding.object = store().Describe(object);
        finding.message = fmt::format("\"{}\" is not an entry", line);
        if (!visitor.damage) return Corrupt(finding.object + ": " + finding.message);
        if (!visitor.damage(finding)) return {};
        continue;
      }
      Entry entry;
      entry.key = line.substr(0, space);
      entry.size = *length;
      entry.extents.push_back({version, {offset, *length}, {}});
      offset += *length;
      if (!visitor.entry(entry)) return {};
    }
    return {};
  }

  Result<void> CheckObject(std::string_view, const FindingVisitor&) const override {
    return {};
  }

 private:
  const Location location_;
  const uint64_t parts_;
};

Result<uint64_t> ReadInfo(const Location& location) {
  DOLIUM_TRY(const auto info,
             location.store->ReadWhole(location.Child("info").path, kLimit));
  const std::string_view text = AsText(info.bytes);
  const auto parts = text.starts_with("toy ") ? Number(text.substr(4)) : std::nullopt;
  if (!parts || *parts == 0) return Corrupt(location.Describe() + ": not a toy set");
  return *parts;
}

Result<std::unique_ptr<Target>> MakeTarget(const Location& location,
                                           std::string_view parts) {
  const auto number = Number(parts);
  if (!number || *number == 0) {
    return InvalidArgument(fmt::format("\"{}\" is not a number of parts", parts));
  }
  return std::make_unique<ToyTarget>(location, *number);
}

}  // namespace

Result<int> Probe(const Location& location) { return ReadInfo(location) ? 50 : 0; }

Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options) {
  DOLIUM_TRY(const auto marker, ReadMarker(location));
  if (marker && !options.allow_unfinished) return UnfinishedError(location);
  DOLIUM_TRY(const uint64_t parts, ReadInfo(location));
  return std::make_unique<ToyContainer>(location, parts);
}

Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options) {
  last_expected = {options.expected_entries, options.expected_bytes,
                   options.largest_entry};
  if (options.spec) return MakeTarget(location, *options.spec);
  const auto parameter = options.parameters.find("parts");
  if (parameter != options.parameters.end())
    return MakeTarget(location, parameter->second);
  if (const auto* like = dynamic_cast<const ToyContainer*>(options.like)) {
    return std::make_unique<ToyTarget>(location, like->parts());
  }
  return std::make_unique<ToyTarget>(location, 4);
}

Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description) {
  return MakeTarget(location, description);
}

bool OwnsObject(std::string_view name) {
  return name == "info" || name.ends_with(kSuffix);
}

Expected LastExpected() { return last_expected; }

}  // namespace dolium::toy
