#include <unistd.h>

#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "dolium/ops/list.h"
#include "dolium/ops/source/source.h"
#include "dolium/ops/source/stream.h"

namespace dolium::cli {
namespace {

// Most entries share their object with the one before: its name is made once.
class ObjectNames {
 public:
  explicit ObjectNames(const Store& store) : store_(store) {}

  // nullopt for an entry without extents.
  const std::optional<std::string>& Of(const Entry& entry) {
    if (entry.extents.empty()) {
      object_.reset();
      name_.reset();
    } else if (entry.extents.front().object != object_) {
      object_ = entry.extents.front().object;
      name_ = object_ == nullptr
                  ? std::nullopt
                  : std::optional<std::string>(store_.Describe(object_->name));
    }
    return name_;
  }

 private:
  const Store& store_;
  std::shared_ptr<const ObjectVersion> object_;
  std::optional<std::string> name_;
};

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::optional<uint64_t> OffsetOf(const Entry& entry) {
  if (entry.extents.empty()) return std::nullopt;
  return entry.extents.front().range.offset;
}

Json EntryJson(const Entry& entry, const std::optional<std::string>& object) {
  Json json = {{"key", entry.key},
               {"size", OrNull(entry.size)},
               {"stored_size", entry.stored_size()},
               {"object", OrNull(object)},
               {"offset", OrNull(OffsetOf(entry))}};
  if (entry.preceding_size() > 0) json["preceding"] = entry.preceding_size();
  return json;
}

std::vector<std::string> EntryRow(const Entry& entry,
                                  const std::optional<std::string>& object) {
  const auto number = [](const std::optional<uint64_t>& value) {
    return value ? std::to_string(*value) : "-";
  };
  return {entry.key, number(entry.size), std::to_string(entry.stored_size()),
          object.value_or("-"), number(OffsetOf(entry))};
}

ExitStatus ListStream(Context& context) {
  if (const auto usable = context.CheckStreamOptions(); !usable) {
    return context.Fail(usable.error());
  }
  Terminal& terminal = context.terminal;
  const bool is_long = context.arguments.Has("long");
  StreamRequest request{.stop = context.stop};
  request.entry = [&](std::string_view key, uint64_t size) {
    if (terminal.json()) {
      terminal.JsonLine("entry", {{"key", key}, {"size", size}});
    } else {
      terminal.Line(is_long ? fmt::format("{}  {}", key, size) : std::string(key));
    }
    return terminal.ok();
  };
  const auto read = ReadStream(STDIN_FILENO, request);
  return read ? ExitStatus::kGood : context.Fail(read.error());
}

}  // namespace

ExitStatus RunLs(Context& context) {
  if (context.arguments[0] == kStandardInput) return ListStream(context);
  const auto source = context.OpenSource(context.arguments[0]);
  if (!source) return context.FailLocation(source.error());
  const auto entries = (*source)->entries();
  if (!entries) return context.FailLocation(entries.error());
  Terminal& terminal = context.terminal;
  const bool as_table = context.arguments.Has("long") && !terminal.json();

  std::optional<Table> table;
  if (as_table) {
    using enum Table::Align;
    table.emplace(std::vector<Table::Column>{{"key", kLeft},
                                             {"size", kRight},
                                             {"stored", kRight},
                                             {"object", kLeft},
                                             {"offset", kRight}},
                  [&](std::string_view line) { terminal.Line(line); });
  }
  ObjectNames names((*entries)->store());
  const auto go_on = [&] { return terminal.ok() && !context.stop.stop_requested(); };
  ExitStatus status = ExitStatus::kGood;

  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    if (terminal.json()) {
      Json line = EntryJson(entry, names.Of(entry));
      // Those whose lists cannot be read are damage of the scan.
      const auto labels = (*source)->LabelsOf(entry.key);
      if (labels && *labels) {
        line["labels"] = (*labels)->labels;
        line["supervoxels"] = (*labels)->supervoxels;
      }
      terminal.JsonLine("entry", line);
    } else if (table) {
      table->Add(EntryRow(entry, names.Of(entry)));
    } else {
      terminal.Line(entry.key);
    }
    return go_on();
  };
  visitor.damage = [&](const Finding& finding) {
    terminal.Report(Corrupt(FindingLine(finding)), Context::FindingMembers(finding));
    status = ExitStatus::kBad;
    return go_on();
  };
  const auto listed = List(**entries, visitor);
  if (table) table->Finish();
  if (context.stop.stop_requested()) return context.Fail(Cancelled());
  if (!listed) return context.FailLocation(listed.error());
  return status;
}

}  // namespace dolium::cli
