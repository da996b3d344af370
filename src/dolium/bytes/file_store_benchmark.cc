// Hot reads from a local file: what one ReadInto costs beside the copy itself.

#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "dolium/bytes/file_store.h"

namespace dolium {
namespace {

constexpr uint64_t kFileBytes = uint64_t{64} << 20;

// One file for all, in a folder that goes at the end.
class HotFile {
 public:
  HotFile() {
    if (mkdtemp(folder_) == nullptr) std::abort();
    auto opened = FileStore::Open(folder_, {/*sync=*/false});
    if (!opened) std::abort();
    store_ = *opened;
    const ByteVector bytes(kFileBytes, std::byte{1});
    if (!store_->Put("hot", bytes, Precondition::None())) std::abort();
    generation_ = (*store_->Stat("hot"))->generation;
  }
  ~HotFile() {
    unlink((std::string(folder_) + "/hot").c_str());
    rmdir(folder_);
  }

  const FileStore& store() const { return *store_; }
  const Generation& generation() const { return generation_; }

 private:
  char folder_[32] = "/tmp/dolium-benchmark-XXXXXX";
  std::shared_ptr<FileStore> store_;
  Generation generation_;
};

const HotFile& Hot() {
  static const HotFile file;
  return file;
}

uint64_t NextOffset(uint64_t& state, uint64_t length) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (state >> 20) % (kFileBytes - length);
}

void ReadOne(benchmark::State& state, const ReadOptions& options) {
  const auto length = static_cast<size_t>(state.range(0));
  ByteVector buffer(length);
  uint64_t random = 1;
  for (auto _ : state) {
    const ReadSlice slice{NextOffset(random, length), buffer};
    if (!Hot().store().ReadInto("hot", {&slice, 1}, options)) std::abort();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void ReadOneSlice(benchmark::State& state) { ReadOne(state, {}); }
BENCHMARK(ReadOneSlice)->Arg(4096)->Arg(256 << 10);

void ReadOneSliceOfAGeneration(benchmark::State& state) {
  ReadOne(state, {Hot().generation()});
}
BENCHMARK(ReadOneSliceOfAGeneration)->Arg(4096);

// The least it could cost.
void PlainPread(benchmark::State& state) {
  const auto local = Hot().store().OpenLocal("hot");
  if (!local || !*local) std::abort();
  const auto length = static_cast<size_t>(state.range(0));
  ByteVector buffer(length);
  uint64_t random = 1;
  for (auto _ : state) {
    const auto offset = static_cast<off_t>(NextOffset(random, length));
    if (pread((*local)->fd, buffer.data(), length, offset) < 0) std::abort();
  }
}
BENCHMARK(PlainPread)->Arg(4096)->Arg(256 << 10);

void ReadThousandSlices(benchmark::State& state) {
  const auto length = static_cast<size_t>(state.range(0));
  ByteVector buffers(1000 * length);
  std::vector<ReadSlice> slices(1000);
  uint64_t random = 1;
  for (auto _ : state) {
    for (size_t i = 0; i < slices.size(); ++i) {
      slices[i] = {NextOffset(random, length),
                   MutableBytes(buffers).subspan(i * length, length)};
    }
    if (!Hot().store().ReadInto("hot", slices, {})) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(ReadThousandSlices)->Arg(4096);

}  // namespace
}  // namespace dolium
