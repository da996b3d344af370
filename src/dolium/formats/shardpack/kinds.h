// The kinds of damage and misfit that readers of ShardPack distinguish (Error::kind and
// Finding::kind).
#pragma once

#include <string_view>

namespace dolium::shardpack::kind {

inline constexpr std::string_view kNotShardPack = "not-shardpack";
inline constexpr std::string_view kIncomplete = "incomplete";
inline constexpr std::string_view kTrailingData = "trailing-data";
inline constexpr std::string_view kIndex = "index";
inline constexpr std::string_view kSection = "section";
inline constexpr std::string_view kRecord = "record";
inline constexpr std::string_view kEntry = "entry";
inline constexpr std::string_view kUnsupportedCodec = "unsupported-codec";
inline constexpr std::string_view kUnsupportedFeature = "unsupported-feature";
inline constexpr std::string_view kUnsupportedVersion = "unsupported-version";
inline constexpr std::string_view kLimit = "limit";
inline constexpr std::string_view kPadding = "padding";
// Of sets: another set does not have a sample that this one has.
inline constexpr std::string_view kNoSample = "no-sample";

}  // namespace dolium::shardpack::kind
