#include "tools/cli/table.h"

#include <gtest/gtest.h>

#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

TEST(Printable, EscapesWhatSteersATerminal) {
  EXPECT_EQ(printable("a\n\t\x1B[31m\x7F"), "a\\n\\t\\u001b[31m\\u007f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m \xC3\xA9"),
            "\\u009b31m \xC3\xA9");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\u0000");
}

TEST(Table, AlignsColumnsByWhatIsSeen) {
  Table table({{"NAME"}, {"N", true}, {"NOTE"}});
  table.add({"b\xC3\xBCro", "7", "x"});
  table.add({"a", "1000", ""});
  testing::internal::CaptureStdout();
  table.flush();
  table.add({"a longer name", "1", "\n"});
  table.flush();
  table.flush();
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "NAME     N  NOTE\n"
            "b\xC3\xBCro     7  x\n"
            "a     1000\n"
            "a longer name     1  \\n\n");
}

TEST(Table, WithoutRowsIsNothing) {
  testing::internal::CaptureStdout();
  Table({{"NAME"}}).flush();
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(LabelLines, AlignValues) {
  EXPECT_EQ(label_lines({{"key", "h1"}, {"holder", "a\nb"}}), "key:    h1\nholder: a\\nb\n");
}

}  // namespace
}  // namespace holdfast::cli
