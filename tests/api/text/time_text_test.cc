#include "api/text/time_text.h"

#include <gtest/gtest.h>

namespace holdfast::api {
namespace {

constexpr Instant kT0{1'767'225'600'000};  // 2026-01-01T00:00:00Z

struct InstantCase {
  const char* text;
  std::int64_t ms;
  friend std::ostream& operator<<(std::ostream& out, const InstantCase& of) {
    return out << of.text;
  }
};

class ReadInstant : public testing::TestWithParam<InstantCase> {};

TEST_P(ReadInstant, IsTheMillisecond) {
  const auto instant = parse_instant(GetParam().text);
  ASSERT_TRUE(instant) << instant.error();
  EXPECT_EQ(instant->ms, GetParam().ms);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ReadInstant,
    testing::Values(InstantCase{"1970-01-01T00:00:00Z", 0},
                    InstantCase{"2026-01-01T00:00:00Z", kT0.ms},
                    InstantCase{"2026-01-01t00:00:00z", kT0.ms},
                    InstantCase{"2026-01-01T01:00:00+01:00", kT0.ms},
                    InstantCase{"2025-12-31T19:00:00-05:00", kT0.ms},
                    InstantCase{"2026-01-01T00:00:00-00:00", kT0.ms},
                    InstantCase{"2026-01-01T05:45:00+05:45", kT0.ms},
                    InstantCase{"2026-01-01T00:00:00.5Z", kT0.ms + 500},
                    InstantCase{"2026-01-01T00:00:00.007Z", kT0.ms + 7},
                    InstantCase{"2026-01-01T00:00:00.123000Z", kT0.ms + 123},
                    InstantCase{"2000-02-29T00:00:00Z", 951'782'400'000},
                    InstantCase{"2024-02-29T23:59:59.999Z", 1'709'251'199'999},
                    InstantCase{"9999-12-31T23:59:59.999Z", 253'402'300'799'999},
                    // Well-formed and out of range: for the ledger to refuse.
                    InstantCase{"1969-12-31T23:59:59.999Z", -1},
                    InstantCase{"0000-01-01T00:00:00Z", -62'167'219'200'000},
                    InstantCase{"9999-12-31T23:59:59.999-00:01", 253'402'300'859'999}));

class RefuseInstant : public testing::TestWithParam<const char*> {};

TEST_P(RefuseInstant, SaysWhy) {
  const auto instant = parse_instant(GetParam());
  ASSERT_FALSE(instant) << instant->ms;
  EXPECT_NE(instant.error().find(GetParam()), std::string::npos) << instant.error();
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefuseInstant,
    testing::Values("", "now", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00Z",
                    "2026-01-01 00:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00,5Z",
                    "2026-01-01T00:00:00.0001Z", "2026-02-29T00:00:00Z", "2026-02-30T00:00:00Z",
                    "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-00-01T00:00:00Z",
                    "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
                    "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2016-12-31T23:59:60Z",
                    "2026-01-01T00:00:61Z", "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00+0100",
                    "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60",
                    "2026-01-01T00:00:00Zulu", "2026-01-01T00:00:00Z ", " 2026-01-01T00:00:00Z",
                    "26-01-01T00:00:00Z", "02026-01-01T00:00:00Z", "-2026-01-01T00:00:00Z",
                    "+2026-01-01T00:00:00Z", "2026-1-1T00:00:00Z", "1767225600000",
                    "2026-01-01T00:00:00 Europe/Lisbon", "2026-01-01T00:00:00[UTC]",
                    "\xEF\xBC\x92\x30\x32\x36-01-01T00:00:00Z"));

// cases.md 11
TEST(InstantText, DaylightSavingIsTheOffsets) {
  const auto at = [](const char* text) { return parse_instant(text).value(); };
  EXPECT_EQ(at("2026-03-08T03:30:00-04:00") - at("2026-03-08T01:30:00-05:00"), kHour);
  const Duration repeated = at("2026-11-01T01:30:00-05:00") - at("2026-11-01T01:30:00-04:00");
  EXPECT_EQ(repeated, kHour);
}

TEST(InstantText, IsWrittenWithMillisecondsOnlyWhereThereAreAny) {
  EXPECT_EQ(to_text(kMinInstant), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_text(kT0), "2026-01-01T00:00:00Z");
  EXPECT_EQ(to_text(kT0 + Duration{50}), "2026-01-01T00:00:00.050Z");
  EXPECT_EQ(to_text(kMaxInstant), "9999-12-31T23:59:59.999Z");
}

TEST(InstantText, EveryDayReadsBack) {
  for (Instant t = kMinInstant; t < kMaxInstant; t = t + Duration{kDay.ms * 13 + 3'723'004}) {
    ASSERT_EQ(parse_instant(to_text(t)), t) << t.ms;
  }
}

TEST(InstantText, CountsFromT0WhereThereIsOne) {
  const TimeBase base{kT0};
  EXPECT_EQ(parse_instant("10h30m", base), kT0 + Duration{37'800'000});
  EXPECT_EQ(parse_instant("-5s", base), kT0 - Duration{5'000});
  EXPECT_EQ(parse_instant("2026-01-01T00:01:00Z", base), kT0 + kMinute);
  EXPECT_FALSE(parse_instant("10h", TimeBase{}));
  EXPECT_FALSE(parse_instant("later", base));
  EXPECT_EQ(to_text(kT0 + Duration{34'200'000}, base), "9h30m");
  EXPECT_EQ(to_text(kT0, TimeBase{}), "2026-01-01T00:00:00Z");
}

struct DurationCase {
  const char* text;
  std::int64_t ms;
  friend std::ostream& operator<<(std::ostream& out, const DurationCase& of) {
    return out << of.text;
  }
};

class ReadDuration : public testing::TestWithParam<DurationCase> {};

TEST_P(ReadDuration, IsTheMilliseconds) {
  const auto duration = parse_duration(GetParam().text);
  ASSERT_TRUE(duration) << duration.error();
  EXPECT_EQ(duration->ms, GetParam().ms);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ReadDuration,
    testing::Values(DurationCase{"0s", 0}, DurationCase{"60s", 60'000},
                    DurationCase{"59.999s", 59'999}, DurationCase{"0.5s", 500},
                    DurationCase{"10h", 36'000'000}, DurationCase{"1d2h30m", 95'400'000},
                    DurationCase{"10h59m59.999s", 39'599'999}, DurationCase{"250ms", 250},
                    DurationCase{"1s5ms", 1'005}, DurationCase{"-5s", -5'000},
                    DurationCase{"-1h30m", -5'400'000}, DurationCase{"90m", 5'400'000},
                    DurationCase{"9223372036854775807ms", 9'223'372'036'854'775'807}));

class RefuseDuration : public testing::TestWithParam<const char*> {};

TEST_P(RefuseDuration, SaysWhy) {
  const auto duration = parse_duration(GetParam());
  ASSERT_FALSE(duration) << duration->ms;
  EXPECT_NE(duration.error().find(GetParam()), std::string::npos) << duration.error();
}

INSTANTIATE_TEST_SUITE_P(Table, RefuseDuration,
                         testing::Values("", "-", "5", "s", "5x", "1.5h", "1.5ms", "1.2345s", ".5s",
                                         "1.s", "--5s", "+5s", "5 s", "5S", "1h1h", "30m1h",
                                         "1h-5m", "1h ", "9223372036854775808ms", "106751991168d",
                                         "99999999999999999999s", "1d99999999999999999999ms"));

TEST(DurationText, IsWrittenAsScenariosWriteIt) {
  EXPECT_EQ(to_text(Duration{0}), "0s");
  EXPECT_EQ(to_text(Duration{60'000}), "60s");
  EXPECT_EQ(to_text(Duration{59'999}), "59.999s");
  EXPECT_EQ(to_text(Duration{500}), "0.5s");
  EXPECT_EQ(to_text(Duration{119'000}), "119s");
  EXPECT_EQ(to_text(Duration{120'000}), "2m");
  EXPECT_EQ(to_text(Duration{34'200'000}), "9h30m");
  EXPECT_EQ(to_text(Duration{95'400'000}), "1d2h30m");
  EXPECT_EQ(to_text(Duration{39'599'999}), "10h59m59.999s");
  EXPECT_EQ(to_text(Duration{86'400'001}), "1d0.001s");
  EXPECT_EQ(to_text(Duration{-5'000}), "-5s");
}

TEST(DurationText, ReadsBack) {
  for (std::int64_t ms = 1; ms > 0 && ms < (std::int64_t{1} << 61); ms = ms * 3 + 1) {
    EXPECT_EQ(parse_duration(to_text(Duration{ms})), Duration{ms});
    EXPECT_EQ(parse_duration(to_text(Duration{-ms})), Duration{-ms});
  }
}

}  // namespace
}  // namespace holdfast::api
