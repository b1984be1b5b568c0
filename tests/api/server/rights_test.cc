#include <gtest/gtest.h>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/text/fields.h"
#include "api/text/json.h"
#include "ledger/proof/text_bytes.h"
#include "tests/api/server/running_server.h"
#include "tests/api/server/watcher.h"

// Who may do what where: every request by every role, inside and outside an app's paths.
namespace holdfast::api {
namespace {

// What a caller is told: + anything but a no for lack of rights, - forbidden, ? the claim does not
// exist for him.
struct Right {
  std::string request;     // by name: query.claim, hold
  std::string json;        // PATH and KEY: a resource and a hold on it
  std::string app_inside;  // of the app's paths
  std::string app_outside;
  std::string auditor;
  std::string operations;
};

Right command(const std::string& name, const std::string& fields, const std::string& outside,
              const std::string& inside = "+") {
  return {name,   R"({"batch":[{")" + name + R"(":{)" + fields + R"(},"reason":"test"}]})",
          inside, outside,
          "-",    "+"};
}
Right query(const std::string& name, const std::string& fields, const std::string& outside,
            const std::string& inside = "+") {
  return {"query." + name,
          R"({"query":{")" + name + R"(":{)" + fields + "}}}",
          inside,
          outside,
          "+",
          "+"};
}
// Among others.
Right queries(const std::string& name, const std::string& fields, const std::string& outside) {
  return {"queries", R"({"queries":[{")" + name + R"(":{)" + fields + "}}]}", "+", outside, "+",
          "+"};
}
Right proof_of(const std::string& name, const std::string& fields) {
  return {"proof." + name, R"({"proof":{")" + name + R"(":{)" + fields + "}}}", "-", "-", "+", "+"};
}
Right for_operators(const std::string& name, const std::string& json) {
  return {name, json, "-", "-", "-", "+"};
}

const char kOnPath[] = R"("resource":"PATH")";
const char kWindow[] = R"("resource":"PATH","from":0,"until":1000)";
const char kOnKey[] = R"("key":"KEY","holder":"ann")";

std::vector<Right> rights() {
  return {
      command("define", kOnPath, "-"),
      command("change", kOnPath, "-"),
      command("close", kOnPath, "-"),
      command("open", kOnPath, "-"),
      command("retire", kOnPath, "-"),
      command("retire", R"("resource":"PATH","force":true)", "-", "-"),
      command("hours", kWindow, "-"),
      command("unhours", kWindow, "-"),
      command("block", kWindow, "-"),
      command("unblock", kWindow, "-"),
      command("hold", kOnPath, "-"),
      command("hold_any", kOnPath, "-"),
      command("extend", kOnKey, "?"),
      command("extend", R"("cart":"KEY","holder":"ann")", "?"),
      command("release", kOnKey, "?"),
      command("release", R"("cart":"KEY","holder":"ann")", "?"),
      command("commit", kOnKey, "?"),
      command("commit", R"("cart":"KEY","holder":"ann")", "?"),
      command("cancel", kOnKey, "?"),
      command("steal", R"("key":"KEY","from_holder":"ann")", "?"),
      command("steal", R"("key":"KEY","from_holder":"ann","force":true)", "-", "-"),
      command("move", kOnKey, "?"),
      command("move", R"("key":"KEY","holder":"ann","to":"PATH")", "-"),
      command("end_all", kOnPath, "-", "-"),
      command("end_all", R"("resource":"PATH","dry_run":true)", "-", "-"),
      command("check", R"("resource":"PATH","open":true)", "-"),
      command("transact", R"("steps":[{"hold":{"resource":"PATH"}}])", "-"),
      command("transact", R"("steps":[{"release":{"key":"KEY","holder":"ann"}}])", "?"),
      query("claim", R"("key":"KEY")", "?"),
      query("claim", R"("key":"KEY","as_of":"@HEAD")", "?"),
      query("claims", kOnPath, "-"),
      query("availability", kOnPath, "-"),
      query("availability", kWindow, "-"),
      query("history", kOnPath, "-"),
      query("head", "", "+"),
      query("next_free", R"("resource":"PATH","duration":1000)", "-"),
      query("resources", kOnPath, "-"),
      query("tallies", kOnPath, "-"),
      query("access", "", "-", "-"),
      queries("claim", R"("key":"KEY")", "?"),
      queries("claim", R"("key":"KEY","as_of":"@HEAD")", "?"),
      queries("availability", kOnPath, "-"),
      queries("availability", kWindow, "-"),
      queries("next_free", R"("resource":"PATH","duration":1000)", "-"),
      proof_of("records", R"("from":1,"until":1)"),
      proof_of("inclusion", R"("positions":[1],"size":1)"),
      proof_of("consistency", R"("first":1,"size":1)"),
      proof_of("paths", R"("paths":["PATH"])"),
      proof_of("chain", R"("path":"PATH","last":1,"size":1)"),
      for_operators("admin.sweep", R"({"admin":{"sweep":{}}})"),
      for_operators("admin.rebuild", R"({"admin":{"rebuild":{}}})"),
      for_operators("admin.confirm_clock", R"({"admin":{"confirm_clock":{}}})"),
      for_operators("admin.reload_tokens", R"({"admin":{"reload_tokens":{}}})"),
      for_operators("import_begin", R"({"import_begin":{"file":")" + std::string(64, '0') + "\"}}"),
      for_operators("import_lines",
                    R"({"import_lines":[{"line":1,"command":{"hold":{"resource":"PATH"}}}]})"),
      for_operators("import_end", R"({"import_end":{}})"),
  };
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
  }
  return text;
}

