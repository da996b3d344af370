#include "dolium/domain/cas/xorb_seal.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"

namespace dolium::cas {
namespace {

// The end of a footer: the nonce, twelve zeros, the length.
constexpr size_t kZeros = 12;
constexpr size_t kSealEnd = 4 + kZeros + xet::kXorbFooterLengthSize;

}  // namespace

void SealFooter(MutableBytes footer, uint32_t records) {
  const size_t at = footer.size() - kSealEnd;
  StoreLE(footer.data() + at, Crc32c(BytesView(footer).first(at), records));
}

Result<void> CheckSeal(const OpenedXorb& xorb, uint32_t records) {
  ByteVector footer(xet::XorbFooterBytes(xorb.index.size()));
  DOLIUM_TRY_VOID(xorb.object.Read(xorb.index.record_ends.back(), footer));
  const size_t at = footer.size() - kSealEnd;
  const uint32_t said = LoadLE<uint32_t>(footer.data() + at);
  const uint32_t found = Crc32c(BytesView(footer).first(at), records);
  if (said != found) {
    return Corrupt(fmt::format(
        "its bytes have the checksum {:08x}, its footer says {:08x}", found, said));
  }
  const BytesView zeros = BytesView(footer).subspan(at + 4, kZeros);
  if (std::any_of(zeros.begin(), zeros.end(),
                  [](std::byte byte) { return byte != std::byte{0}; })) {
    return Corrupt("the reserved bytes of its footer are not zero");
  }
  return {};
}

}  // namespace dolium::cas
