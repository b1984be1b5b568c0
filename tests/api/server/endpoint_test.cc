#include "api/endpoint.h"

#include <gtest/gtest.h>

namespace holdfast::api {
namespace {

TEST(Endpoint, HostAndPortInEveryForm) {
  const auto is = [](const char* text, const char* host, unsigned port) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(endpoint->host, host) << text;
    EXPECT_EQ(endpoint->port, port) << text;
  };
  is("127.0.0.1:80", "127.0.0.1", 80);
  is("localhost", "localhost", kDefaultPort);
  is("[::1]:80", "::1", 80);
  is("[::1]", "::1", kDefaultPort);
  is("::1", "::1", kDefaultPort);
  is("host:0", "host", 0);
}

TEST(Endpoint, WhatIsNoneIsNone) {
  for (const char* text : {"", ":80", "host:", "host:x", "host:65536", "host:-1", "[::1", "[]:1",
                           "[::1]80", "host:1 "}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::api
