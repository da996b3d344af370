#include "dolium/domain/dataset/loaded_sample.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dolium::dataset {

using shardpack::EntryHeader;

LoadedSample::LoadedSample(SamplePart first) {
  parts_.push_back(std::move(first));
  AddFiles(0);
}

void LoadedSample::AddFiles(uint32_t part) {
  const auto entries = parts_[part].record.entries();
  files_.reserve(files_.size() + entries.size());
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].is_aux()) files_.push_back({part, i});
  }
}

Result<void> LoadedSample::Add(SamplePart part, bool replaces) {
  for (const EntryHeader& entry : part.record.entries()) {
    if (entry.is_aux()) continue;
    const auto there = Find(entry.name);
    if (!there) continue;
    if (!replaces) {
      return InvalidArgument(
          fmt::format("\"{}\": entry \"{}\" is in {} and in {}", key(), entry.name,
                      parts_[there->part].shard->Describe(), part.shard->Describe()));
    }
    std::erase_if(files_, [&](FileRef file) { return header(file).name == entry.name; });
  }
  parts_.push_back(std::move(part));
  AddFiles(static_cast<uint32_t>(parts_.size() - 1));
  return {};
}

shardpack::Metadata LoadedSample::metadata() const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    auto metadata = part->record.metadata();
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
  for (const SamplePart& part : parts_) {
    if (part.record.damage()) return &*part.record.damage();
  }
  return nullptr;
}

Result<Bytes> LoadedSample::Content(FileRef file) const {
  const SamplePart& part = parts_[file.part];
  return part.shard->Content(part.number, part.record, header(file));
}

Result<void> LoadedSample::ContentInto(FileRef file, MutableBytes into) const {
  const SamplePart& part = parts_[file.part];
  return part.shard->ContentInto(part.number, part.record, header(file), into);
}

Result<void> LoadedSample::CheckMaps() const {
  for (const SamplePart& part : parts_) DOLIUM_TRY_VOID(part.shard->CheckMap());
  return {};
}

Result<shardpack::Sample> LoadedSample::Decode() const {
  shardpack::Sample sample{.key = std::string(key()), .metadata = metadata()};
  for (const SamplePart& part : parts_) {
    sample.tombstone = parts_.size() == 1 && part.record.is_tombstone();
    DOLIUM_TRY(const auto options, part.shard->content_options());
    auto decoded = part.record.Decode(options);
    DOLIUM_TRY_VOID(part.shard->CheckMap());
    if (!decoded) {
      return std::move(decoded).error().Within(
          fmt::format("{}: record {}", part.shard->Describe(), part.number));
    }
    for (shardpack::File& file : decoded->files) {
      std::erase_if(sample.files, [&](const auto& f) { return f.name == file.name; });
      sample.files.push_back(std::move(file));
    }
  }
  return sample;
}

}  // namespace dolium::dataset
