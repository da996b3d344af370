#include "cli/terminal/table.h"

#include <algorithm>
#include <utility>

namespace dolium::cli {
namespace {

// Code points, so that names beyond ASCII stay aligned where each takes one cell.
size_t Width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

Table::Table(std::vector<Column> columns, Sink sink, size_t settle_after)
    : columns_(std::move(columns)),
      widths_(columns_.size(), 0),
      sink_(std::move(sink)),
      settle_after_(settle_after) {}

void Table::Widen(const std::vector<std::string>& cells) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths_[i] = std::max(widths_[i], Width(cells[i]));
  }
}

void Table::Print(const std::vector<std::string>& cells) const {
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t width = Width(cells[i]);
    const size_t padding = widths_[i] > width ? widths_[i] - width : 0;
    if (i != 0) line += "  ";
    if (columns_[i].align == Align::kRight) line.append(padding, ' ');
    line += cells[i];
    if (columns_[i].align == Align::kLeft) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  sink_(line);
}

void Table::Settle() {
  settled_ = true;
  std::vector<std::string> headings;
  bool any = false;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
    any = any || !column.heading.empty();
  }
  Widen(headings);
  if (any) Print(headings);
  for (const auto& row : waiting_) Print(row);
  waiting_.clear();
}

void Table::Add(std::vector<std::string> cells) {
  if (settled_) {
    Print(cells);
    return;
  }
  Widen(cells);
  waiting_.push_back(std::move(cells));
  if (waiting_.size() >= settle_after_) Settle();
}

void Table::Finish() {
  if (!settled_) Settle();
}

}  // namespace dolium::cli
