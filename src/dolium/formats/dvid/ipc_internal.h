// What the readers of schemas and of batches share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/dvid/ipc.h"
#include "dolium/formats/dvid/ipc_tables_internal.h"

namespace dolium::dvid {

inline constexpr int16_t kVersion4 = 3;
inline constexpr int16_t kVersion5 = 4;
inline constexpr int kMaxNesting = 16;
// Tables of one message: real ones have some tens.
inline constexpr uint32_t kMaxTables = 10'000;
inline constexpr size_t kAlignment = 8;
// The columns of exports, in the order in which schemas list them.
inline constexpr std::string_view kColumnNames[] = {
    "chunk_x",          "chunk_y",     "chunk_z",
    "labels",           "supervoxels", "dvid_compressed_block",
    "uncompressed_size"};
enum WantedColumn : uint8_t {
  kLabelsColumn = 3,
  kSupervoxelsColumn,
  kBlockColumn,
  kSizeColumn
};

// A flatbuffer at an address that suits it, verified.
template <typename Root>
class Verified {
 public:
  static Result<Verified> Make(BytesView bytes, std::string_view what) {
    Verified out;
    if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
      out.copy_.resize(bytes.size() / sizeof(uint64_t) + 1);
      std::memcpy(out.copy_.data(), bytes.data(), bytes.size());
      bytes = std::as_bytes(std::span(out.copy_)).first(bytes.size());
    }
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    flatbuffers::Verifier::Options options;
    options.max_depth = kMaxNesting * 2;
    options.max_tables = kMaxTables;
    flatbuffers::Verifier verifier(data, bytes.size(), options);
    if (bytes.size() > kMaxMetadataBytes || !verifier.VerifyBuffer<Root>()) {
      return Corrupt(
          fmt::format("{} of {} bytes is damaged: its flatbuffer does not "
                      "verify",
                      what, bytes.size()));
    }
    out.root_ = flatbuffers::GetRoot<Root>(data);
    return out;
  }

  const Root* operator->() const { return root_; }

 private:
  std::vector<uint64_t> copy_;
  const Root* root_ = nullptr;
};

inline Result<Verified<tables::Message>> VerifyMessage(BytesView metadata) {
  DOLIUM_TRY(auto message, Verified<tables::Message>::Make(metadata, "a message"));
  if (message->version() != kVersion4 && message->version() != kVersion5) {
    return Unsupported(fmt::format("Arrow metadata of version V{}, expected V4 or V5",
                                   message->version() + 1));
  }
  if (message->body() < 0) {
    return Corrupt(fmt::format("a message body of {} bytes", message->body()));
  }
  return message;
}

}  // namespace dolium::dvid
