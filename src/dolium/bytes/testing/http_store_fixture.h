// HttpStoreTest: what the tests of HttpStore start from.
#pragma once

#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dolium/bytes/http_store.h"
#include "dolium/bytes/testing/http_test_server.h"

namespace dolium {

inline std::string Numbers(size_t size) {
  std::string text;
  for (size_t i = 0; text.size() < size; ++i) text += fmt::format("{},", i * i);
  text.resize(size);
  return text;
}

// A store on a server that serves 100,000 bytes as `seg/a`, with delays cut to nothing.
class HttpStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("no_proxy", "*", 1);
    server_.Put("/seg/a", {body_, "\"one\"", "", ""});
    options_.max_gap = 0;
    options_.retry.adjust_delay = [this](std::chrono::milliseconds delay) {
      delays_.push_back(delay);
      return std::chrono::milliseconds(1);
    };
    Reopen();
  }

  void Reopen(std::string_view query = {}) {
    auto store = HttpStore::Open(server_.origin(), query, options_);
    ASSERT_TRUE(store) << store.error().message;
    store_ = *store;
  }

  // What `seg/a` holds there, or the error.
  std::string Read(uint64_t offset, size_t length) {
    auto bytes = store_->ReadRange("seg/a", {offset, length});
    if (!bytes) return Described(bytes.error());
    return std::string(AsText(*bytes));
  }
  std::string ReadAll(uint64_t limit = 1 << 20) {
    auto whole = store_->ReadWhole("seg/a", limit);
    if (!whole) return Described(whole.error());
    return std::string(AsText(whole->bytes));
  }
  // The code, and the message with the URL of the object shortened to "URL".
  std::string Described(const Error& error) {
    std::string message = error.message;
    const std::string url = store_->Describe("seg/a");
    if (const size_t at = message.find(url); at != std::string::npos) {
      message.replace(at, url.size(), "URL");
    }
    return fmt::format("{}: {}", ErrorCodeName(error.code), message);
  }
  size_t connections() const {
    std::set<size_t> used;
    for (const ServedRequest& request : server_.requests())
      used.insert(request.connection);
    return used.size();
  }

  const std::string body_ = Numbers(100'000);
  std::vector<std::chrono::milliseconds> delays_;
  HttpOptions options_;
  HttpTestServer server_;
  std::shared_ptr<HttpStore> store_;
};

}  // namespace dolium
