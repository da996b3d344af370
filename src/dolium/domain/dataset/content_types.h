// Content types: what a file's name or its first bytes say about it.
//
// A content type is a hint, never a proof. All functions may be called from many threads.
#pragma once

#include <string_view>

#include "dolium/base/bytes.h"

namespace dolium::dataset {

// By the part after the name's last dot, or by the whole name if it has none ("jpg" is a
// name in WebDataset), whatever its case. Empty if it says nothing known.
std::string_view ContentTypeOfName(std::string_view name);

// By the first bytes, for images, archives and compressed data that begin with a mark of
// their own. Empty if they say nothing known.
std::string_view ContentTypeOfBytes(BytesView data);

// ContentTypeOfName, or else ContentTypeOfBytes, or else application/octet-stream.
std::string_view GuessContentType(std::string_view name, BytesView data);

// The usual end of names of this type, without the dot; empty if there is none known.
// Parameters ("; charset=utf-8") do not matter.
std::string_view UsualExtension(std::string_view content_type);

// Whether compressing such bytes again is a waste. Parameters do not matter.
bool IsAlreadyCompressed(std::string_view content_type);

}  // namespace dolium::dataset
