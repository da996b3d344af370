#include "dolium/codec/lz4_frame.h"

#include <lz4frame.h>

#include <memory>
#include <new>

#include <fmt/format.h>

namespace dolium {

namespace {

struct FreeContext {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

}  // namespace

Result<void> Lz4FrameDecodeInto(BytesView stored, MutableBytes into) {
  LZ4F_dctx* raw = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION)) != 0) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<LZ4F_dctx, FreeContext> context(raw);
  size_t taken = 0;
  size_t made = 0;
  while (true) {
    // The library wants a place even for nothing.
    std::byte nowhere{};
    size_t from = stored.size() - taken;
    size_t to = into.size() - made;
    const size_t hint =
        LZ4F_decompress(context.get(), into.empty() ? &nowhere : into.data() + made, &to,
                        stored.data() + taken, &from, nullptr);
    if (LZ4F_isError(hint) != 0) {
      return Corrupt(fmt::format("lz4 frame: {}", LZ4F_getErrorName(hint)));
    }
    taken += from;
    made += to;
    if (hint == 0) break;
    if (from == 0 && to == 0) {
      return Corrupt(fmt::format("lz4 frame of {} bytes {}", stored.size(),
                                 made == into.size() && taken < stored.size()
                                     ? fmt::format("decodes to more than {}", made)
                                     : std::string("is cut short")));
    }
  }
  if (taken != stored.size()) {
    return Corrupt(
        fmt::format("{} bytes that are not one lz4 frame: the first ends at {}",
                    stored.size(), taken));
  }
  if (made != into.size()) {
    return Corrupt(
        fmt::format("lz4 frame decodes to {} bytes, {} expected", made, into.size()));
  }
  return {};
}

ByteVector Lz4FrameEncode(BytesView value) {
  LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
  preferences.frameInfo.contentSize = value.size();
  ByteVector out(LZ4F_compressFrameBound(value.size(), &preferences));
  const size_t size = LZ4F_compressFrame(out.data(), out.size(), value.data(),
                                         value.size(), &preferences);
  if (LZ4F_isError(size) != 0) throw std::bad_alloc();  // The only way it can fail here.
  out.resize(size);
  return out;
}

}  // namespace dolium
