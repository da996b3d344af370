#include "cli/terminal/hint_text.h"

namespace dolium::cli {
namespace {

std::string_view HintText(Hint hint) {
  switch (hint) {
    case Hint::kNone:
      return "";
    case Hint::kReplace:
      return "; --force replaces it";
    case Hint::kSalvage:
      return "; to salvage: --skip-damaged";
    case Hint::kSalvageOrReindex:
      return "; to salvage: --skip-damaged; `dolium reindex --force` writes an index";
    case Hint::kReindex:
      return "; `dolium reindex` writes one";
    case Hint::kRewriteIndex:
      return "; `dolium reindex --force` writes an index";
    case Hint::kSkipDamaged:
      return "; keep what is readable with: dolium convert --skip-damaged";
    case Hint::kGiveSharding:
      return "; give the spec with --spec FILE";
    case Hint::kNameFormat:
      return "; try -f NAME";
    case Hint::kConvertToVolume:
      return ": dolium convert --to precomputed";
    case Hint::kGiveXorbs:
      return "; --xorbs names a folder that has it";
    case Hint::kUseCas:
      return "; use: dolium cas";
    case Hint::kInitStore:
      return "; `dolium cas init` makes one";
    case Hint::kListNames:
      return "; `dolium cas ls` lists names";
    case Hint::kRebuildIndex:
      return "; to rebuild it: dolium cas reindex";
    case Hint::kFindDamage:
      return ": `dolium cas verify` reports what is damaged, `dolium cas rm` gives it up";
    case Hint::kDropBase:
      return "; --force drops it";
    case Hint::kPackSamples:
      return "; use: shardpack create, or shardpack import";
    case Hint::kExportSamples:
      return "; use: shardpack export";
  }
  return "";
}

}  // namespace

std::string WithHintText(std::string_view message, Hint hint) {
  std::string text(message);
  text += HintText(hint);
  return text;
}

}  // namespace dolium::cli
