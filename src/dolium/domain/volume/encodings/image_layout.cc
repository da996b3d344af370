#include "dolium/domain/volume/encodings/image_layout.h"

#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"

namespace dolium::volume {
namespace {

template <size_t kChannels, size_t kBytes>
void Split(const std::byte* pixels, size_t count, std::byte* planes, size_t plane_bytes) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < kChannels; ++c) {
      std::memcpy(planes + c * plane_bytes + i * kBytes,
                  pixels + (i * kChannels + c) * kBytes, kBytes);
    }
  }
}

template <size_t kChannels, size_t kBytes>
void Join(const std::byte* planes, size_t plane_bytes, size_t count, std::byte* pixels) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < kChannels; ++c) {
      std::memcpy(pixels + (i * kChannels + c) * kBytes,
                  planes + c * plane_bytes + i * kBytes, kBytes);
    }
  }
}

#if defined(__x86_64__)

// Sixteen pixels of three bytes are three registers, and so are their planes. Each plane
// is made of bytes out of each register of pixels, and the other way round.
constexpr size_t kLanes = 16;
constexpr size_t kParts = 3;
using Shuffle = std::array<uint8_t, kLanes>;
using Shuffles = std::array<std::array<Shuffle, kParts>, kParts>;  // [to][from]

constexpr uint8_t kNone = 0x80;

constexpr Shuffles kSplitShuffles = [] {
  Shuffles shuffles{};
  for (size_t plane = 0; plane < kParts; ++plane) {
    for (size_t part = 0; part < kParts; ++part) {
      for (size_t i = 0; i < kLanes; ++i) {
        const size_t at = i * kParts + plane;
        shuffles[plane][part][i] =
            at / kLanes == part ? static_cast<uint8_t>(at % kLanes) : kNone;
      }
    }
  }
  return shuffles;
}();

constexpr Shuffles kJoinShuffles = [] {
  Shuffles shuffles{};
  for (size_t part = 0; part < kParts; ++part) {
    for (size_t plane = 0; plane < kParts; ++plane) {
      for (size_t i = 0; i < kLanes; ++i) {
        const size_t at = part * kLanes + i;
        shuffles[part][plane][i] =
            at % kParts == plane ? static_cast<uint8_t>(at / kParts) : kNone;
      }
    }
  }
  return shuffles;
}();

// `blocks` times sixteen pixels. `from` and `to` are the first registers, which move on
// by `from_step` and `to_step`.
__attribute__((target("ssse3"))) void ShuffleBlocks(
    const Shuffles& shuffles, const std::array<const std::byte*, kParts>& from,
    size_t from_step, const std::array<std::byte*, kParts>& to, size_t to_step,
    size_t blocks) {
  // Written out: the compiler would keep arrays of them in memory.
  const auto load = [](const void* at) __attribute__((target("ssse3"))) {
    return _mm_loadu_si128(static_cast<const __m128i*>(at));
  };
  const auto store = [](void* at, __m128i a, __m128i b,
                        __m128i c) __attribute__((target("ssse3"))) {
    _mm_storeu_si128(static_cast<__m128i*>(at), _mm_or_si128(_mm_or_si128(a, b), c));
  };
  const __m128i mask00 = load(&shuffles[0][0]), mask01 = load(&shuffles[0][1]);
  const __m128i mask02 = load(&shuffles[0][2]), mask10 = load(&shuffles[1][0]);
  const __m128i mask11 = load(&shuffles[1][1]), mask12 = load(&shuffles[1][2]);
  const __m128i mask20 = load(&shuffles[2][0]), mask21 = load(&shuffles[2][1]);
  const __m128i mask22 = load(&shuffles[2][2]);
  const std::byte* from0 = from[0];
  const std::byte* from1 = from[1];
  const std::byte* from2 = from[2];
  std::byte* to0 = to[0];
  std::byte* to1 = to[1];
  std::byte* to2 = to[2];
  for (size_t block = 0; block < blocks; ++block) {
    const __m128i in0 = load(from0 + block * from_step);
    const __m128i in1 = load(from1 + block * from_step);
    const __m128i in2 = load(from2 + block * from_step);
    store(to0 + block * to_step, _mm_shuffle_epi8(in0, mask00),
          _mm_shuffle_epi8(in1, mask01), _mm_shuffle_epi8(in2, mask02));
    store(to1 + block * to_step, _mm_shuffle_epi8(in0, mask10),
          _mm_shuffle_epi8(in1, mask11), _mm_shuffle_epi8(in2, mask12));
    store(to2 + block * to_step, _mm_shuffle_epi8(in0, mask20),
          _mm_shuffle_epi8(in1, mask21), _mm_shuffle_epi8(in2, mask22));
  }
}

bool HasShuffle() {
  static const bool has = __builtin_cpu_supports("ssse3") != 0;
  return has;
}

