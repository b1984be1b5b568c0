#include <gtest/gtest.h>
#include <algorithm>
#include <functional>
#include <map>

#include "ledger/domain/event_type.h"
#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

using Concerns = std::function<bool(const Event&)>;

struct Case {
  HistoryQuery query;
  Concerns concerns;
  bool sifted = false;  // a page can say that there is more where nothing more passes
};

Instant took_effect(const Event& event) {
  const auto* expired = std::get_if<Expired>(&event.happening);
  return expired ? expired->due : event.recorded_at;
}

// What is sifted once an index has found it.
std::vector<Case> sifting_cases(const Bookkeeper& books) {
  const std::string held = "held";
  const auto type_is = [](const Event& e, std::string_view type) {
    return type_name(e.happening) == type;
  };
  std::vector<Case> all;
  all.push_back({{.type = held}, [=](const Event& e) { return type_is(e, held); }, true});
  all.push_back({{.resource = "hall", .type = "expired"},
                 [=](const Event& e) { return is_at_or_below(e, "hall") && type_is(e, "expired"); },
                 true});
  const std::string holder = Bookkeeper::holders().front();
  const auto is_holders = [holder](const Event& e) {
    return e.personal.holder && e.personal.holder->view() == holder;
  };
  all.push_back({{.resource = "hall", .holder = holder, .actor = "system"},
                 [=](const Event& e) {
                   return is_at_or_below(e, "hall") && is_holders(e) && e.actor.view() == "system";
                 },
                 true});
  for (const Event& event : books.events()) {
    if (!event.correlation_id) continue;
    const std::string id = event.correlation_id->str();
    all.push_back(
        {{.correlation_id = id},
         [id](const Event& e) { return e.correlation_id && e.correlation_id->str() == id; },
         true});
    break;
  }
  const Span some{books.events()[600].recorded_at, books.events()[1'500].recorded_at};
  const auto in_some = [some](Instant at) { return some.from <= at && at < some.until; };
  all.push_back({{.recorded = some}, [=](const Event& e) { return in_some(e.recorded_at); }, true});
  all.push_back(
      {{.effective = some}, [=](const Event& e) { return in_some(took_effect(e)); }, true});
  all.push_back({{.type = "expired", .effective = some},
                 [=](const Event& e) { return type_is(e, "expired") && in_some(took_effect(e)); },
                 true});
  return all;
}

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
    const HistoryPage page = value_of(running_->history(query, at));
    EXPECT_EQ(page.items.size(), expected.size());
    EXPECT_TRUE(page.items == expected)
        << query.resource << query.key << query.holder << query.actor << query.request_id
        << query.type << query.correlation_id << " from " << from.value << " until " << until.value
        << " newest " << newest_first;
    if (more || !c.sifted) {
      EXPECT_EQ(page.more.has_value(), more);
    }
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
  std::vector<Case> all = cases(books_);
  for (Case& c : sifting_cases(books_)) all.push_back(std::move(c));
  for (const Case& c : all) {
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
      const HistoryPage page = value_of(running_->history(query, head));
      ASSERT_FALSE(page.items.empty());
      paged.insert(paged.end(), page.items.begin(), page.items.end());
      more = page.more.has_value();
      if (more) {
        EXPECT_EQ(*page.more, page.items.back().position);
      }
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
