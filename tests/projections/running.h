#pragma once

#include <gtest/gtest.h>
#include <memory>

#include "tests/projections/bookkeeper.h"

namespace holdfast::projections {

// Projections over the bookkeeper's log, opened as a server would. Their folder is in use until
// they are destroyed.
struct Running {
  State state;
  std::unique_ptr<Projections> projections;

  explicit Running(Bookkeeper& books) : Running(books, books.options()) {}
  Running(Bookkeeper& books, const Options& options) {
    auto opened = Projections::open(options, books.log(), state);
    EXPECT_TRUE(opened) << opened.error().what;
    if (opened) projections = std::move(*opened);
  }

  void committed(std::vector<Event> events) {
    projections->committed(std::make_shared<const std::vector<Event>>(std::move(events)));
  }

  Projections* operator->() const { return projections.get(); }
};

template <class T>
T value_of(tl::expected<T, StorageError> answer) {
  EXPECT_TRUE(answer) << answer.error().what;
  return answer ? std::move(*answer) : T{};
}

}  // namespace holdfast::projections
