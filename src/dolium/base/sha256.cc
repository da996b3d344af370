#include "dolium/base/sha256.h"

#include <openssl/evp.h>

#include <new>

#include <fmt/format.h>

namespace dolium {

struct Sha256::State {
  State() : context(EVP_MD_CTX_new()) {
    // Nothing else than want of memory makes these fail.
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) {
      EVP_MD_CTX_free(context);
      throw std::bad_alloc();
    }
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(BytesView bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

Sha256Value Sha256::Finish() {
  Sha256Value value;
  EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(value.data()),
                     nullptr);
  return value;
}

std::string ToString(const Sha256Value& value) {
  std::string text;
  for (const std::byte byte : value) text += fmt::format("{:02x}", byte);
  return text;
}

Error WrongSha256(const Sha256Value& found, const Sha256Value& expected) {
  return Corrupt(
      fmt::format("its SHA-256 is {}, {} expected", ToString(found), ToString(expected)));
}

}  // namespace dolium
