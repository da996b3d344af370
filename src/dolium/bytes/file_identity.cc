#include "dolium/bytes/file_identity.h"

#include <cstring>

namespace dolium {

int64_t ModifiedNanoseconds(const struct stat& status) {
  // Wraps, on purpose, for times that files should not have (before 1678, after 2262).
  return static_cast<int64_t>(static_cast<uint64_t>(status.st_mtim.tv_sec) *
                                  1'000'000'000U +
                              static_cast<uint64_t>(status.st_mtim.tv_nsec));
}

FileIdentity::FileIdentity(const struct stat& status)
    : words_{status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
             static_cast<uint64_t>(ModifiedNanoseconds(status))} {}

Generation FileIdentity::ToGeneration() const {
  return {std::string(reinterpret_cast<const char*>(words_.data()), sizeof words_)};
}

bool FileIdentity::Is(const Generation& generation) const {
  return generation.token.size() == sizeof words_ &&
         std::memcmp(generation.token.data(), words_.data(), sizeof words_) == 0;
}

}  // namespace dolium
