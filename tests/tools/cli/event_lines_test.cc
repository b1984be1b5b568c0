#include "tools/cli/event_lines.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/ledger/store/sample_events.h"

namespace holdfast::cli {
namespace {

using proof::ExportFormat;

std::string line_of(ExportFormat format, const Event& event) {
  std::string line;
  EventLines(format).append(event, line);
  return line;
}

TEST(EventLines, EverySampleComesBackFromItsLine) {
  for (const auto format : {ExportFormat::jsonl, ExportFormat::csv}) {
    for (const auto& [name, event] : store::samples()) {
      const std::string line = line_of(format, event);
      const auto read = EventLines(format).read(line);
      ASSERT_TRUE(read) << line << read.error();
      EXPECT_TRUE(*read == event) << line;
    }
  }
}

RC_GTEST_PROP(EventLines, AnyEventComesBackFromItsLine, ()) {
  const Event event = *store::arbitrary_event();
  for (const auto format : {ExportFormat::jsonl, ExportFormat::csv}) {
    const auto read = EventLines(format).read(line_of(format, event));
    if (!read) RC_FAIL(read.error() + ": " + line_of(format, event));
    RC_ASSERT(*read == event);
  }
}

// What a line does not say is not in it: each byte counts.
TEST(EventLines, NoByteOfALineCanBeChanged) {
  for (const auto format : {ExportFormat::jsonl, ExportFormat::csv}) {
    for (const auto& [name, event] : store::samples()) {
      const std::string line = line_of(format, event);
      for (std::size_t i = 0; i < line.size(); ++i) {
        for (const char other : {'1', ' ', '"', ','}) {
          std::string changed = line;
          if (std::exchange(changed[i], other) == other) continue;
          const auto read = EventLines(format).read(changed);
          EXPECT_FALSE(read && *read == event) << changed;
        }
      }
    }
  }
}

TEST(EventLines, AnotherWayToWriteTheSameIsNone) {
  const Event event = store::numbered_hold(7);
  const std::string json = line_of(ExportFormat::jsonl, event);
  const auto wrong = [](ExportFormat format, const std::string& line) {
    const auto read = EventLines(format).read(line);
    return read ? "nothing" : read.error();
  };
  EXPECT_EQ(wrong(ExportFormat::jsonl, " " + json), "it is not written as an export writes it");
  EXPECT_EQ(wrong(ExportFormat::jsonl, json.substr(0, json.size() - 1)), "it has no end");
  EXPECT_EQ(wrong(ExportFormat::jsonl, "{}\n"), "its transaction does not hold its position");
  const std::string csv = line_of(ExportFormat::csv, event);
  EXPECT_EQ(wrong(ExportFormat::csv, "\"7\"" + csv.substr(1)),
            "it is not written as an export writes it");
  EXPECT_EQ(wrong(ExportFormat::csv, csv.substr(2)), "it does not have the columns of an event");
  EXPECT_EQ(wrong(ExportFormat::csv, csv.substr(0, csv.size() - 2) + "\n"), "it has no end");
}

TEST(EventLines, ALineThatNoEventHas) {
  Event event = store::numbered_hold(7);
  const std::string line = line_of(ExportFormat::jsonl, event);
  const auto wrong = [&](std::string_view from, std::string_view to) {
    std::string changed = line;
    changed.replace(changed.find(from), from.size(), to);
    const auto read = EventLines(ExportFormat::jsonl).read(changed);
    return read ? "nothing" : read.error();
  };
  EXPECT_EQ(wrong("\"held\"", "\"helt\""), "its type is none");
  EXPECT_EQ(wrong("\"quantity\":", "\"quantity\":1000000000"),
            "a quantity is missing or out of range");
  EXPECT_EQ(wrong("\"transaction\":7", "\"transaction\":8"),
            "its transaction does not hold its position");
  EXPECT_EQ(wrong("\"resource\":\"", "\"resource\":\"/"), "resource is none");
}

}  // namespace
}  // namespace holdfast::cli