Request request_of(const std::string& json) {
  Request request;
  const auto done = from_json(json, request.root());
  EXPECT_TRUE(done) << done.error().text() << "\n" << json;
  return request;
}

// Tokens of each role, whose text is the actor's name.
std::string token_lines() {
  const auto line = [](const std::string& actor, const std::string& rest) {
    return "{\"sha256\":\"" + proof::to_hex(token_digest(actor)) + "\",\"actor\":\"" + actor +
           "\"," + rest + "}\n";
  };
  return line("app", R"("role":"app","paths":["hall"])") + line("auditor", R"("role":"auditor")") +
         line("operator", R"("role":"operator")");
}

class Rights : public testing::Test {
 protected:
  Rights() {
    write(token_lines());
    auto opened = Tokens::open(file_);
    EXPECT_TRUE(opened) << opened.error();
    tokens_ = std::move(*opened);
    running_ = std::make_unique<RunningServer>(ServerOptions{}, LedgerOptions{}, HubOptions{},
                                               access::Options{}, tokens_.get());
  }

  void write(const std::string& text) { std::ofstream(file_) << text; }

  ClientOptions as(const std::string& token) const {
    ClientOptions options = running_->client_options();
    options.token = token;
    return options;
  }
  BlockingClient& client(const std::string& role) {
    auto& client = clients_[role];
    if (!client) client = std::make_unique<BlockingClient>(as(role));
    return *client;
  }
  Response ask(const std::string& role, const std::string& json) {
    auto answer = client(role).call(request_of(json));
    EXPECT_TRUE(answer) << answer.error().text << "\n" << json;
    return std::move(*answer);
  }
  void hold(const std::string& path, const std::string& key) {
    const auto answer =
        ask("operator", R"({"batch":[{"hold":{"resource":")" + path + R"(","key":")" + key +
                            R"(","holder":"ann","cart":")" + key + R"("}}]})");
    EXPECT_TRUE(answer.root().getOutcomes()[0].isAccepted());
  }

  static std::string told(wire::Refusal::Reader refusal) {
    if (refusal.getReason() == wire::Reason::FORBIDDEN) return "-";
    return refusal.getReason() == wire::Reason::UNKNOWN_CLAIM ? "?" : "+";
  }
  // On a resource and a hold of their own, inside or outside the app's paths.
  std::string judged(const std::string& role, const Right& right, const std::string& above) {
    const std::string name = std::to_string(++names_);
    hold(above + "/" + name, "k" + name);
    std::string json = replaced(right.json, "PATH", above + "/" + name);
    json = replaced(json, "KEY", "k" + name);
    json = replaced(json, "HEAD", std::to_string(running_->log().head().value));
    auto answer = client(role).call(request_of(json));
    if (!answer) return "+";  // an error, for a reason of its own
    const auto response = answer->root();
    if (response.isRefused()) return told(response.getRefused());
    if (response.isAnswers()) {
      const auto one = response.getAnswers()[0];
      return one.isRefused() ? told(one.getRefused()) : "+";
    }
    if (!response.isOutcomes()) return "+";
    const auto outcome = response.getOutcomes()[0];
    return outcome.isRefused() ? told(outcome.getRefused()) : "+";
  }

  const std::string file_ = testing::TempDir() + "holdfast-rights-test-" + std::to_string(getpid());
  std::unique_ptr<Tokens> tokens_;
  std::unique_ptr<RunningServer> running_;
  std::map<std::string, std::unique_ptr<BlockingClient>> clients_;
  int names_ = 0;
};

TEST_F(Rights, EveryRequestByEveryRole) {
  for (const Right& right : rights()) {
    EXPECT_EQ(judged("app", right, "hall"), right.app_inside) << "app, inside: " << right.json;
    EXPECT_EQ(judged("app", right, "cellar"), right.app_outside) << "app, outside: " << right.json;
    EXPECT_EQ(judged("auditor", right, "hall"), right.auditor) << "auditor: " << right.json;
    EXPECT_EQ(judged("operator", right, "hall"), right.operations) << "operator: " << right.json;
  }
}

