// IndexCache: what a container is, too, if it keeps parts of its index in memory.
#pragma once

#include <string_view>

namespace dolium {

class IndexCache {
 public:
  // Drops what is kept for a key, so that the next Find() reads it again. May be called
  // from many threads.
  virtual void Forget(std::string_view key) const = 0;

 protected:
  ~IndexCache() = default;
};

}  // namespace dolium
