#include "dolium/formats/shardpack/testing/shards.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/container/testing/must.h"
#include "dolium/formats/shardpack/shard.h"
#include "dolium/formats/shardpack/stream_reader.h"
#include "dolium/formats/shardpack/verify.h"

namespace dolium::shardpack {

namespace {

// FIPS 180-4: the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kSha256 = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

uint32_t BigEndian(const std::byte* at) {
  return __builtin_bswap32(LoadLE<uint32_t>(at));
}

void Sha256Block(std::array<uint32_t, 8>& state, const std::byte* block) {
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i) w[i] = BigEndian(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15];
    const uint32_t b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                        ((e & f) ^ (~e & g)) + kSha256[i] + w[i];
    const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                        ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += add[i];
}

// Bytes from memory, a few at a time.
class MemoryInput final : public ByteInput {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(AsBytes(bytes)) {}

  Result<size_t> Read(MutableBytes into) override {
    const size_t size = std::min({into.size(), bytes_.size(), size_t{1000}});
    std::ranges::copy(bytes_.first(size), into.begin());
    bytes_ = bytes_.subspan(size);
    return size;
  }

 private:
  BytesView bytes_;
};

}  // namespace

std::string TestFile(const std::string& path) {
  std::ifstream file(DOLIUM_SOURCE_DIR "/src/dolium/formats/shardpack/testdata/" + path,
                     std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::map<std::string, nlohmann::json> TestJson(const std::string& path) {
  return nlohmann::json::parse(TestFile(path))
      .get<std::map<std::string, nlohmann::json>>();
}

std::string ToHex(BytesView bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

std::string Sha256(BytesView bytes) {
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  ByteVector padded(bytes.begin(), bytes.end());
  padded.push_back(std::byte{0x80});
  while (padded.size() % 64 != 56) padded.push_back(std::byte{0});
  const uint64_t bits = 8 * uint64_t{bytes.size()};
  for (unsigned i = 0; i < 8; ++i) {
    padded.push_back(static_cast<std::byte>(bits >> (56 - 8 * i)));
  }
  for (size_t at = 0; at < padded.size(); at += 64)
    Sha256Block(state, padded.data() + at);
  std::string text;
  for (const uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

Location InMemory(std::string_view bytes, const std::string& name) {
  auto store = std::make_shared<MemoryStore>("test");
  Must(store->Put(name, AsBytes(bytes), Precondition::None()));
  return {store, name};
}

std::string BytesAt(const Location& location) {
  const auto whole = location.store->ReadWhole(location.path, uint64_t{1} << 30);
  return whole ? std::string(AsText(whole->bytes)) : "";
}

Bytes Text(std::string_view text) { return Bytes::Copy(AsBytes(text)); }

Sample RandomSample(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  Sample sample{.key = fmt::format("sample/{:03}/{}", seed % 1000, below(1000))};
  if (below(3) == 0) {
    sample.metadata = {static_cast<MetadataFormat>(1 + below(4)), Text("{\"m\":1}")};
  }
  const uint64_t files = 1 + below(5);
  for (uint64_t i = 0; i < files; ++i) {
    File file{.name = fmt::format("{}.{}", i, below(2) == 0 ? "txt" : "bin"),
              .content_type = below(4) == 0 ? "" : "text/plain"};
    std::string data;
    const uint64_t size = below(3) == 0 ? below(20) : below(3000);
    const uint64_t letters = below(2) == 0 ? 4 : 256;
    while (data.size() < size) data += static_cast<char>(below(letters));
    file.data = Text(data);
    if (below(5) == 0) file.metadata = {MetadataFormat::kOpaque, Text("about it")};
    if (below(5) == 0) file.modified = static_cast<int64_t>(random());
    if (below(5) == 0) file.mode = static_cast<uint32_t>(below(0777));
    if (below(5) == 0) file.array = ArrayShape{"<f4", {below(9), below(9)}};
    if (below(6) == 0) file.compression = static_cast<Compression>(below(4));
    sample.files.push_back(std::move(file));
  }
  return sample;
}

std::vector<Sample> RandomSamples(uint64_t seed, size_t count) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < count; ++i) samples.push_back(RandomSample(1000 * seed + i));
  return samples;
}

void ExpectEqual(const Sample& found, const Sample& expected) {
  EXPECT_EQ(found.key, expected.key);
  EXPECT_EQ(found.tombstone, expected.tombstone);
  EXPECT_EQ(found.metadata.format, expected.metadata.format);
  EXPECT_EQ(AsText(found.metadata.bytes), AsText(expected.metadata.bytes));
  ASSERT_EQ(found.files.size(), expected.files.size()) << expected.key;
  for (size_t i = 0; i < found.files.size(); ++i) {
    const File& a = found.files[i];
    const File& b = expected.files[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.content_type, b.content_type);
    EXPECT_TRUE(Equal(a.data, b.data)) << expected.key << " " << b.name;
    EXPECT_EQ(a.metadata.format, b.metadata.format);
    EXPECT_EQ(AsText(a.metadata.bytes), AsText(b.metadata.bytes));
    EXPECT_EQ(a.modified, b.modified);
    EXPECT_EQ(a.mode, b.mode);
    EXPECT_EQ(a.array, b.array);
  }
}

std::string Blocks(const std::vector<Sample>& samples, const EncodeOptions& options) {
  std::string blocks;
  for (const Sample& sample : samples) {
    for (const Bytes& segment : Must(EncodeRecord(sample, options)).segments) {
      blocks += AsText(segment);
    }
  }
  return blocks;
}

std::string MakeShard(const std::vector<Sample>& samples,
                      const ShardWriterOptions& options) {
  const Location location{std::make_shared<MemoryStore>("made"), "a.shardpack"};
  const auto writer = Must(ShardWriter::Create(location, options));
  for (const Sample& sample : samples) {
    Must(writer->Append(Must(EncodeRecord(sample, options.encode))));
  }
  Must(writer->Finish());
  return BytesAt(location);
}

std::vector<std::string> Pack(const std::vector<Sample>& samples, PackOptions options,
                              PackSummary* summary) {
  const auto store = std::make_shared<MemoryStore>("packed");
  options.place = [store](uint64_t number) {
    return Location{store, fmt::format("{:06}.shardpack", number)};
  };
  const auto writer = Must(PackWriter::Create(std::move(options)));
  for (const Sample& sample : samples) Must(writer->Add(sample));
  const PackSummary made = Must(writer->Finish());
  std::vector<std::string> shards;
  for (const ShardSummary& shard : made.shards) {
    shards.push_back(BytesAt(shard.location));
    EXPECT_EQ(shards.back().size(), shard.bytes);
  }
  if (summary != nullptr) *summary = made;
  return shards;
}

std::vector<Sample> ReadSamples(const Location& location) {
  const auto shard = Must(Shard::Open(location));
  const ContentOptions contents = Must(shard->content_options());
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < shard->size(); ++i) {
    samples.push_back(Must(Must(shard->Read(i)).Decode(contents)));
  }
  return samples;
}

std::vector<std::string> Verdicts(const Location& location, bool contents) {
  std::set<std::string> verdicts;
  const auto summary =
      VerifyShard(location, {.contents = contents}, [&](const Finding& finding) {
        verdicts.insert((finding.severity == Severity::kError ? "error " : "warning ") +
                        finding.kind);
      });
  EXPECT_TRUE(summary) << summary.error().message;
  return {verdicts.begin(), verdicts.end()};
}

std::unique_ptr<ByteInput> TestInput(std::string_view bytes) {
  return std::make_unique<MemoryInput>(bytes);
}

Streamed Stream(std::string_view bytes) {
  Streamed streamed;
  StreamReader reader(TestInput(bytes), {});
  while (true) {
    auto record = reader.Next();
    streamed.count = reader.records();
    if (record && !*record) {
      streamed.verdict = "complete";
      return streamed;
    }
    if (record) {
      streamed.records.push_back(**record);
    } else if (reader.is_done()) {
      streamed.verdict = KindOf(record);
      return streamed;
    } else {
      streamed.errors.push_back(record.error());
    }
  }
}

}  // namespace dolium::shardpack
