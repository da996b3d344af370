#include "dolium/domain/objects/object_writer.h"

#include <utility>

#include <fmt/format.h>

namespace dolium::objects {

ObjectWriter::ObjectWriter(Location folder, std::string suffix)
    : folder_(std::move(folder)), suffix_(std::move(suffix)) {}

Result<ObjectWriter> ObjectWriter::Create(
    Location folder, std::optional<neuroglancer::ShardingSpec> sharding,
    std::string suffix, const WriterOptions& options) {
  const Location info = folder.Child("info");
  DOLIUM_TRY(const auto there, info.store->Stat(info.path));
  if (there) {
    return Exists(fmt::format("{}: is there already", info.Describe()))
        .WithHint(Hint::kReplace);
  }
  DOLIUM_TRY(ObjectWriter writer,
             CreatePart(std::move(folder), sharding, std::move(suffix), options));
  writer.precondition_ = Precondition::Absent();
  return writer;
}

Result<ObjectWriter> ObjectWriter::CreatePart(
    Location folder, std::optional<neuroglancer::ShardingSpec> sharding,
    std::string suffix, const WriterOptions& options) {
  ObjectWriter writer(std::move(folder), std::move(suffix));
  writer.precondition_ = Precondition::None();
  if (sharding) {
    DOLIUM_TRY_VOID(sharding->Validate());
    writer.shards_ =
        std::make_unique<neuroglancer::ShardedWriter>(writer.folder_, *sharding, options);
  }
  return writer;
}

Result<void> ObjectWriter::Add(uint64_t id, BytesView value, BytesView preceding) {
  if (id == 0) return InvalidArgument("id 0 is no label");
  if (shards_ != nullptr) return shards_->AddChunk(id, value, preceding, false);
  const std::string name = std::to_string(id);
  // First what the value refers to.
  if (!suffix_.empty() && !preceding.empty()) DOLIUM_TRY_VOID(PutFile(name, preceding));
  DOLIUM_TRY_VOID(PutFile(name + suffix_, value));
  ++files_.entries;
  files_.value_bytes += value.size();
  return {};
}

Result<void> ObjectWriter::PutFile(const std::string& name, BytesView bytes) {
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             folder_.store->Put(JoinPath(folder_.path, name), bytes, precondition_));
  files_.stored_bytes += bytes.size();
  ++files_.objects;
  return {};
}

Result<WriteSummary> ObjectWriter::FinishPart() {
  return shards_ != nullptr ? shards_->Finish() : files_;
}

Result<WriteSummary> ObjectWriter::Finish(std::string_view info) {
  DOLIUM_TRY(const WriteSummary summary, FinishPart());
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             folder_.store->Put(JoinPath(folder_.path, "info"), AsBytes(info),
                                Precondition::Absent()));
  return summary;
}

}  // namespace dolium::objects
