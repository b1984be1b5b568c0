#include "api/tokens.h"

#include <gtest/gtest.h>
#include <fstream>
#include <string>

#include "ledger/proof/text_bytes.h"

namespace holdfast::api {
namespace {

std::string line(const std::string& token, const std::string& rest) {
  return "{\"sha256\":\"" + proof::to_hex(token_digest(token)) + "\"," + rest + "}\n";
}

std::string error_of(const std::string& text) {
  const auto tokens = parse_tokens(text);
  return tokens ? "none" : tokens.error();
}

TEST(Tokens, ALineSaysWhoMayDoWhatWhere) {
  const auto tokens =
      parse_tokens("# the shop\n\n" +
                   line("a", R"("actor":"shop","role":"app","paths":["hall","customers/vip"])") +
                   "  " + line("b", R"("actor":"all","role":"app","all_paths":true)") +
                   line("c", R"("actor":"eve","role":"auditor")") +
                   line("d", R"("actor":"root","role":"operator")"));
  ASSERT_TRUE(tokens) << tokens.error();
  ASSERT_EQ(tokens->size(), 4u);
  const Grant& shop = tokens->front().grant;
  EXPECT_EQ(shop.actor.view(), "shop");
  EXPECT_EQ(shop.role, Role::app);
  EXPECT_TRUE(shop.scope.covers("hall/1"));
  EXPECT_TRUE(shop.scope.covers("customers/vip"));
  EXPECT_FALSE(shop.scope.covers("customers"));
  EXPECT_TRUE((*tokens)[1].grant.scope.covers("anything"));
  EXPECT_EQ((*tokens)[2].grant.role, Role::auditor);
  EXPECT_TRUE((*tokens)[3].grant.is_operator());
  EXPECT_EQ(summary(*tokens), "4 tokens: 2 app, 1 auditor, 1 operator");
}

TEST(Tokens, WhatIsWrongIsNamedWithItsLine) {
  const std::string good = line("a", R"("actor":"eve","role":"auditor")");
  EXPECT_EQ(error_of(""), "there is no token in it");
  EXPECT_EQ(error_of("# nothing\n"), "there is no token in it");
  EXPECT_EQ(error_of(good + good), "line 2: this token is there already");
  EXPECT_EQ(error_of(good + R"({"sha256":"00","actor":"x","role":"auditor"})"),
            "line 2: sha256 must have 64 digits");
  EXPECT_EQ(error_of(line("b", R"("actor":"x","role":"app")")),
            "line 1: an app needs paths, or all_paths and no paths");
  EXPECT_EQ(error_of(line("b", R"("actor":"x","role":"app","paths":["a"],"all_paths":true)")),
            "line 1: an app needs paths, or all_paths and no paths");
  EXPECT_EQ(error_of(line("b", R"("actor":"x","role":"auditor","paths":["a"])")),
            "line 1: paths are for an app");
  EXPECT_EQ(error_of(line("b", R"("actor":"x","role":"app","paths":["a//b"])")),
            "line 1: a path is 1 to 200 bytes, segments separated by '/', none empty");
  EXPECT_EQ(error_of(line("b", R"("actor":"x")")), "line 1: role must be app, auditor or operator");
  EXPECT_EQ(error_of(line("b", R"("actor":"system","role":"operator")")),
            "line 1: actor must be 1 to 200 bytes without control characters, and not 'system'");
  EXPECT_EQ(error_of(line("b", R"("actor":"x","role":"auditor","path":["a"])")).substr(0, 8),
            "line 1: ");
  EXPECT_EQ(error_of("token\n").substr(0, 8), "line 1: ");
}

TEST(Tokens, AFileThatBecameBadLeavesThemAsTheyWere) {
  const std::string file = testing::TempDir() + "holdfast-tokens-test";
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  write(line("a", R"("actor":"eve","role":"auditor")"));
  auto tokens = Tokens::open(file);
  ASSERT_TRUE(tokens) << tokens.error();
  write("{");
  const auto failed = (*tokens)->reload();
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().starts_with(file + ", line 1: ")) << failed.error();
  EXPECT_EQ((*tokens)->changes(), 0u);
  EXPECT_TRUE((*tokens)->grant_of(token_digest("a")));

  write(line("b", R"("actor":"eve","role":"auditor")"));
  EXPECT_EQ((*tokens)->reload(), "1 token: 1 auditor");
  EXPECT_EQ((*tokens)->changes(), 1u);
  EXPECT_FALSE((*tokens)->grant_of(token_digest("a")));
  EXPECT_FALSE((*tokens)->grant_of(token_digest("")));
  EXPECT_TRUE((*tokens)->grant_of(token_digest("b")));
  EXPECT_FALSE(Tokens::open(file + "-not-there"));
}

}  // namespace
}  // namespace holdfast::api
