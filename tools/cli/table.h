#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::cli {

// Rows under a header, aligned; wide content widens the columns from its page on. Every page of a
// long list is printed as it comes.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  // numbers
  };
  explicit Table(std::vector<Column> columns);

  // As many cells as columns; shown with control characters escaped.
  void add(std::vector<std::string> cells);
  // Prints what was added since the last time, the header first.
  void flush();

 private:
  void print_row(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
  bool header_printed_ = false;
};

// `label: value` lines, the values aligned.
std::string label_lines(const std::vector<std::pair<std::string, std::string>>& lines);

}  // namespace holdfast::cli
