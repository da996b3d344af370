// A plain folder being made.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "dolium/container/writer.h"

namespace dolium::files {

class FilesTarget final : public Target {
 public:
  explicit FilesTarget(Location location) : location_(std::move(location)) {}

  const Location& location() const override { return location_; }
  std::string_view format_name() const override;
  std::string Describe() const override;
  const CodecChain& codecs() const override { return codecs_; }
  Result<uint64_t> PartOf(std::string_view key) const override;

  // A part is many files; this one is written after them, and removed by Finish.
  std::string PartObject(uint64_t part) const override;

  // Each file appears atomically; the part is whole once its object is there.
  Result<WriteSummary> WritePart(uint64_t part, const PartSource& source,
                                 const WriterOptions& options) override;
  Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions& options) override;
  Result<void> Finish() override;

 private:
  const Location location_;
  const CodecChain codecs_;
};

}  // namespace dolium::files
