#include "ledger/domain/name_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "tests/ledger/domain/seed.h"

namespace holdfast {
namespace {

struct Named {
  std::string name;
  int number;
};
struct NameOf {
  static std::string_view of(const Named& named) { return named.name; }
};
using Table = NameTable<Named, NameOf>;

TEST(NameTable, AgainstAMap) {
  const std::uint64_t seed = testing::any_seed();
  SCOPED_TRACE(testing::seed_trace(seed));
  std::mt19937_64 random(seed);
  Table table;
  std::map<std::string, int> model;
  for (int step = 0; step < 100'000; ++step) {
    // The number of names rises and falls, so that the table grows, fills and empties.
    const std::string name = std::to_string(random() % (1 + step % 2000));
    Named* found = table.find(name);
    ASSERT_EQ(found != nullptr, model.contains(name));
    if (found == nullptr) {
      table.insert(std::make_unique<Named>(Named{name, step}));
      model[name] = step;
    } else {
      ASSERT_EQ(found->number, model[name]);
      table.erase(*found);
      model.erase(name);
    }
    ASSERT_EQ(table.size(), model.size());
  }
  std::map<std::string, int> seen;
  table.for_each([&](const Named& named) {
    EXPECT_TRUE(seen.emplace(named.name, named.number).second);
    return true;
  });
  EXPECT_EQ(seen, model);
}

TEST(NameTable, NodesStayWhereTheyAre) {
  Table table;
  const Named* first = &table.insert(std::make_unique<Named>(Named{"first", 0}));
  for (int i = 0; i < 1000; ++i) table.insert(std::make_unique<Named>(Named{std::to_string(i), i}));
  EXPECT_EQ(table.find("first"), first);
  Table moved = std::move(table);
  EXPECT_EQ(moved.find("first"), first);
}

TEST(NameTable, Empty) {
  Table table;
  EXPECT_EQ(table.find("x"), nullptr);
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace holdfast
