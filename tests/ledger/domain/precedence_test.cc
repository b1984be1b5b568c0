#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/ledger/domain/world.h"

// The order of DESIGN 1.5 from `key_reused` on (what comes before is about form and judged at the
// edge): where several refusals apply, the first one is the answer. Each command has its faults in
// that order; every pair that can stand together is made to.
namespace holdfast::testing {
namespace {

// Something wrong with a command or with the world it meets.
struct Fault {
  std::string answer;                            // how the refusal's text begins
  std::map<std::string, std::string> said = {};  // words set in the command; empty: left out
  int stage = 0;                                 // when the world is brought into this
  std::vector<std::string> given = {};
  std::string excludes = {};  // two faults with a common letter cannot stand together
};

struct Subject {
  std::string verb;
  std::map<std::string, std::string> words;  // `` is the subject
  std::vector<std::string> given;
  std::vector<Fault> faults;              // in order of precedence
  std::vector<std::string> between = {};  // what happens between stages 3 and 4
};

std::string line_of(const Subject& subject, const std::vector<const Fault*>& faults) {
  auto words = subject.words;
  for (const Fault* fault : faults) {
    for (const auto& [name, value] : fault->said) words[name] = value;
  }
  std::string line = subject.verb + " " + words[""];
  words.erase("");
  for (const auto& [name, value] : words) {
    if (!value.empty()) line += " " + name + "=" + value;
  }
  return line;
}

void expect_first(const Subject& subject, std::vector<const Fault*> faults) {
  const std::string expected = faults.front()->answer;
  const std::string line = line_of(subject, faults);
  std::stable_sort(faults.begin(), faults.end(),
                   [](const Fault* a, const Fault* b) { return a->stage < b->stage; });
  World w;
  std::vector<std::string> given = subject.given;
  const auto add = [&](const std::vector<std::string>& lines) {
    given.insert(given.end(), lines.begin(), lines.end());
  };
  for (const Fault* fault : faults) {
    if (fault->stage < 4) add(fault->given);
  }
  add(subject.between);
  for (const Fault* fault : faults) {
    if (fault->stage >= 4) add(fault->given);
  }
  std::string story;
  for (const std::string& step : given) story += step + "\n";
  SCOPED_TRACE(story + line);
  w.given(given);
  const std::size_t before = w.log.size();
  const std::string answer = w.run(line);
  EXPECT_EQ(answer.substr(0, expected.size()), expected) << "all of it: " << answer;
  EXPECT_EQ(w.log.size(), before) << "a refusal writes nothing";
}

bool can_stand_together(const Fault& a, const Fault& b) {
  return a.excludes.find_first_of(b.excludes) == std::string::npos;
}

void check_pairs(const Subject& subject) {
  for (std::size_t i = 0; i < subject.faults.size(); ++i) {
    const Fault& a = subject.faults[i];
    expect_first(subject, {&a});
    for (std::size_t j = i + 1; j < subject.faults.size(); ++j) {
      const Fault& b = subject.faults[j];
      if (can_stand_together(a, b)) expect_first(subject, {&a, &b});
    }
  }
}

TEST(Precedence, Hold) {
  const Fault closed_above{"closed path=t", {}, 3, {"define t", "close t"}};
  check_pairs({"hold",
               {{"", "t/r"}, {"key", "k"}, {"ttl", "60s"}},
               {},
               {
                   {"key_reused field=resource", {}, 0, {"hold other key=k"}, "k"},
                   {"unknown_resource", {}, 9, {"policy strict=true"}, "d"},
                   {"bad_ttl", {{"ttl", ""}, {"expires", "0s"}}},
                   {"capacity_mismatch", {{"capacity", "7"}}, 2, {"define t/r capacity=2"}, "d"},
                   closed_above,
                   {"conflict", {}, 1, {"hold t/r key=b", "commit b holder=app"}},
               }});
  check_pairs(
      {"hold",
       {{"", "t/r"}, {"key", "k"}, {"ttl", "60s"}},
       {"define t/r"},
       {{"key_reused field=span",
         {{"from", "1h"}, {"until", "2h"}},
         0,
         {"hold t/r key=k", "release k holder=app"},
         "k"},
        {"key_reused field=quantity",
         {{"quantity", "3"}},
         0,
         {"hold t/r key=k", "release k holder=app"},
         "k"},
        {"key_reused field=holder",
         {{"holder", "eve"}},
         0,
         {"hold t/r key=k", "release k holder=app"},
         "k"},
        {"terminal state=released", {}, 0, {"hold t/r key=k", "release k holder=app"}, "ku"},
        {"bad_ttl", {{"ttl", ""}, {"expires", "0s"}}},
        {"capacity_mismatch", {{"capacity", "7"}}},
        closed_above}});
}

const std::vector<Fault> kNotYours = {
    {"unknown_claim", {{"", "x"}}},
    {"not_holder", {{"holder", "eve"}}},
};

Subject on_claim(const std::string& verb, std::vector<Fault> more) {
  Subject subject{verb,
                  {{"", "h"}, {"holder", "ann"}},
                  {"hold r key=h holder=ann quantity=2 capacity=2 ttl=60s"},
                  kNotYours};
  subject.faults.insert(subject.faults.end(), more.begin(), more.end());
  return subject;
}

const Fault kReleased{"terminal state=released", {}, 1, {"release h holder=ann"}, "e"};
const Fault kCancelled{
    "terminal state=cancelled", {}, 1, {"commit h holder=ann", "cancel h holder=ann"}, "e"};
const Fault kStolen{"terminal state=stolen",
                    {},
                    3,
                    {"at 2h", "steal h from-holder=ann holder=bob key=g capacity=2"},
                    "e"};
const Fault kCommitted{"already_committed", {}, 1, {"commit h holder=ann"}, "e"};
const Fault kLapsed{"expired expires_at=60s now=2h", {}, 2, {"at 2h"}};
const Fault kRecorded{"expired expires_at=60s now=2h", {}, 2, {"at 2h", "sweep 9"}};
const Fault kStale{"stale_version current=", {{"version", "999"}}};
const Fault kTooMany{"bad_quantity", {{"quantity", "3"}}};
const Fault kPast{"bad_ttl", {{"expires", "0s"}}};

TEST(Precedence, Extend) {
  check_pairs(on_claim(
      "extend", {kReleased, kCancelled, kStolen, kCommitted, kLapsed, kRecorded, kStale, kPast}));
}

TEST(Precedence, Commit) {
  check_pairs(on_claim("commit", {kReleased, kCancelled, kStolen, kCommitted, kLapsed, kRecorded,
                                  kStale, kTooMany}));
}

TEST(Precedence, Release) { check_pairs(on_claim("release", {kCommitted, kStale, kTooMany})); }

TEST(Precedence, Cancel) {
  const Fault held{"not_committed state=held", {}, 1, {}, "e"};
  const Fault released{"not_committed state=released", {}, 1, {"release h holder=ann"}, "e"};
  const Fault expired{"not_committed state=expired", {}, 1, {"at 60s"}, "e"};
  Subject subject = on_claim("cancel", {held, released, expired});
  subject.faults.push_back(kStale);
  subject.faults.push_back(kTooMany);
  for (std::size_t i = subject.faults.size() - 2; i < subject.faults.size(); ++i) {
    // Only a booking comes as far as these.
    subject.faults[i].given = {"commit h holder=ann"};
    subject.faults[i].excludes = "e";
  }
  check_pairs(subject);
  World w;
  w.given({"hold r key=h holder=ann", "commit h holder=ann"});
  EXPECT_EQ(w.run("cancel h holder=ann version=1 quantity=9"), "stale_version current=2");
}

TEST(Precedence, Steal) {
  Fault committed = kCommitted;
  committed.excludes = "el";
  check_pairs({"steal",
               {{"", "h"}, {"from-holder", "ann"}, {"holder", "bob"}, {"key", "n"}, {"ttl", "60s"}},
               {"define t", "hold t/r key=h holder=ann ttl=60s"},
               {{"key_reused field=key", {}, 0, {"hold other key=n"}},
                {"unknown_claim", {{"", "x"}}, 0, {}, "x"},
                {"unknown_resource", {}, 9, {"policy strict=true"}, "xd"},
                {"not_holder", {{"from-holder", "eve"}}},
                kReleased,
                kCancelled,
                committed,
                {"not_expired expires_at=1h", {}, 1, {"extend h holder=ann ttl=1h"}, "el"},
                kStale,
                kPast,
                {"capacity_mismatch", {{"capacity", "7"}}, 4, {"define t/r"}, "d"},
                {"closed path=t", {}, 6, {"close t"}},
                {"conflict", {}, 5, {"hold t/r key=b"}, "l"}},
               {"at 30m"}});
}

TEST(Precedence, Define) {
  check_pairs({"define",
               {{"", "r"}},
               {},
               {{"already_defined", {{"capacity", "3"}}, 0, {"define r"}},
                {"in_use", {{"turnaround", "1m"}}, 1, {"hold r key=h"}}}});
}

TEST(Precedence, Change) {
  check_pairs({"change",
               {{"", "r"}, {"turnaround", "1m"}},
               {},
               {{"unknown_resource", {}, 0, {}, "d"},
                {"in_use", {}, 1, {"define r", "hold r key=h"}, "d"}}});
  World w;
  w.given({"hold r key=h"});
  EXPECT_EQ(w.run("change r turnaround=1m"), "unknown_resource");
  EXPECT_EQ(w.run("retire r"), "unknown_resource");
}

}  // namespace
}  // namespace holdfast::testing
