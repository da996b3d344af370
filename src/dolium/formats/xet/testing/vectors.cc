#include "dolium/formats/xet/testing/vectors.h"

#include <fstream>
#include <stdexcept>

#include "dolium/base/endian.h"

namespace dolium::xet {

namespace {

nlohmann::json ReadVectors() {
  const std::string path =
      DOLIUM_SOURCE_DIR "/src/dolium/formats/xet/testdata/vectors.json";
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot open");
  return nlohmann::json::parse(file);
}

}  // namespace

const nlohmann::json& Vectors() {
  static const nlohmann::json vectors = ReadVectors();
  return vectors;
}

ByteVector FromHex(std::string_view digits) {
  ByteVector bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(
        static_cast<std::byte>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Hash HashOf(const nlohmann::json& text) {
  return ParseHash(text.get_ref<const std::string&>()).value();
}

Hash RawHashOf(const nlohmann::json& text) {
  return Hash::Load(FromHex(text.get_ref<const std::string&>()).data());
}

ByteVector SplitMix(uint64_t seed, size_t size) {
  ByteVector bytes((size + 7) / 8 * 8);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    seed += 0x9E3779B97F4A7C15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    StoreLE(bytes.data() + i, z ^ (z >> 31));
  }
  bytes.resize(size);
  return bytes;
}

ByteVector Repeated(uint8_t byte, size_t size) {
  return ByteVector(size, static_cast<std::byte>(byte));
}

ByteVector Text(std::string_view text) {
  const BytesView bytes = AsBytes(text);
  return ByteVector(bytes.begin(), bytes.end());
}

std::vector<ByteVector> ChunksOfShardVector() {
  const ByteVector data = SplitMix(0, 1000000);
  std::vector<ByteVector> chunks = {Text("Hello World!")};
  size_t start = 0;
  for (const auto& end : Vectors()["chunking"]["cases"][0]["ends"]) {
    const auto to = end.get<size_t>();
    chunks.emplace_back(data.begin() + static_cast<ptrdiff_t>(start),
                        data.begin() + static_cast<ptrdiff_t>(to));
    start = to;
  }
  return chunks;
}

}  // namespace dolium::xet