template <>
void Split<3, 1>(const std::byte* pixels, size_t count, std::byte* planes,
                 size_t plane_bytes) {
  size_t done = 0;
  if (HasShuffle()) {
    const size_t blocks = count / kLanes;
    ShuffleBlocks(
        kSplitShuffles, {pixels, pixels + kLanes, pixels + 2 * kLanes}, kParts * kLanes,
        {planes, planes + plane_bytes, planes + 2 * plane_bytes}, kLanes, blocks);
    done = blocks * kLanes;
  }
  for (size_t i = done; i < count; ++i) {
    for (size_t c = 0; c < kParts; ++c)
      planes[c * plane_bytes + i] = pixels[i * kParts + c];
  }
}

template <>
void Join<3, 1>(const std::byte* planes, size_t plane_bytes, size_t count,
                std::byte* pixels) {
  size_t done = 0;
  if (HasShuffle()) {
    const size_t blocks = count / kLanes;
    ShuffleBlocks(kJoinShuffles, {planes, planes + plane_bytes, planes + 2 * plane_bytes},
                  kLanes, {pixels, pixels + kLanes, pixels + 2 * kLanes}, kParts * kLanes,
                  blocks);
    done = blocks * kLanes;
  }
  for (size_t i = done; i < count; ++i) {
    for (size_t c = 0; c < kParts; ++c)
      pixels[i * kParts + c] = planes[c * plane_bytes + i];
  }
}

#endif

using SplitFunction = void (*)(const std::byte*, size_t, std::byte*, size_t);
using JoinFunction = void (*)(const std::byte*, size_t, size_t, std::byte*);

// [bytes - 1][channels - 1]
constexpr SplitFunction kSplit[2][4] = {
    {&Split<1, 1>, &Split<2, 1>, &Split<3, 1>, &Split<4, 1>},
    {&Split<1, 2>, &Split<2, 2>, &Split<3, 2>, &Split<4, 2>},
};
constexpr JoinFunction kJoin[2][4] = {
    {&Join<1, 1>, &Join<2, 1>, &Join<3, 1>, &Join<4, 1>},
    {&Join<1, 2>, &Join<2, 2>, &Join<3, 2>, &Join<4, 2>},
};

}  // namespace

Result<ImageSize> ImageSizeFor(const ArrayShape& shape, uint64_t max_side,
                               std::string_view format) {
  const auto x = static_cast<uint64_t>(shape.size[0]);
  const auto y = static_cast<uint64_t>(shape.size[1]);
  const auto z = static_cast<uint64_t>(shape.size[2]);
  const auto fitting = [max_side](std::optional<uint64_t> width,
                                  std::optional<uint64_t> height) {
    return width && height && *width <= max_side && *height <= max_side;
  };
  const auto yz = CheckedMul(y, z);
  if (fitting(x, yz))
    return ImageSize{static_cast<uint32_t>(x), static_cast<uint32_t>(*yz)};
  const auto xy = CheckedMul(x, y);
  if (fitting(xy, z))
    return ImageSize{static_cast<uint32_t>(*xy), static_cast<uint32_t>(z)};
  return Unsupported(
      fmt::format("a chunk of {} voxels does not fit into a {} image, whose sides are at "
                  "most {}; use smaller chunks",
                  ToString(shape.size), format, max_side));
}

Result<void> CheckImage(const ArrayShape& shape, uint64_t width, uint64_t height,
                        uint64_t components) {
  const auto pixels = CheckedMul(width, height);
  if (!pixels || pixels != shape.voxels()) {
    return Corrupt(fmt::format("image of {} x {} pixels for a chunk of {} voxels", width,
                               height, ToString(shape.size)));
  }
  if (components != static_cast<uint64_t>(shape.channels)) {
    return Corrupt(fmt::format("image of {} components for a chunk of {} channels",
                               components, shape.channels));
  }
  return {};
}

void SplitChannels(const ArrayShape& shape, BytesView pixels, uint64_t first,
                   MutableBytes voxels) {
  const size_t sample = SizeOf(shape.type);
  const auto channels = static_cast<size_t>(shape.channels);
  kSplit[sample - 1][channels - 1](pixels.data(), pixels.size() / (sample * channels),
                                   voxels.data() + first * sample,
                                   voxels.size() / channels);
}

void JoinChannels(const ArrayShape& shape, BytesView voxels, uint64_t first,
                  MutableBytes pixels) {
  const size_t sample = SizeOf(shape.type);
  const auto channels = static_cast<size_t>(shape.channels);
  kJoin[sample - 1][channels - 1](voxels.data() + first * sample,
                                  voxels.size() / channels,
                                  pixels.size() / (sample * channels), pixels.data());
}

}  // namespace dolium::volume
