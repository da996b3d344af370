#include "cli/man_page.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/help.h"

namespace dolium::cli {
namespace {

constexpr std::pair<std::string_view, std::string_view> kStatuses[] = {
    {"0", "good"},
    {"1", "bad or missing entries"},
    {"2", "usage, or a refusal to overwrite"},
    {"3", "could not read or write, or no such location"},
    {"4", "valid, but not supported"},
    {"130", "stopped by a signal"},
};

// One page, written part by part. Texts are plain, with `code` in backticks.
class Page {
 public:
  virtual ~Page() = default;
  virtual void Title(std::string_view name) = 0;
  virtual void Section(std::string_view heading) = 0;
  virtual void Paragraph(std::string_view text) = 0;
  virtual void Command(std::string_view command, std::string_view rest) = 0;
  virtual void Item(std::string_view term, std::string_view text) = 0;
  virtual void Code(std::string_view line) = 0;

  std::string Take() { return std::move(text_); }

 protected:
  std::string text_;
};

class RoffPage final : public Page {
 public:
  void Title(std::string_view name) override {
    std::string upper(name);
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    text_ += fmt::format(".TH {} 1 \"\" \"dolium {}\" \"dolium\"\n", Escape(upper),
                         DOLIUM_VERSION);
  }
  void Section(std::string_view heading) override {
    text_ += fmt::format(".SH {}\n", Escape(heading));
  }
  void Paragraph(std::string_view text) override {
    text_ += fmt::format(".PP\n{}\n", Escape(text));
  }
  void Command(std::string_view command, std::string_view rest) override {
    text_ += fmt::format("\\fB{}\\fR {}\n", Escape(command), Escape(rest));
  }
  void Item(std::string_view term, std::string_view text) override {
    text_ += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Escape(term), Escape(text));
  }
  void Code(std::string_view line) override {
    text_ += fmt::format(".PP\n.nf\n{}\n.fi\n", Escape(line));
  }

 private:
  // Lines must not begin with a control character; none of our texts do, once escaped.
  static std::string Escape(std::string_view text) {
    std::string out;
    bool bold = false;
    for (const char c : text) {
      if (c == '\\') {
        out += "\\e";
      } else if (c == '-') {
        out += "\\-";
      } else if (c == '\'') {
        out += "\\(aq";
      } else if (c == '`') {
        bold = !bold;
        out += bold ? "\\fB" : "\\fR";
      } else {
        out += c;
      }
    }
    return out;
  }
};

class MarkdownPage final : public Page {
 public:
  void Title(std::string_view name) override { text_ += fmt::format("# {}(1)\n", name); }
  void Section(std::string_view heading) override {
    text_ += fmt::format("\n## {}\n\n", heading);
    first_ = true;
  }
  void Paragraph(std::string_view text) override {
    Gap();
    text_ += fmt::format("{}\n", Escape(text));
  }
  void Command(std::string_view command, std::string_view rest) override {
    text_ += fmt::format("**{}** {}\n", command, Escape(rest));
  }
  void Item(std::string_view term, std::string_view text) override {
    text_ += fmt::format("- `{}`: {}\n", term, Escape(text));
  }
  void Code(std::string_view line) override {
    Gap();
    text_ += fmt::format("    {}\n", line);
  }

 private:
  void Gap() {
    if (!first_) text_ += '\n';
    first_ = false;
  }
  // What stands in backticks stays as it is.
  static std::string Escape(std::string_view text) {
    std::string out;
    bool code = false;
    for (const char c : text) {
      if (c == '`') code = !code;
      if (!code && (c == '<' || c == '*' || c == '_')) out += '\\';
      out += c;
    }
    return out;
  }

