// Shards of Xet as bytes: keyed, united, subtracted, and searched for chunks.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/formats/xet/mdb_lookup.h"
#include "dolium/formats/xet/mdb_sets.h"
#include "dolium/formats/xet/mdb_writer.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"

namespace dolium::python {
namespace {

using xet::ShardView;

xet::ShardWriteOptions WriteOptions(uint64_t created, std::optional<uint64_t> expiry) {
  xet::ShardWriteOptions options;
  options.created = created;
  options.expiry = expiry.value_or(xet::kNeverExpires);
  return options;
}

// Shards that Python lends.
struct BorrowedShards {
  explicit BorrowedShards(const nb::sequence& shards) {
    for (const nb::handle shard : shards) {
      bytes.push_back(std::make_unique<BorrowedBytes>(shard));
      views.push_back(Must(ShardView::Open(bytes.back()->view())));
    }
  }

  std::vector<std::unique_ptr<BorrowedBytes>> bytes;
  std::vector<ShardView> views;
};

// Calls `write` with a place for outputs, and gives those.
template <typename Write>
nb::list Outputs(Write write) {
  std::vector<std::unique_ptr<ByteVector>> outputs;
  const xet::NextSink next = [&]() -> Result<xet::ByteSink> {
    ByteVector* const to = outputs.emplace_back(std::make_unique<ByteVector>()).get();
    return xet::ByteSink([to](BytesView bytes) {
      Append(*to, bytes);
      return Result<void>();
    });
  };
  Must(WithoutGil([&]() -> Result<void> {
    DOLIUM_TRY_VOID(write(next));
    return {};
  }));
  nb::list out;
  for (const auto& bytes : outputs) out.append(CopyToPython(*bytes));
  return out;
}

nb::bytes KeyShard(nb::handle shard, const std::string& key, uint64_t created,
                   std::optional<uint64_t> expiry) {
  const xet::Hash hash = Must(xet::ParseHash(key));
  const BorrowedBytes lent(shard);
  ByteVector keyed;
  Must(WithoutGil([&]() -> Result<void> {
    DOLIUM_TRY(const ShardView view, ShardView::Open(lent.view()));
    return xet::WriteKeyed(view, hash, WriteOptions(created, expiry),
                           [&](BytesView bytes) {
                             Append(keyed, bytes);
                             return Result<void>();
                           });
  }));
  return CopyToPython(keyed);
}

nb::list UniteShards(const nb::sequence& shards, uint64_t created,
                     std::optional<uint64_t> expiry) {
  const BorrowedShards lent(shards);
  return Outputs([&](const xet::NextSink& next) {
    return xet::UniteShards(lent.views, {.write = WriteOptions(created, expiry)}, next);
  });
}

nb::list SubtractShards(nb::handle shard, const nb::sequence& without, uint64_t created,
                        std::optional<uint64_t> expiry) {
  const BorrowedBytes lent(shard);
  const ShardView view = Must(ShardView::Open(lent.view()));
  const BorrowedShards others(without);
  return Outputs([&](const xet::NextSink& next) {
    return xet::SubtractShards(view, others.views,
                               {.write = WriteOptions(created, expiry)}, next);
  });
}

nb::object FindRun(nb::handle shard, const std::vector<std::string>& chunks,
                   std::optional<uint64_t> now) {
  std::vector<xet::Hash> hashes;
  hashes.reserve(chunks.size());
  for (const std::string& chunk : chunks) hashes.push_back(Must(xet::ParseHash(chunk)));
  if (hashes.empty()) throw nb::value_error("no chunks to find");
  const uint64_t seconds = now.value_or(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                std::chrono::system_clock::now().time_since_epoch())
                                .count()));
  const BorrowedBytes lent(shard);
  const auto run = Must(WithoutGil([&]() -> Result<std::optional<xet::ChunkRun>> {
    DOLIUM_TRY(const ShardView view, ShardView::Open(lent.view()));
    return xet::FindRun(view, hashes, seconds);
  }));
  if (!run) return nb::none();
  return nb::make_tuple(xet::ToString(run->xorb.hash()), run->first,
                        run->first + run->count);
}

}  // namespace

void BindXetShards(nb::module_& module) {
  module.def("xet_key_shard", KeyShard, nb::arg("shard"), nb::arg("key"),
             nb::arg("created") = 0, nb::arg("expiry") = nb::none(),
             "A shard with the xorbs of `shard`, their chunks under `key`.");
  module.def("xet_unite_shards", UniteShards, nb::arg("shards"), nb::arg("created") = 0,
             nb::arg("expiry") = nb::none(), "Shards with all that is in any of these.");
  module.def("xet_subtract_shards", SubtractShards, nb::arg("shard"), nb::arg("without"),
             nb::arg("created") = 0, nb::arg("expiry") = nb::none(),
             "Shards with what is in `shard` and in none of the others.");
  module.def("xet_find_run", FindRun, nb::arg("shard"), nb::arg("chunks"),
             nb::arg("now") = nb::none(),
             "(xorb, first, end) of the longest run of these chunks, or None.");
}

}  // namespace dolium::python
