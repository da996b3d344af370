#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/pack/pack_arguments.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/ops/pack/pack_view.h"

namespace dolium::cli {
namespace {

using dataset::FileFacts;
using dataset::ViewedSample;
using dataset::ViewPage;

// On one line, so that a page stays a page.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (!is_control) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

void PrintSample(const Context& context, const ViewedSample& sample) {
  context.terminal.Line(
      fmt::format("#{} {}", sample.facts.number, OneLine(sample.facts.key)));
  if (sample.facts.is_tombstone) context.terminal.Line("  (removed)");
  if (!sample.metadata.is_null()) {
    context.terminal.Line(fmt::format("  metadata {}", ToLine(sample.metadata)));
  }
  for (size_t i = 0; i < sample.facts.files.size(); ++i) {
    const FileFacts& file = sample.facts.files[i];
    context.terminal.Line(
        fmt::format("  {}  {}  {}", OneLine(file.name),
                    file.content_type.empty() ? "-" : OneLine(file.content_type),
                    FormatSize(file.size)));
    if (!sample.previews[i].empty()) {
      context.terminal.Line(fmt::format("    {}", OneLine(sample.previews[i])));
    }
  }
}

void PrintPage(const Context& context, const ViewPage& page) {
  for (const ViewedSample& sample : page.samples) {
    if (sample.error.empty() || !sample.facts.key.empty()) PrintSample(context, sample);
  }
  if (page.samples.empty() || context.arguments.Has("no-summary")) return;
  context.terminal.Line(fmt::format("{} to {} of {}", FormatCount(page.begin),
                                    FormatCount(page.begin + page.samples.size() - 1),
                                    FormatCount(page.total)));
}

}  // namespace

ExitStatus RunPackView(Context& context) {
  const auto filter = SelectionOf(context);
  if (!filter) return context.FailLocation(filter.error().Within("pack view"));
  const auto set = OpenSet(context.arguments.positionals());
  if (!set) return context.FailLocation(set.error());
  dataset::ViewOptions options;
  options.filter = *filter;
  options.begin = context.arguments.Number("begin", options.begin);
  options.count = context.arguments.Number("count", options.count);
  options.preview_bytes =
      static_cast<size_t>(context.arguments.Number("preview", options.preview_bytes));
  const auto page = ViewSamples(**set, options);
  if (!page) return context.Fail(page.error());
  if (context.terminal.json()) {
    context.terminal.JsonLine("page", ToJson(*page));
  } else {
    PrintPage(context, *page);
  }
  ExitStatus status = ExitStatus::kGood;
  for (const ViewedSample& sample : page->samples) {
    if (sample.error.empty()) continue;
    status = Worse(status, context.Fail(Corrupt(sample.error)));
  }
  return status;
}

}  // namespace dolium::cli
