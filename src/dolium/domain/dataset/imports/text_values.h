// Bytes as text: base64, and whether they are UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::dataset {

// RFC 4648, with padding.
std::string ToBase64(BytesView bytes);
// kCorrupt if it is anything else; line breaks are not passed.
Result<ByteVector> FromBase64(std::string_view text);

// Whether it is well-formed UTF-8: no surrogates, no over-long forms.
bool IsUtf8(BytesView bytes);

// Hexadecimal digits, in lower case.
std::string ToHex(BytesView bytes);

}  // namespace dolium::dataset
