// The suites that formats pass: what container.h and writer.h promise, as tests.
//
//   const auto kCases =
//       testing::Values(MakeFormatCase("Memory", files::kFormat, NewMemoryLocation));
//   INSTANTIATE_TEST_SUITE_P(Files, ReadSuite, kCases, FormatCaseName);
//   INSTANTIATE_TEST_SUITE_P(Files, FormatSuite, kCases, FormatCaseName);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dolium/container/format.h"

namespace dolium {

// What one entry of a test set holds.
struct TestValue {
  ByteVector value;
  ByteVector preceding;

  friend bool operator==(const TestValue&, const TestValue&) = default;
};

// Key and value of every entry.
using TestSet = std::map<std::string, TestValue>;

struct FormatCase {
  std::string name;
  Format format;
  // A new place for one set. What it stands on goes when the last pointer to its store
  // does.
  std::function<Location()> new_location;
  CreateOptions options;  // what is expected is filled in by the suite
  // The i-th key; all are different. By default "key-<i>".
  std::function<std::string(uint64_t)> key;
  // Makes a set of a format that is not made of entries; by default its target does.
  std::function<void(const Location&, const TestSet&)> write;
  std::string bad_key;   // one that the format cannot hold
  size_t entries = 120;  // of a set
  // In what formats differ. Find(bad_key) is refused; if not, the key is just absent.
  bool refuses_bad_keys = true;
  size_t smallest_value = 0;  // bytes of the smallest value that an entry can have
  // For formats whose keys follow from the values; `key` gives keys of no entry then.
  std::function<std::string(BytesView)> key_of_value;
  // The i-th entry with preceding bytes, for PrecedingSuite.
  std::function<TestValue(uint64_t)> with_preceding;
};

// Through this function, and not by hand: it makes the linker take the suite's tests in.
FormatCase MakeFormatCase(std::string name, const Format& format,
                          std::function<Location()> new_location);
std::string FormatCaseName(const testing::TestParamInfo<FormatCase>& info);
void PrintTo(const FormatCase& format_case, std::ostream* out);

// Places for sets: a store of their own each, in the heap, in a temporary folder, or over
// what an S3 bucket offers.
Location NewMemoryLocation();
Location NewFileLocation();
Location NewObjectStoreLocation();

// Base name and bytes of every object in a folder and below, by path within it.
using Objects = std::map<std::string, std::string>;

// What container.h promises those who read.
class ReadSuite : public testing::TestWithParam<FormatCase> {
 protected:
  // How a set is written: what must not make a difference.
  struct Way {
    enum class Order : uint8_t { kByKey, kReversed, kShuffled };
    Order order = Order::kByKey;
    size_t jobs = 1;
    uint64_t memory = uint64_t{256} << 20;
  };

  // Values of 0 bytes to 100 KB, the same for the same seed.
  TestSet RandomSet(uint64_t seed) const;
  TestSet SetWithPreceding() const;

  std::unique_ptr<Target> NewTarget(const Location& location, const TestSet& set) const;
  WriteSummary Write(const Location& location, const TestSet& set, Way way) const;
  // Makes the set part by part from entries of another store, some of them encoded.
  WriteSummary WriteByParts(const Location& location, const TestSet& set) const;
  std::unique_ptr<Container> Open(const Location& location) const;

  static TestSet ReadBySearch(const Container& container, const TestSet& keys_of);
  static TestSet ReadByScan(const Container& container);
  static Objects ReadObjects(const Location& folder);
  static void ExpectEqual(const TestSet& found, const TestSet& expected);
  static void ExpectEqual(const Objects& found, const Objects& expected);
};

// For formats that are made of entries: what writer.h promises.
class FormatSuite : public ReadSuite {};

// For formats that can be changed: Apply().
class ChangeSuite : public FormatSuite {};

// For formats that can be changed and carry bytes before an entry (`with_preceding`).
class PrecedingSuite : public FormatSuite {};

}  // namespace dolium
