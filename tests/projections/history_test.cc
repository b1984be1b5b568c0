#include <gtest/gtest.h>
#include <algorithm>
#include <functional>
#include <map>

#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

using Concerns = std::function<bool(const Event&)>;

struct Case {
  HistoryQuery query;
  Concerns concerns;
};

std::vector<Case> cases(const Bookkeeper& books) {
  std::vector<Case> all{{{}, [](const Event&) { return true; }}};
  for (std::string path : {"hall", "hall/a", "hall/a/1", "room-1", "room-10", "nowhere", "room"}) {
    all.push_back({{.resource = path}, [path](const Event& e) { return is_at_or_below(e, path); }});
  }
  for (const std::string& holder : Bookkeeper::holders()) {
    all.push_back({{.holder = holder}, [holder](const Event& e) {
                     return e.personal.holder && e.personal.holder->view() == holder;
                   }});
  }
  for (std::string actor : {"shop", "system", "nobody"}) {
    all.push_back({{.actor = actor}, [actor](const Event& e) { return e.actor.view() == actor; }});
  }
  for (std::size_t i = 0; i < books.keys().size(); i += 37) {
    const std::string key = books.keys()[i];
    all.push_back({{.key = key}, [key](const Event& e) { return e.key && e.key->view() == key; }});
  }
  std::size_t requests = 0;
  for (const Event& event : books.events()) {
    if (!event.request_id || ++requests % 20 != 0) continue;
    const Position first = event.transaction;
    all.push_back({{.actor = event.actor.str(), .request_id = event.request_id->str()},
                   [first](const Event& e) { return e.transaction == first; }});
  }
  all.push_back(
      {{.actor = "shop", .request_id = "unheard-of"}, [](const Event&) { return false; }});
  return all;
}

std::vector<Event> naive(const std::vector<Event>& events, const Concerns& concerns,
                         const HistoryQuery& query, Position at) {
  std::vector<Event> found;
  const Position until = query.until ? std::min(query.until, at) : at;
  for (const Event& event : events) {
    if (event.position >= query.from && event.position <= until && concerns(event)) {
      found.push_back(event);
    }
  }
  if (query.newest_first) std::reverse(found.begin(), found.end());
  return found;
}

class History : public testing::Test {
 protected:
  void SetUp() override { books_.busy(2'500); }

  void check(Case c, Position from, Position until, bool newest_first, std::size_t limit,
             Position at) {
    HistoryQuery& query = c.query;
    query.from = from;
    query.until = until;
    query.newest_first = newest_first;
    query.limit = limit;
    std::vector<Event> expected = naive(books_.events(), c.concerns, query, at);
    const bool more = expected.size() > limit;
    if (more) expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(limit), expected.end());
    const Page<Event> page = value_of(running_->history(query, at));
    EXPECT_EQ(page.items.size(), expected.size());
    EXPECT_TRUE(page.items == expected)
        << query.resource << query.key << query.holder << query.actor << query.request_id
        << " from " << from.value << " until " << until.value << " newest " << newest_first;
    EXPECT_EQ(page.more, more);
    EXPECT_EQ(page.at, at);
  }

  Bookkeeper books_{21};
  std::optional<Running> holder_;
  Projections* running_ = nullptr;

  void open() {
    holder_.emplace(books_);
    running_ = holder_->projections.get();
  }
};

TEST_F(History, IsWhatTheLogSaysForEveryFilterAndRange) {
  open();
  const Position head = books_.log().head();
  for (const Case& c : cases(books_)) {
    for (const bool newest : {false, true}) {
      check(c, {1}, {}, newest, 10'000, head);
      check(c, {1}, {}, newest, 7, head);
      check(c, {1}, {}, newest, 64, {head.value / 2});
      check(c, {700}, {1'900}, newest, 10'000, head);
      check(c, {701}, {702}, newest, 5, head);
      check(c, {1'900}, {700}, newest, 5, head);
    }
  }
}

TEST_F(History, PagesGoOnBehindTheLastPosition) {
  open();
  const Position head = books_.log().head();
  for (const bool newest : {false, true}) {
    HistoryQuery query{.resource = "hall", .newest_first = newest, .limit = 13};
    std::vector<Event> paged;
    for (bool more = true; more;) {
      const Page<Event> page = value_of(running_->history(query, head));
      ASSERT_FALSE(page.items.empty());
      paged.insert(paged.end(), page.items.begin(), page.items.end());
      more = page.more;
      const Position last = page.items.back().position;
      if (newest) {
        query.until = {last.value - 1};
      } else {
        query.from = last + 1;
      }
    }
    query = {.resource = "hall", .newest_first = newest};
    EXPECT_TRUE(paged == naive(
                             books_.events(),
                             [](const Event& e) { return is_at_or_below(e, "hall"); }, query,
                             head));
  }
}

}  // namespace
}  // namespace holdfast::projections
