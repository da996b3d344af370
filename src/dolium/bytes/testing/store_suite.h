// The suite that every writable store passes: what store.h promises, as tests.
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite,
//                            testing::Values(MakeStoreCase("Heap", [] { ... })),
//                            StoreCaseName);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "dolium/bytes/store.h"

namespace dolium {

struct StoreCase {
  std::string name;
  // A new, empty store. What it stands on goes when the last pointer to it does.
  std::function<std::shared_ptr<Store>()> make;
};

// Through this function, and not by hand: it makes the linker take the suite's tests in.
StoreCase MakeStoreCase(std::string name, std::function<std::shared_ptr<Store>()> make);
std::string StoreCaseName(const testing::TestParamInfo<StoreCase>& info);

class StoreSuite : public testing::TestWithParam<StoreCase> {
 protected:
  Store& store() { return *store_; }

  // Puts `text`, whatever was there.
  Generation Put(std::string_view object, std::string_view text);
  // The whole object as text.
  std::string Get(std::string_view object);

 private:
  const std::shared_ptr<Store> store_ = GetParam().make();
};

}  // namespace dolium