// What the schema has and the table above has not would be let through unseen.
TEST(RightsTable, HasEveryRequest) {
  std::set<std::string> have = {"hello", "subscription", "batch"};  // and these below
  for (const Right& right : rights()) have.insert(right.request);
  const auto expect_all = [&](capnp::StructSchema schema, const std::string& prefix) {
    for (const auto& field : fields_of(schema)) {
      if (!field.in_union) continue;
      EXPECT_TRUE(have.contains(prefix + field.name)) << prefix << field.name;
    }
  };
  expect_all(capnp::Schema::from<wire::Command>(), "");
  expect_all(capnp::Schema::from<wire::Query>(), "query.");
  expect_all(capnp::Schema::from<wire::Admin>(), "admin.");
  expect_all(capnp::Schema::from<wire::Proof>(), "proof.");
  have.insert({"query", "admin", "proof"});
  expect_all(capnp::Schema::from<wire::Request>(), "");
}

TEST_F(Rights, TheActorIsTheTokens) {
  ClientOptions options = as("app");
  options.actor = "somebody-else";
  BlockingClient client(options);
  const auto held = client.call(request_of(R"({"batch":[{"hold":{"resource":"hall/1"}}]})"));
  ASSERT_TRUE(held) << held.error().text;
  EXPECT_STREQ(held->root().getOutcomes()[0].getAccepted().getClaim().getHolder().cStr(), "app");
  const auto history = ask("auditor", R"({"query":{"history":{}}})");
  const auto event = history.root().getHistory().getEvents()[0];
  EXPECT_STREQ(event.getActor().cStr(), "app");
  EXPECT_TRUE(std::string(event.getSource().cStr()).starts_with("127.0.0.1:"));
}

TEST_F(Rights, WithoutAGoodTokenNobodyIsServed) {
  for (const char* token : {"", "nonsense", "ap", "appp"}) {
    BlockingClient client(as(token));
    const auto answer = client.call(request_of(R"({"query":{"head":{}}})"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ClientError::Kind::server);
    EXPECT_EQ(answer.error().server_error, wire::ErrorKind::BAD_TOKEN);
  }
  const auto turned_away = ask("auditor", R"({"query":{"access":{"type":"hello"}}})");
  const auto records = turned_away.root().getAccess().getRecords();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_STREQ(records[0].getReason().cStr(), "bad_token");
  EXPECT_STREQ(records[0].getActor().cStr(), "");
  EXPECT_TRUE(std::string(records[0].getSource().cStr()).starts_with("127.0.0.1:"));
}

TEST_F(Rights, ListsAreNarrowedToTheAppsPaths) {
  hold("hall/1", "in");
  hold("cellar/1", "out");
  ask("operator",
      R"({"batch":[{"define":{"resource":"hall/1"}},{"define":{"resource":"cellar/1"}}]})");
  const std::uint64_t head = running_->log().head().value;
  const std::string as_of = R"("as_of":"@)" + std::to_string(head) + "\"";
  for (const std::string& fields :
       {std::string(), std::string(R"("holder":"ann")"), as_of, std::string(R"("state":"all")")}) {
    const auto answer = ask("app", R"({"query":{"claims":{)" + fields + "}}}");
    const auto claims = answer.root().getClaims().getClaims();
    ASSERT_EQ(claims.size(), 1u) << fields;
    EXPECT_STREQ(claims[0].getKey().cStr(), "in");
  }
  for (const std::string& fields : {std::string(), as_of}) {
    const auto answer = ask("app", R"({"query":{"resources":{)" + fields + "}}}");
    const auto resources = answer.root().getResources().getResources();
    ASSERT_EQ(resources.size(), 1u) << fields;
    EXPECT_STREQ(resources[0].getResource().cStr(), "hall/1");
  }
  for (const char* fields : {"", R"("holder":"ann")", R"("actor":"operator")"}) {
    const auto answer = ask("app", std::string(R"({"query":{"history":{)") + fields + "}}}");
    for (const auto event : answer.root().getHistory().getEvents()) {
      EXPECT_STREQ(event.getResource().cStr(), "hall/1") << fields;
    }
    EXPECT_GE(answer.root().getHistory().getEvents().size(), 1u) << fields;
  }
}

TEST_F(Rights, ATransactionSaysOfEachPositionWhatIsForbidden) {
  hold("cellar/1", "out");
  const auto answer = ask("app", R"({"batch":[{"transact":{"steps":[
      {"hold":{"resource":"hall/1"}},{"hold":{"resource":"cellar/2"}},
      {"check":{"key":"out","live":true}}]}}]})");
  const auto positions = answer.root().getOutcomes()[0].getRefused().getPositions();
  ASSERT_EQ(positions.size(), 3u);
  EXPECT_TRUE(positions[0].isNone());
  EXPECT_EQ(positions[1].getRefused().getReason(), wire::Reason::FORBIDDEN);
  EXPECT_EQ(positions[2].getRefused().getReason(), wire::Reason::CHECK_FAILED);
  EXPECT_STREQ(positions[2].getRefused().getActual().cStr(), "unknown");
}

