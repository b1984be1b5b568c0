#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "ledger/access/access_log.h"
#include "ledger/access/listing.h"
#include "ledger/store/memory_file_system.h"
#include "tests/ledger/fake_time.h"

namespace holdfast::access {

constexpr Instant kNoon{1'767'268'800'000};

inline Entry query_of(const std::string& actor, const std::string& kind = "query.claim") {
  return {.actor = actor, .what = Asked{.kind = kind}};
}

// An access log over a disk in memory.
class OpenedLog : public testing::Test {
 protected:
  std::unique_ptr<AccessLog> open(Options options = {}) {
    options.fs = disk_.mount();
    options.dir = "/data";
    auto log = AccessLog::open(options, time_, [this](const std::string& why) { failed_ = why; });
    if (log) return std::move(*log);
    error_ = log.error().what;
    return nullptr;
  }

  static std::vector<Record> all(const AccessLog& log) {
    const auto listed = list(log.records(), {.oldest_first = true, .limit = 1'000'000});
    EXPECT_TRUE(listed) << listed.error().what;
    return listed ? listed->records : std::vector<Record>();
  }

  store::MemoryDisk disk_;
  FakeTime time_{kNoon};
  std::string error_;
  std::string failed_;
};

}  // namespace holdfast::access
