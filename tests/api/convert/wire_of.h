#pragma once

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "api/caller.h"
#include "api/text/json.h"

// Messages of the wire, written as JSON in tests.
namespace holdfast::api {

template <class Root>
class WireOf {
 public:
  explicit WireOf(std::string_view json) : root_(message_->initRoot<Root>()) {
    const auto done = from_json(json, root_);
    EXPECT_TRUE(done) << done.error().text() << "\n" << json;
  }
  typename Root::Reader reader() const { return root_.asReader(); }
  typename Root::Builder builder() { return root_; }

 private:
  std::unique_ptr<capnp::MallocMessageBuilder> message_ =
      std::make_unique<capnp::MallocMessageBuilder>();
  typename Root::Builder root_;
};

inline Caller caller(bool is_operator) {
  return {{Actor::trusted("desk"), is_operator ? Role::operations : Role::app}, "127.0.0.1:50000"};
}

}  // namespace holdfast::api
