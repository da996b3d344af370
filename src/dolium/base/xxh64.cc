#include "dolium/base/xxh64.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dolium {

struct Xxh64Stream::State {
  XXH64_state_t state;
};

uint64_t Xxh64(BytesView data) { return XXH64(data.data(), data.size(), 0); }

Xxh64Stream::Xxh64Stream() : state_(std::make_unique<State>()) {
  XXH64_reset(&state_->state, 0);
}
Xxh64Stream::~Xxh64Stream() = default;
Xxh64Stream::Xxh64Stream(Xxh64Stream&&) noexcept = default;
Xxh64Stream& Xxh64Stream::operator=(Xxh64Stream&&) noexcept = default;

void Xxh64Stream::Add(BytesView data) {
  XXH64_update(&state_->state, data.data(), data.size());
}

uint64_t Xxh64Stream::value() const { return XXH64_digest(&state_->state); }

}  // namespace dolium
