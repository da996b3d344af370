#include "dolium/domain/dataset/loaded_sample.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dolium::dataset {

using shardpack::EntryHeader;

LoadedSample::LoadedSample(SamplePiece first) {
  pieces_.push_back(std::move(first));
  AddFiles(0);
}

void LoadedSample::AddFiles(uint32_t piece) {
  const auto entries = pieces_[piece].record.entries();
  files_.reserve(files_.size() + entries.size());
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].is_aux()) files_.push_back({piece, i});
  }
}

Result<void> LoadedSample::Add(SamplePiece piece, bool replaces) {
  for (const EntryHeader& entry : piece.record.entries()) {
    if (entry.is_aux()) continue;
    const auto there = Find(entry.name);
    if (!there) continue;
    if (!replaces) {
      return InvalidArgument(
          fmt::format("\"{}\": entry \"{}\" is in {} and in {}", key(), entry.name,
                      pieces_[there->piece].shard->Describe(), piece.shard->Describe()));
    }
    std::erase_if(files_, [&](FileRef file) { return header(file).name == entry.name; });
  }
  pieces_.push_back(std::move(piece));
  AddFiles(static_cast<uint32_t>(pieces_.size() - 1));
  return {};
}

shardpack::Metadata LoadedSample::metadata() const {
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    auto metadata = piece->record.metadata();
    if (metadata.format != shardpack::MetadataFormat::kNone) return metadata;
  }
  return {};
}

std::optional<LoadedSample::FileRef> LoadedSample::Find(std::string_view name) const {
  for (const FileRef file : files_) {
    if (header(file).name == name) return file;
  }
  return std::nullopt;
}

const Error* LoadedSample::damage() const {
  for (const SamplePiece& piece : pieces_) {
    if (piece.record.damage()) return &*piece.record.damage();
  }
  return nullptr;
}

Result<Bytes> LoadedSample::Content(FileRef file) const {
  const SamplePiece& piece = pieces_[file.piece];
  return piece.shard->Content(piece.number, piece.record, header(file));
}

Result<void> LoadedSample::ContentInto(FileRef file, MutableBytes into) const {
  const SamplePiece& piece = pieces_[file.piece];
  return piece.shard->ContentInto(piece.number, piece.record, header(file), into);
}

Result<shardpack::Sample> LoadedSample::Decode() const {
  shardpack::Sample sample{.key = std::string(key()), .metadata = metadata()};
  for (const SamplePiece& piece : pieces_) {
    sample.tombstone = pieces_.size() == 1 && piece.record.is_tombstone();
    DOLIUM_TRY(const auto options, piece.shard->content_options());
    auto part = piece.record.Decode(options);
    if (!part) {
      return std::move(part).error().Within(
          fmt::format("{}: record {}", piece.shard->Describe(), piece.number));
    }
    for (shardpack::File& file : part->files) {
      std::erase_if(sample.files, [&](const auto& f) { return f.name == file.name; });
      sample.files.push_back(std::move(file));
    }
  }
  return sample;
}

}  // namespace dolium::dataset
