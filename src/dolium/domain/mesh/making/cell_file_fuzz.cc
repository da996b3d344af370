// A file of cells, of arbitrary bytes: what is read of it makes closed surfaces, or is
// damage.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dolium/base/testing/require.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/domain/mesh/making/cell_file.h"
#include "dolium/domain/mesh/making/make_mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  namespace mesh = dolium::mesh;
  constexpr uint64_t kGroups = 2;
  const auto store = std::make_shared<dolium::MemoryStore>();
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  Require(store->Put("cells", bytes, dolium::Precondition::None()).has_value());
  const auto file = mesh::CellFile::Open({store, "cells"}, kGroups);
  if (!file) return 0;
  mesh::MakeOptions options;
  options.levels = 2;
  options.cell = {4, 4, 4};
  options.voxels = file->block();
  for (uint64_t group = 0; group < kGroups; ++group) {
    const auto runs = file->ReadRuns(group);
    if (!runs) continue;
    for (const mesh::CellRun& run : *runs) {
      const auto cells = file->ReadCells(run, run);
      Require(cells.has_value());
      const mesh::LabelRun found{file->block(), run.cells, *cells};
      auto surface = mesh::MakeLabelSurface(std::span(&found, 1), options);
      if (!surface) continue;
      Require(mesh::Validate(surface->mesh).has_value());
      const auto encoded = mesh::EncodeLevels(*std::move(surface), options);
      if (!encoded || !*encoded) continue;
      Require(CheckManifest((*encoded)->manifest, (*encoded)->fragments.size()).empty());
    }
  }
  return 0;
}
