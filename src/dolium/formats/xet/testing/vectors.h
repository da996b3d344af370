// Inputs with expected outputs, from testdata/vectors.json, and the bytes they are about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/bytes.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::xet {

// The whole file; throws if it cannot be read.
const nlohmann::json& Vectors();

// Throw if the text is not what they want.
ByteVector FromHex(std::string_view digits);
Hash HashOf(const nlohmann::json& text);     // from the string form
Hash RawHashOf(const nlohmann::json& text);  // from plain digits

// `size` pseudo-random bytes: splitmix64.
ByteVector SplitMix(uint64_t seed, size_t size);
ByteVector Repeated(uint8_t byte, size_t size);
ByteVector Text(std::string_view text);

// The xorb chunks of the vector "shard": "Hello World!", then those of SplitMix(0, 10^6).
std::vector<ByteVector> ChunksOfShardVector();

}  // namespace dolium::xet
