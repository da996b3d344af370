// MeshFragments: the files that the manifests of a mesh in the legacy format name.
//
// A manifest is a file `<segment>:<level>`, JSON with the names of its fragments, which
// may be any. So a file that no rule for names knows is a part of the mesh all the same.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/bytes/location.h"

namespace dolium::volume {

class MeshFragments {
 public:
  // `folders`: those of the mesh, and of one that it is a copy of, which may be gone.
  explicit MeshFragments(std::vector<Location> folders) : folders_(std::move(folders)) {}

  // Reads all manifests when it is first called. Those that cannot be read name nothing.
  bool Contains(std::string_view name);

 private:
  void Load();

  const std::vector<Location> folders_;
  std::optional<std::set<std::string, std::less<>>> names_;
};

}  // namespace dolium::volume
