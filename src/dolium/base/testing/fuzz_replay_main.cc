// A main() for fuzz targets built without libFuzzer: runs every file of a corpus folder
// through one target, so that ctest covers what the fuzzers have found. The build writes
// fuzz_targets.inc, a row for each target, and compiles each target's function as
// <name>_input.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#define DOLIUM_FUZZ_TARGET(name) \
  extern "C" int name##_input(const uint8_t* data, size_t size);
#include "fuzz_targets.inc"
#undef DOLIUM_FUZZ_TARGET

namespace {

using Target = int (*)(const uint8_t* data, size_t size);

struct NamedTarget {
  std::string_view name;
  Target run;
};

constexpr NamedTarget kTargets[] = {
#define DOLIUM_FUZZ_TARGET(name) {#name, name##_input},
#include "fuzz_targets.inc"
#undef DOLIUM_FUZZ_TARGET
};

Target FindTarget(std::string_view name) {
  for (const NamedTarget& target : kTargets) {
    if (target.name == name) return target.run;
  }
  throw std::runtime_error(std::string(name) + ": no such fuzz target");
}

std::vector<std::filesystem::path> ListCorpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  if (files.empty()) throw std::runtime_error(folder.string() + ": the corpus is empty");
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<char> ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.good() && !stream.eof())
    throw std::runtime_error(path.string() + ": cannot read");
  return bytes;
}

void Replay(Target target, const std::filesystem::path& folder) {
  const auto files = ListCorpus(folder);
  for (const auto& path : files) {
    const std::vector<char> bytes = ReadFile(path);
    // Named before it runs: a crash must show its input.
    std::fprintf(stderr, "%s (%zu bytes)\n", path.c_str(), bytes.size());
    target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  std::fprintf(stderr, "replayed %zu inputs\n", files.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s <target> <corpus folder>\n", argv[0]);
    return 2;
  }
  try {
    Replay(FindTarget(argv[1]), argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