  bool first_ = true;
};

std::unique_ptr<Page> NewPage(ManFormat format) {
  if (format == ManFormat::kRoff) return std::make_unique<RoffPage>();
  return std::make_unique<MarkdownPage>();
}

void AddStatuses(Page& page) {
  page.Section("EXIT STATUS");
  for (const auto& [status, meaning] : kStatuses) page.Item(status, meaning);
}

// "dolium-verify", "dolium-volume-ingest".
std::string PageName(const Verb& verb) {
  std::string name = fmt::format("dolium-{}", verb.name);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string WithoutFinalPoint(std::string_view text) {
  return std::string(text.substr(0, text.find_last_not_of('.') + 1));
}

}  // namespace

std::string OverviewManPage(ManFormat format) {
  const auto page = NewPage(format);
  page->Title("dolium");
  page->Section("NAME");
  page->Paragraph("dolium - one engine for sharded chunk storage");
  page->Section("SYNOPSIS");
  page->Command("dolium", "<verb> [options] ...");
  page->Section("DESCRIPTION");
  page->Paragraph(kProgramSummary);
  page->Paragraph(
      "A location is a single file, a folder, or a URL: `http`, `https`, `file`, `gs` "
      "(the "
      "bucket's public address) or `precomputed` before one of these. The format is "
      "detected.");
  page->Paragraph(
      "Results go to standard output, all else to standard error. Nothing is overwritten "
      "without "
      "`--force`; outputs appear whole or not at all. Sizes are written as 4096, 512k, "
      "1.5GB "
      "(powers of 1000) or 64MiB (powers of 1024). `-` is standard input or output.");
  page->Paragraph(
      "With `--json`, errors are objects with `type` \"error\", `code` and `message`.");
  page->Section("VERBS");
  for (const Verb& verb : Verbs()) page->Item(verb.name, verb.outline);
  page->Section("OPTIONS");
  page->Item("-h, --help", "show a list of the verbs; after a verb, explain it");
  page->Item("--version", "show the version");
  page->Item("--cache <folder>", kCacheHelp);
  page->Section("ENVIRONMENT");
  page->Item("DOLIUM_CACHE", "the same as `--cache`, which wins");
  page->Item("DOLIUM_HTTP_MIN_RATE",
             "a server that sends fewer bytes per second for so long as "
             "DOLIUM_HTTP_TIMEOUT says is asked again, and given up in the end [1000]");
  page->Item("DOLIUM_HTTP_TIMEOUT", "in seconds [30]");
  AddStatuses(*page);
  page->Section("SEE ALSO");
  std::string others;
  for (const Verb& verb : Verbs()) {
    others += fmt::format("{}{}(1)", others.empty() ? "" : ", ", PageName(verb));
  }
  page->Paragraph(others);
  return page->Take();
}

std::string PackManPage(ManFormat format) {
  const auto page = NewPage(format);
  page->Title(kPackProgram);
  page->Section("NAME");
  page->Paragraph(
      fmt::format("{} - samples of many files, packed into shards", kPackProgram));
  page->Section("SYNOPSIS");
  page->Command(kPackProgram, "<verb> [options] ...");
  page->Section("DESCRIPTION");
  page->Paragraph(fmt::format(
      "A ShardPack holds samples: each has a key and some files, with their names, "
      "content types and metadata. Its index is at its end: any sample is found with one "
      "seek, and all can be read from a pipe. `{} VERB` is short for `dolium {} VERB`.",
      kPackProgram, kPackGroup));
  page->Paragraph(
      "A set is a shard, shards in brace notation (`train-{000000..000099}.shardpack`), "
      "a pattern, a folder, a list (`shards.txt`, `@shards`) or a catalog "
      "(`catalog.json`); or a URL of one of them.");
  page->Section("VERBS");
  std::string others;
  for (const std::string_view word : WordsAfter(kPackGroup)) {
    const Verb& verb = *FindVerb(fmt::format("{} {}", kPackGroup, word));
    page->Item(word, verb.outline);
    others += fmt::format("{}{}(1)", others.empty() ? "" : ", ", PageName(verb));
  }
  AddStatuses(*page);
  page->Section("SEE ALSO");
  page->Paragraph(fmt::format("dolium(1), {}", others));
  return page->Take();
}

std::string VerbManPage(const Verb& verb, ManFormat format) {
  const auto page = NewPage(format);
  page->Title(PageName(verb));
  page->Section("NAME");
  page->Paragraph(
      fmt::format("{} - {}", PageName(verb), WithoutFinalPoint(verb.outline)));
  page->Section("SYNOPSIS");
  page->Command(fmt::format("dolium {}", verb.name), verb.usage);
  page->Section("DESCRIPTION");
  page->Paragraph(verb.description);
  for (std::string_view rest = verb.details; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    page->Paragraph(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const OptionGroup& group : OptionGroups(verb)) {
    page->Section(group.title.empty() ? "OPTIONS"
                                      : fmt::format("OPTIONS WITH {}", group.title));
    for (const Option& option : group.options) {
      page->Item(Signature(option), option.help);
    }
  }
  page->Section("EXAMPLES");
  for (const std::string_view example : verb.examples) page->Code(example);
  AddStatuses(*page);
  page->Section("SEE ALSO");
  page->Paragraph("dolium(1)");
  return page->Take();
}

}  // namespace dolium::cli
