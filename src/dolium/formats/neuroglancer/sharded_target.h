// The sharded format as a Target: a folder of shards about to be written.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/container/format.h"
#include "dolium/container/writer.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::neuroglancer {

class ShardedTarget : public Target {
 public:
  // `own_info` is the text of an info to take members from; may be empty.
  ShardedTarget(Location location, const ShardingSpec& spec, std::string own_info);

  const Location& location() const override { return location_; }
  std::string_view format_name() const override { return "neuroglancer"; }
  std::string Describe() const override;
  const CodecChain& codecs() const override { return codecs_; }
  Result<uint64_t> PartOf(std::string_view key) const override;
  std::string PartObject(uint64_t part) const override;
  Result<WriteSummary> WritePart(uint64_t part, const PartSource& source,
                                 const WriterOptions& options) override;
  Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions& options) override;
  Result<void> Finish() override;

  const ShardingSpec& spec() const { return spec_; }

 private:
  // nullopt if the entries are not stored as this target stores them.
  Result<std::optional<WriteSummary>> CopyPart(uint64_t part, const PartSource& source,
                                               const WriterOptions& options);
  Result<WriteSummary> EncodePart(const PartSource& source, const WriterOptions& options);
  // `repeated` says of ids that come more than once whether one has been taken.
  Result<void> EncodeEntries(const PartSource& source, std::span<const Entry> entries,
                             std::map<uint64_t, bool>& repeated,
                             ShardedWriter& writer) const;

  const Location location_;
  const ShardingSpec spec_;
  const std::string own_info_;
  const CodecChain codecs_;
};

}  // namespace dolium::neuroglancer
