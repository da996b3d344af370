// Table: aligned columns in plain text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dolium::cli {

// Rows go out as soon as the widths are settled: by all rows of a short table, by the
// first `settle_after` of a long one, so that millions of rows take no memory. Later
// cells that are wider push the rest of their row aside. Call Finish() at the end.
class Table {
 public:
  enum class Align : uint8_t { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };
  using Sink = std::function<void(std::string_view line)>;  // a line, without its newline

  // Without any heading, no heading line is printed.
  Table(std::vector<Column> columns, Sink sink, size_t settle_after = 1000);

  // Precondition: as many cells as columns.
  void Add(std::vector<std::string> cells);
  void Finish();

 private:
  void Widen(const std::vector<std::string>& cells);
  void Print(const std::vector<std::string>& cells) const;
  void Settle();

  std::vector<Column> columns_;
  std::vector<size_t> widths_;
  Sink sink_;
  size_t settle_after_;
  bool settled_ = false;
  std::vector<std::vector<std::string>> waiting_;
};

}  // namespace dolium::cli
