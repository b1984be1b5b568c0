#include "tools/cli/table.h"

#include <algorithm>

#include "tools/cli/terminal.h"

namespace holdfast::cli {

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const auto& column : columns_) widths_.push_back(width_of(column.title));
}

void Table::add(std::vector<std::string> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = printable(cells[i]);
    widths_[i] = std::max(widths_[i], width_of(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

void Table::flush() {
  if (rows_.empty()) return;
  if (!header_printed_) {
    std::vector<std::string> titles;
    for (const auto& column : columns_) titles.push_back(column.title);
    print_row(titles);
    header_printed_ = true;
  }
  for (const auto& row : rows_) print_row(row);
  rows_.clear();
}

void Table::print_row(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths_[i] - width_of(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += columns_[i].right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  print(line + "\n");
}

std::string label_lines(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::size_t width = 0;
  for (const auto& [label, value] : lines) width = std::max(width, width_of(label));
  std::string text;
  for (const auto& [label, value] : lines) {
    text += label + ": " + std::string(width - width_of(label), ' ') + printable(value) + "\n";
  }
  return text;
}

}  // namespace holdfast::cli
