// Names of chunks, xorbs and files of Xet; xorbs as bytes; and shards as bytes: keyed,
// united, subtracted, and searched for chunks.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "dolium/formats/xet/file_hash.h"
#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_lookup.h"
#include "dolium/formats/xet/mdb_sets.h"
#include "dolium/formats/xet/mdb_writer.h"
#include "dolium/formats/xet/xorb_stream.h"
#include "dolium/formats/xet/xorb_writer.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"

namespace dolium::python {
namespace {

using xet::Hash;
using xet::MerkleNode;
using xet::Scheme;
using xet::ShardView;

using NamedSizes = std::vector<std::pair<std::string, uint64_t>>;

NamedSizes NamesOf(const std::vector<MerkleNode>& nodes) {
  NamedSizes named;
  named.reserve(nodes.size());
  for (const MerkleNode& node : nodes) {
    named.emplace_back(xet::ToString(node.hash), node.size);
  }
  return named;
}

std::vector<MerkleNode> FromPython(const NamedSizes& named) {
  std::vector<MerkleNode> nodes;
  nodes.reserve(named.size());
  for (const auto& [hash, size] : named) {
    nodes.push_back({Must(xet::ParseHash(hash)), size});
  }
  return nodes;
}

nb::list HashFiles(const nb::sequence& paths, bool sha256, size_t jobs) {
  std::vector<std::string> names;
  for (const nb::handle path : paths) names.push_back(LocationText(path));
  std::stop_source stop;
  std::vector<Result<xet::HashedFile>> hashed;
  RunInterruptible(stop, [&] {
    hashed = xet::HashFiles(
        names, {.with_sha256 = sha256, .jobs = jobs, .stop = stop.get_token()});
  });
  nb::list out;
  for (const auto& file : hashed) {
    const xet::HashedFile value = Must(file);
    nb::object digest = nb::none();
    if (value.sha256) {
      const std::string text = xet::ToString(xet::Sha256Field(*value.sha256));
      digest = nb::str(text.data(), text.size());
    }
    out.append(nb::make_tuple(xet::ToString(value.hash), value.size, digest));
  }
  return out;
}

std::string ChunkHash(nb::handle data) {
  const BorrowedBytes borrowed(data);
  return xet::ToString(WithoutGil([&] { return xet::ChunkHash(borrowed.view()); }));
}

NamedSizes Chunks(nb::handle data, size_t jobs) {
  const BorrowedBytes borrowed(data);
  std::stop_source stop;
  std::optional<Result<std::vector<MerkleNode>>> chunks;
  RunInterruptible(stop, [&] {
    chunks = xet::ChunkAndHash(borrowed.view(), {.jobs = jobs, .stop = stop.get_token()});
  });
  return NamesOf(Must(*std::move(chunks)));
}

std::string XorbHashOfChunks(const NamedSizes& chunks) {
  return xet::ToString(xet::MerkleRoot(FromPython(chunks)));
}

std::optional<Scheme> SchemeNamed(std::string_view name) {
  if (name == "auto") return std::nullopt;
  for (const Scheme scheme : {Scheme::kNone, Scheme::kLz4, Scheme::kBg4Lz4}) {
    if (name == xet::SchemeName(scheme)) return scheme;
  }
  throw nb::value_error("compression: expected auto, none, lz4 or bg4-lz4");
}

nb::tuple MakeXorb(const nb::sequence& chunks, std::string_view compression,
                   bool footer) {
  const std::optional<Scheme> scheme = SchemeNamed(compression);
  xet::SchemeChooser chooser;
  xet::ChunkCompressor compressor;
  xet::XorbWriter writer;
  for (const nb::handle chunk : chunks) {
    const BorrowedBytes borrowed(chunk);
    const BytesView bytes = borrowed.view();
    if (bytes.empty() || bytes.size() > xet::kMaxRawChunk) {
      throw nb::value_error("a chunk has 1 to 131072 bytes");
    }
    if (!writer.HasRoom(bytes.size())) throw nb::value_error("too much for one xorb");
    const nb::gil_scoped_release release;
    writer.Add(xet::ChunkHash(bytes), bytes.size(),
               compressor.Encode(bytes, scheme ? *scheme : chooser.Next(bytes)));
  }
  if (writer.chunks() == 0) throw nb::value_error("a xorb has at least one chunk");
  const auto xorb = writer.Finish(footer ? xet::XorbWriter::Footer::kVersion1
                                         : xet::XorbWriter::Footer::kNone);
  return nb::make_tuple(xet::ToString(xorb.index.hash), CopyToPython(xorb.object));
}

nb::tuple ReadXorb(nb::handle data, std::optional<std::string> name) {
  std::optional<Hash> expected;
  if (name) expected = Must(xet::ParseHash(*name));
  const BorrowedBytes borrowed(data);
  const xet::XorbIndex index = Must(WithoutGil(
      [&] { return xet::VerifyXorb(borrowed.view(), expected ? &*expected : nullptr); }));
  std::vector<MerkleNode> chunks;
  chunks.reserve(index.size());
  for (size_t i = 0; i < index.size(); ++i) {
    chunks.push_back({index.chunks[i], index.raw_size(i)});
  }
  return nb::make_tuple(xet::ToString(index.hash), NamesOf(chunks));
}

xet::ShardWriteOptions WriteOptions(uint64_t created, std::optional<uint64_t> expiry,
                                    bool footer = true) {
  xet::ShardWriteOptions options;
  options.with_footer = footer;
  options.created = created;
  options.expiry = expiry.value_or(xet::kNeverExpires);
  return options;
}

nb::str TextOf(const Hash& hash) {
  const std::string text = xet::ToString(hash);
  return nb::str(text.data(), text.size());
}

nb::tuple FileToPython(const xet::FileBlock& file) {
  nb::list terms;
  nb::list ranges;
  for (size_t i = 0; i < file.size(); ++i) {
    const xet::Term term = file.term(i);
    terms.append(nb::make_tuple(TextOf(term.xorb), term.first, term.end, term.raw_bytes));
    if (file.has_verification()) ranges.append(TextOf(file.verification(i)));
  }
  const auto sha256 = file.sha256();
  return nb::make_tuple(
      TextOf(file.hash()), file.raw_bytes(), terms,
      file.has_verification() ? nb::object(ranges) : nb::object(nb::none()),
      sha256 ? nb::object(TextOf(*sha256)) : nb::object(nb::none()));
}

nb::tuple XorbToPython(const xet::XorbBlock& xorb) {
  nb::list chunks;
  for (size_t i = 0; i < xorb.size(); ++i) {
    const xet::ChunkEntry chunk = xorb.chunk(i);
    chunks.append(nb::make_tuple(TextOf(chunk.hash), chunk.raw_bytes, chunk.offset,
                                 (chunk.flags & xet::kGloballyEligible) != 0));
  }
  return nb::make_tuple(TextOf(xorb.hash()), chunks, xorb.raw_bytes(),
                        xorb.stored_bytes());
}

nb::object FooterToPython(const std::optional<xet::ShardFooter>& footer) {
  if (!footer) return nb::none();
  return nb::make_tuple(
      footer->key.is_zero() ? nb::object(nb::none()) : nb::object(TextOf(footer->key)),
      footer->created,
      footer->expires() ? nb::object(nb::int_(footer->expiry)) : nb::object(nb::none()),
      footer->stored_on_disk, footer->materialized, footer->stored, footer->files.count,
      footer->xorbs.count, footer->chunks.count);
}

nb::tuple ReadShard(nb::handle data, bool check) {
  const BorrowedBytes borrowed(data);
  const ShardView view = Must(WithoutGil([&]() -> Result<ShardView> {
    DOLIUM_TRY(const ShardView opened, ShardView::Open(borrowed.view()));
    // Blocks are sound when all have been seen once.
    DOLIUM_TRY_VOID(opened.Scan({}));
    if (check) DOLIUM_TRY_VOID(CheckShard(opened));
    return opened;
  }));
  nb::list files;
  nb::list xorbs;
  Must(view.Scan({.file = [&](const xet::FileBlock& file) -> Result<void> {
                    files.append(FileToPython(file));
                    return {};
                  },
                  .xorb = [&](const xet::XorbBlock& xorb) -> Result<void> {
                    xorbs.append(XorbToPython(xorb));
                    return {};
                  }}));
  return nb::make_tuple(files, xorbs, FooterToPython(view.footer()));
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
  const BorrowedBytes borrowed(shard);
  ByteVector keyed;
  Must(WithoutGil([&]() -> Result<void> {
    DOLIUM_TRY(const ShardView view, ShardView::Open(borrowed.view()));
    return xet::WriteKeyed(view, hash, WriteOptions(created, expiry),
                           [&](BytesView bytes) {
                             Append(keyed, bytes);
                             return Result<void>();
                           });
  }));
  return CopyToPython(keyed);
}

nb::list UniteShards(const nb::sequence& shards, uint64_t created,
                     std::optional<uint64_t> expiry, bool footer) {
  const BorrowedShards borrowed(shards);
  return Outputs([&](const xet::NextSink& next) {
    return xet::UniteShards(borrowed.views,
                            {.write = WriteOptions(created, expiry, footer)}, next);
  });
}

nb::list SubtractShards(nb::handle shard, const nb::sequence& without, uint64_t created,
                        std::optional<uint64_t> expiry, bool footer) {
  const BorrowedBytes borrowed(shard);
  const ShardView view = Must(ShardView::Open(borrowed.view()));
  const BorrowedShards others(without);
  return Outputs([&](const xet::NextSink& next) {
    return xet::SubtractShards(view, others.views,
                               {.write = WriteOptions(created, expiry, footer)}, next);
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
  const BorrowedBytes borrowed(shard);
  const auto run = Must(WithoutGil([&]() -> Result<std::optional<xet::ChunkRun>> {
    DOLIUM_TRY(const ShardView view, ShardView::Open(borrowed.view()));
    return xet::FindRun(view, hashes, seconds);
  }));
  if (!run) return nb::none();
  return nb::make_tuple(xet::ToString(run->xorb.hash()), run->first,
                        run->first + run->count);
}

}  // namespace

void BindXet(nb::module_& module) {
  module.def("xet_hash_files", HashFiles, nb::arg("paths"), nb::arg("sha256") = false,
             nb::arg("jobs") = 0, "(hash, size, SHA-256 or None) of each file.");
  module.def("xet_chunk_hash", ChunkHash, nb::arg("data"),
             "The hash of bytes that are one chunk.");
  module.def("xet_chunks", Chunks, nb::arg("data"), nb::arg("jobs") = 0,
             "(hash, size) of each chunk of `data`.");
  module.def("xet_xorb_hash", XorbHashOfChunks, nb::arg("chunks"),
             "The hash of a xorb with these chunks, given as (hash, size).");
  module.def("xet_make_xorb", MakeXorb, nb::arg("chunks"),
             nb::arg("compression") = "auto", nb::arg("footer") = true,
             "(hash, bytes) of a xorb with these chunks, given as bytes.");
  module.def("xet_read_xorb", ReadXorb, nb::arg("data"), nb::arg("hash") = nb::none(),
             "(hash, [(hash, size) of each chunk]) of a xorb, all of which is checked.");
  module.def("xet_key_shard", KeyShard, nb::arg("shard"), nb::arg("key"),
             nb::arg("created") = 0, nb::arg("expiry") = nb::none(),
             "A shard with the xorbs of `shard`, their chunks under `key`.");
  module.def("xet_unite_shards", UniteShards, nb::arg("shards"), nb::arg("created") = 0,
             nb::arg("expiry") = nb::none(), nb::arg("footer") = true,
             "Shards with all that is in any of these.");
  module.def("xet_subtract_shards", SubtractShards, nb::arg("shard"), nb::arg("without"),
             nb::arg("created") = 0, nb::arg("expiry") = nb::none(),
             nb::arg("footer") = true,
             "Shards with what is in `shard` and in none of the others.");
  module.def("xet_read_shard", ReadShard, nb::arg("data"), nb::arg("check") = true,
             "(files, xorbs, footer) of a shard.");
  module.def("xet_find_run", FindRun, nb::arg("shard"), nb::arg("chunks"),
             nb::arg("now") = nb::none(),
             "(xorb, first, end) of the longest run of these chunks, or None.");
}

}  // namespace dolium::python