TEST_F(Rights, ABadFormComesBeforeWhatIsForbidden) {
  const auto answer = ask("app", R"({"batch":[{"hold":{"resource":"cellar/1","ttl":0}}]})");
  EXPECT_EQ(answer.root().getOutcomes()[0].getRefused().getReason(), wire::Reason::BAD_TTL);
}

TEST_F(Rights, AnAnswerGivenBeforeIsNotRepeatedBeyondThePaths) {
  const std::string hold_once = R"({"batch":[{"hold":{"resource":"hall/1","key":"h"},
                                    "request_id":"r"}]})";
  ask("app", hold_once);
  ask("operator", R"({"batch":[{"move":{"key":"h","to":"cellar/1"}}]})");
  const auto repeated = ask("app", hold_once);
  EXPECT_TRUE(repeated.root().getOutcomes()[0].getAccepted().getReplayed());

  ask("app", R"({"batch":[{"hold":{"resource":"hall/2","key":"g","holder":"ann"}}]})");
  const std::string release_once =
      R"({"batch":[{"release":{"key":"g","holder":"ann"},"request_id":"s"}]})";
  ask("app", release_once);
  write(replaced(token_lines(), "hall", "customers"));
  ask("operator", R"({"admin":{"reload_tokens":{}}})");
  EXPECT_EQ(ask("app", release_once).root().getOutcomes()[0].getRefused().getReason(),
            wire::Reason::UNKNOWN_CLAIM);
}

TEST_F(Rights, AClaimThatWasMovedAwayIsGone) {
  hold("hall/1", "h");
  ask("operator", R"({"batch":[{"move":{"key":"h","to":"cellar/1"}}]})");
  const auto release = R"({"batch":[{"release":{"key":"h","holder":"ann"}}]})";
  EXPECT_EQ(ask("app", release).root().getOutcomes()[0].getRefused().getReason(),
            wire::Reason::UNKNOWN_CLAIM);
}

TEST_F(Rights, AWatcherSeesWhatIsInItsPaths) {
  Watcher watcher(as("app"), {.from = 1});
  ASSERT_TRUE(watcher.wait_until_caught_up());
  hold("cellar/1", "out");
  hold("hall/1", "in");
  ask("operator", R"({"batch":[{"move":{"key":"in","to":"cellar/2"}},
                              {"release":{"key":"in","holder":"ann"}}]})");
  hold("hall/2", "last");
  ASSERT_TRUE(watcher.wait_for_position(5));
  EXPECT_EQ(watcher.positions(), (std::vector<std::uint64_t>{2, 3, 5}));

  Watcher outside(as("app"), {.resource = "cellar"});
  const auto ended = outside.wait_until_ended();
  ASSERT_TRUE(ended) << ended.error().text;
  EXPECT_EQ(ended->root().getRefused().getReason(), wire::Reason::FORBIDDEN);
}

TEST_F(Rights, ATokenTakenBackEndsItsConnection) {
  Watcher watcher(as("app"), {.from = 1});
  ASSERT_TRUE(watcher.wait_until_caught_up());
  ask("app", R"({"query":{"head":{}}})");
  std::string others = token_lines();
  write(others.substr(others.find('\n') + 1));
  EXPECT_TRUE(ask("operator", R"({"admin":{"reload_tokens":{}}})").root().isDone());

  const auto refused = client("app").call(request_of(R"({"query":{"head":{}}})"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().server_error, wire::ErrorKind::BAD_TOKEN);
  hold("hall/1", "not-seen");
  const auto ended = watcher.wait_until_ended();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().server_error, wire::ErrorKind::BAD_TOKEN);
  EXPECT_EQ(watcher.positions(), std::vector<std::uint64_t>{});
  ask("auditor", R"({"query":{"head":{}}})");

  const auto changes = ask("auditor", R"({"query":{"access":{"type":"configuration_changed"}}})");
  EXPECT_EQ(changes.root().getAccess().getRecords().size(), 1u);
}

TEST_F(Rights, AFileThatCannotBeReadIsAnErrorAndChangesNothing) {
  write("nonsense");
  const auto answer = client("operator").call(request_of(R"({"admin":{"reload_tokens":{}}})"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().server_error, wire::ErrorKind::UNAVAILABLE);
  ask("app", R"({"query":{"head":{}}})");
}

}  // namespace
}  // namespace holdfast::api
