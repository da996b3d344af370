// pack ls, cat: the samples of a set, and one file of one of them.
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/pack/pack_arguments.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "dolium/ops/pack/pack_list.h"

namespace dolium::cli {
namespace {

using dataset::FileFacts;
using dataset::SampleFacts;
using dataset::SampleSet;

bool GoesOn(const Context& context) {
  return context.terminal.ok() && !context.stop.stop_requested();
}

// Keys alone, which shards may have without their records.
Result<void> PrintKeys(const Context& context, const SampleSet& set,
                       const dataset::PackSelection& selection) {
  return set.VisitKeys([&](uint64_t number, std::string_view key) {
    if (number >= selection.end) return false;
    if (number < selection.begin || !key.starts_with(selection.prefix)) {
      return GoesOn(context);
    }
    if (context.terminal.json()) {
      context.terminal.JsonLine("sample", {{"number", number}, {"key", key}});
    } else {
      context.terminal.Line(key);
    }
    return GoesOn(context);
  });
}

class Printer {
 public:
  explicit Printer(const Context& context)
      : context_(context), is_long_(context.arguments.Has("long")) {
    using enum Table::Align;
    const auto print = [&context](std::string_view line) { context.terminal.Line(line); };
    if (!is_long_) return;
    // Those of `dolium ls`, then what only samples have.
    table_.emplace(std::vector<Table::Column>{{"key"},
                                              {"file"},
                                              {"size", kRight},
                                              {"stored", kRight},
                                              {"object"},
                                              {"offset", kRight},
                                              {"number", kRight},
                                              {"content type"},
                                              {"compression"}},
                   print);
  }

  void Add(const SampleFacts& sample) {
    if (context_.terminal.json()) {
      context_.terminal.JsonLine("sample", ToJson(sample));
    } else if (is_long_) {
      AddLong(sample);
    } else {
      context_.terminal.Line(sample.key);
    }
  }

  void Finish() {
    if (table_ && !context_.terminal.json()) table_->Finish();
  }

 private:
  void AddLong(const SampleFacts& sample) {
    const auto add = [&](const std::string& name, const std::string& type,
                         const std::string& size, const std::string& stored,
                         const std::string& compression) {
      table_->Add({sample.key, name, size, stored, sample.shard,
                   std::to_string(sample.offset), std::to_string(sample.number), type,
                   compression});
    };
    if (sample.is_tombstone) add("(removed)", "-", "-", "-", "-");
    for (const FileFacts& file : sample.files) {
      add(file.name, file.content_type.empty() ? "-" : file.content_type,
          std::to_string(file.size), std::to_string(file.stored_size),
          file.compression + (file.is_chunked ? " chunked" : ""));
    }
  }

  const Context& context_;
  const bool is_long_;
  std::optional<Table> table_;
};

// What the arguments of cat name.
struct Wanted {
  uint64_t number = 0;
  std::optional<std::string> file;
};

Result<Wanted> WantedSample(const Context& context, const SampleSet& set) {
  const Arguments& arguments = context.arguments;
  const bool by_number = arguments.Has("number");
  const bool by_offset = arguments.Has("offset");
  if (by_number && by_offset) {
    return InvalidArgument("pack cat: --number contradicts --offset");
  }
  const bool by_key = !by_number && !by_offset;
  const size_t used = by_key ? 2 : 1;
  const size_t given = arguments.positionals().size();
  if (given < used)
    return InvalidArgument("pack cat: no key; or name a sample by --number");
  if (given > used + 1) {
    return InvalidArgument(
        fmt::format("pack cat: \"{}\" is one argument too many", arguments[used + 1]));
  }
  Wanted wanted;
  if (given > used) wanted.file = arguments[used];
  if (by_offset) {
    DOLIUM_TRY(wanted.number, SampleAtOffset(set, arguments.Number("offset", 0)));
  } else if (by_number) {
    wanted.number = arguments.Number("number", 0);
    if (wanted.number >= set.size()) {
      return NotFound(fmt::format("{}: no sample {}; there are {}", arguments[0],
                                  wanted.number, set.size()));
    }
  } else {
    DOLIUM_TRY(wanted.number, FindSample(set, arguments[1]).Within(arguments[0]));
  }
  return wanted;
}

Result<Bytes> WantedBytes(const Context& context, const SampleSet& set) {
  DOLIUM_TRY(const Wanted wanted, WantedSample(context, set));
  DOLIUM_TRY(const dataset::LoadedSample sample, set.Read(wanted.number));
  if (context.arguments.Has("metadata")) return sample.metadata().bytes;
  return ReadFileOf(sample, wanted.file);
}

}  // namespace

ExitStatus RunPackLs(Context& context) {
  const auto selection = SelectionOf(context);
  if (!selection) return context.FailLocation(selection.error().Within("pack ls"));
  const auto set = OpenSet(context.arguments.positionals());
  if (!set) return context.FailLocation(set.error());
  ExitStatus status = ExitStatus::kGood;
  if (context.arguments.Has("keys-only")) {
    const auto printed = PrintKeys(context, **set, *selection);
    if (!printed) return context.Fail(printed.error());
  } else {
    const auto numbers = SelectSamples(**set, *selection);
    if (!numbers) return context.Fail(numbers.error());
    Printer printer(context);
    dataset::SampleVisitor visitor;
    visitor.sample = [&](const SampleFacts& sample) {
      printer.Add(sample);
      return GoesOn(context);
    };
    visitor.damage = [&](const Error& error) {
      status = Worse(status, context.Fail(error));
      return GoesOn(context);
    };
    const auto listed = ListSamples(**set, *numbers, visitor);
    printer.Finish();
    if (!listed) return context.Fail(listed.error());
  }
  if (context.stop.stop_requested()) return context.Fail(Cancelled());
  return status;
}

ExitStatus RunPackCat(Context& context) {
  const auto set = OpenSet({context.arguments[0]});
  if (!set) return context.FailLocation(set.error());
  const auto bytes = WantedBytes(context, **set);
  if (!bytes) return context.Fail(bytes.error());
  const std::string file = context.arguments.Get("output").value_or("-");
  const auto written = context.WriteFile(file, *bytes);
  if (!written) return context.FailLocation(written.error());
  if (context.terminal.json() && file != "-") {
    context.terminal.JsonLine("written", {{"file", file}, {"size", bytes->size()}});
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
