// Writing folders of meshes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/writer.h"
#include "dolium/domain/mesh/mesh.h"
#include "dolium/domain/mesh/multires_info.h"
#include "dolium/domain/mesh/multires_manifest.h"
#include "dolium/domain/objects/object_writer.h"

namespace dolium::mesh {

// A mesh that is ready to be stored. Sizes in the manifest are those of the fragments.
struct EncodedMesh {
  Manifest manifest;
  ByteVector fragments;  // one after another, finest level first
};

// A mesh of one level and one fragment: its bounding box is the cell.
// kInvalidArgument if it is empty or not valid. Positions are in units of the stored
// model.
Result<EncodedMesh> EncodeSingleLevel(const Mesh& mesh, unsigned bits);

// A new folder of multi-resolution meshes, sharded if the info says so. One thread at a
// time.
class MultiresWriter {
 public:
  // kInvalidArgument unless Validate(info) holds; kExists if the folder has an info.
  static Result<MultiresWriter> Create(Location folder, MultiresInfo info,
                                       const WriterOptions& options = {});

  // Some of the meshes of a folder, as ObjectWriter::CreatePart() has it.
  static Result<MultiresWriter> CreatePart(Location folder, MultiresInfo info,
                                           const WriterOptions& options = {});

  // kInvalidArgument for id 0, and for what WriteManifest() refuses, or if fragments have
  // another size than the manifest lists.
  Result<void> Add(uint64_t id, const EncodedMesh& mesh);

  Result<WriteSummary> Finish() { return writer_.Finish(ToJson(info_)); }
  Result<WriteSummary> FinishPart() { return writer_.FinishPart(); }

 private:
  MultiresWriter(MultiresInfo info, objects::ObjectWriter writer)
      : info_(std::move(info)), writer_(std::move(writer)) {}

  MultiresInfo info_;
  objects::ObjectWriter writer_;
};

// A new folder of legacy meshes, each of one fragment `ID:0:0`. One thread at a time.
class LegacyWriter {
 public:
  static Result<LegacyWriter> Create(Location folder);

  // Positions are in nanometres. kInvalidArgument unless Validate(mesh) holds.
  Result<void> Add(uint64_t id, const Mesh& mesh);

  Result<WriteSummary> Finish() { return writer_.Finish(LegacyInfoText()); }

 private:
  LegacyWriter(Location folder, objects::ObjectWriter writer)
      : folder_(std::move(folder)), writer_(std::move(writer)) {}

  Location folder_;
  objects::ObjectWriter writer_;
};

}  // namespace dolium::mesh
