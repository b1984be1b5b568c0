#include "projections/key_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <algorithm>
#include <string>

namespace holdfast::projections {
namespace {

struct Named {
  std::string key;
};

// Few different bytes, zero among them, and beginnings that many have: the hard cases.
rc::Gen<std::string> key() {
  return rc::gen::apply(
      [](const std::string& beginning, const std::string& rest) { return beginning + rest; },
      rc::gen::element<std::string>("", "hall/section-a/", "hall/section-b/seat-", "h"),
      rc::gen::container<std::string>(rc::gen::element('\0', '\1', 'a', '\xff')));
}

RC_GTEST_PROP(KeyOrder, IsThatOfTheBytes, ()) {
  std::vector<Named> named;
  for (std::string& k : *rc::gen::container<std::vector<std::string>>(key())) {
    named.push_back({std::move(k)});
  }
  std::vector<Named*> nodes;
  for (Named& node : named) nodes.push_back(&node);
  KeyOrder<Named>::sort(nodes);
  std::vector<std::string> sorted;
  for (const Named* node : nodes) sorted.push_back(node->key);
  std::vector<std::string> expected;
  for (const Named& node : named) expected.push_back(node.key);
  std::sort(expected.begin(), expected.end());
  RC_ASSERT(sorted == expected);
}

}  // namespace
}  // namespace holdfast::projections
