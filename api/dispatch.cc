#include "api/dispatch.h"

#include <kj/debug.h>
#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "api/access_query.h"
#include "api/convert_command.h"
#include "api/dispatch_proof.h"
#include "api/dispatch_query.h"
#include "api/rights.h"

namespace holdfast::api {

namespace {

constexpr unsigned kMaxBatch = 8'192;
constexpr std::uint32_t kMaxSweep = 100'000;
constexpr char kDefaultActor[] = "anonymous";

void check_batch_size(unsigned size) {
  KJ_REQUIRE(size > 0, "a batch of nothing");
  KJ_REQUIRE(size <= kMaxBatch, "a batch of more than 8192", size);
}

std::string_view text(capnp::Text::Reader reader) { return {reader.cStr(), reader.size()}; }

}  // namespace

class Dispatch::Impl {
 public:
  Impl(Ledger& ledger, projections::Projections& projections, const proof::SigningKey& key,
       const AccessRecorder* recorder, Tokens* tokens)
      : ledger_(ledger),
        projections_(projections),
        recorder_(recorder),
        tokens_(tokens),
        queries_(ledger, projections, key),
        proofs_(ledger, projections, key),
        accesses_(ledger, recorder != nullptr ? &recorder->log() : nullptr, key) {}
  ~Impl() {
    if (rebuild_.joinable()) rebuild_.join();
  }

  tl::expected<Caller, Fill> greet(wire::Hello::Reader hello, std::string source,
                                   const Reply& reply);
  void handle(wire::Request::Reader request, const Caller& caller, Reply reply);
  const AccessRecorder* recorder() const { return recorder_; }
  bool is_still_granted(Caller& caller) const;
  tl::expected<std::string, std::string> reload_tokens();
  void farewell(const Caller& caller) { ledger_.disconnect(caller.connection); }

 private:
  tl::expected<Caller, Fill> identify(wire::Hello::Reader hello, std::string source);
  void carry_out(wire::Request::Reader request, const Caller& caller, Reply reply);
  void batch(capnp::List<wire::Command>::Reader commands, const Caller& caller, Reply reply);
  void admin(wire::Admin::Reader admin, Reply reply);
  void rebuild(Reply reply);
  void import_begin(wire::ImportBegin::Reader begin, Reply reply);
  void import_lines(capnp::List<wire::ImportLine>::Reader lines, const Caller& caller, Reply reply);
  void import_end(bool more, Reply reply);
  Position head() const { return ledger_.log().head(); }

  Ledger& ledger_;
  projections::Projections& projections_;
  const AccessRecorder* const recorder_;
  Tokens* const tokens_;
  Queries queries_;
  Proofs proofs_;
  AccessQueries accesses_;
  std::atomic<std::uint64_t> connections_{0};
  std::atomic<bool> rebuilding_{false};
  std::thread rebuild_;
};

tl::expected<Caller, Fill> Dispatch::Impl::greet(wire::Hello::Reader hello, std::string source,
                                                 const Reply& reply) {
  if (hello.getProtocolVersion() != wire::PROTOCOL_VERSION) {
    return tl::unexpected(error_answer(
        wire::ErrorKind::UNSUPPORTED_VERSION,
        "this server speaks protocol version " + std::to_string(wire::PROTOCOL_VERSION)));
  }
  const store::LedgerId id = ledger_.log().id();
  const kj::ArrayPtr<const kj::byte> own(reinterpret_cast<const kj::byte*>(id.data()), id.size());
  if (hello.hasLedgerId() && hello.getLedgerId() != own) {
    return tl::unexpected(
        error_answer(wire::ErrorKind::WRONG_LEDGER,
                     "this server's ledger is another one than the client names"));
  }
  auto caller = identify(hello, std::move(source));
  if (!caller) return caller;
  ledger_.read([reply, id](const State&, Instant now) -> Ledger::Deliver {
    return [reply, id, now](Position at) {
      reply([id, now, at](wire::Response::Builder response) {
        response.setPosition(at.value);
        auto answer = response.initHello();
        answer.setProtocolVersion(wire::PROTOCOL_VERSION);
        answer.setLedgerId({reinterpret_cast<const kj::byte*>(id.data()), id.size()});
        answer.setNow(now.ms);
        answer.setVersion(HOLDFAST_VERSION);
      });
    };
  });
  caller->connection = ++connections_;
  return caller;
}

tl::expected<Caller, Fill> Dispatch::Impl::identify(wire::Hello::Reader hello, std::string source) {
  if (tokens_ != nullptr) {
    const std::uint64_t seen = tokens_->changes();
    const Digest token = token_digest(text(hello.getToken()));
    auto grant = tokens_->grant_of(token);
    if (grant) return Caller{std::move(*grant), std::move(source), 0, token, seen};
    if (recorder_ != nullptr) recorder_->turned_away(source, wire::ErrorKind::BAD_TOKEN, head());
    return tl::unexpected(
        error_answer(wire::ErrorKind::BAD_TOKEN, hello.getToken().size() > 0
                                                     ? "the server does not know this token"
                                                     : "the server asks for a token"));
  }
  const std::string_view name =
      hello.getActor().size() > 0 ? text(hello.getActor()) : kDefaultActor;
  auto actor = actor_of_client(name);
  if (actor) return Caller{{std::move(*actor)}, std::move(source)};
  Refusal refusal{Reason::bad_text};
  refusal.field = "actor";
  return tl::unexpected(refused_answer(std::move(refusal), head()));
}

bool Dispatch::Impl::is_still_granted(Caller& caller) const {
  if (tokens_ == nullptr) return true;
  const std::uint64_t changes = tokens_->changes();
  if (changes == caller.seen) return true;
  caller.seen = changes;
  return tokens_->grant_of(caller.token) == caller.grant;
}

void Dispatch::Impl::handle(wire::Request::Reader request, const Caller& caller, Reply reply) {
  if (recorder_ != nullptr) {
    if (auto error = recorder_->unrecordable(request)) return reply(std::move(*error));
    reply = recorder_->recorded(request, caller, std::move(reply));
  }
  carry_out(request, caller, std::move(reply));
}

void Dispatch::Impl::carry_out(wire::Request::Reader request, const Caller& caller, Reply reply) {
  if (!may_send(caller.grant.role, request)) {
    return reply(refused_answer(Refusal{Reason::forbidden}, head()));
  }
  switch (request.which()) {
    case wire::Request::HELLO:
    case wire::Request::SUBSCRIPTION:
      break;
    case wire::Request::BATCH:
      return batch(request.getBatch(), caller, std::move(reply));
    case wire::Request::QUERY:
      if (request.getQuery().isAccess()) {
        return accesses_.ask(request.getQuery().getAccess(), reply);
      }
      return queries_.ask(request.getQuery(), caller, std::move(reply));
    case wire::Request::QUERIES:
      return queries_.ask(request.getQueries(), caller, std::move(reply));
    case wire::Request::ADMIN:
      return admin(request.getAdmin(), std::move(reply));
    case wire::Request::PROOF:
      return proofs_.ask(request.getProof(), std::move(reply));
    case wire::Request::IMPORT_BEGIN:
      return import_begin(request.getImportBegin(), std::move(reply));
    case wire::Request::IMPORT_LINES:
      return import_lines(request.getImportLines(), caller, std::move(reply));
    case wire::Request::IMPORT_END:
      return import_end(request.getImportEnd().getMore(), std::move(reply));
  }
  KJ_FAIL_REQUIRE("a request that this server does not know");
}

void Dispatch::Impl::batch(capnp::List<wire::Command>::Reader commands, const Caller& caller,
                           Reply reply) {
  check_batch_size(commands.size());
  std::vector<Submission> submissions;
  submissions.reserve(commands.size());
  for (const auto command : commands) submissions.push_back(to_submission(command, caller));
  ledger_.submit(std::move(submissions),
                 [reply = std::move(reply)](std::vector<Outcome> outcomes, Position at) {
                   reply(outcomes_answer(std::move(outcomes), at));
                 });
}

void Dispatch::Impl::admin(wire::Admin::Reader admin, Reply reply) {
  switch (admin.which()) {
    case wire::Admin::SWEEP:
      return ledger_.sweep(std::min(admin.getSweep().getLimit(), kMaxSweep),
                           [this, reply = std::move(reply)](SweepReport report) {
                             reply([report, at = head()](wire::Response::Builder response) {
                               response.setPosition(at.value);
                               auto answer = response.initSweep();
                               answer.setRecorded(report.recorded);
                               answer.setLeft(report.left);
                             });
                           });
    case wire::Admin::REBUILD:
      return rebuild(std::move(reply));
    case wire::Admin::CONFIRM_CLOCK:
      return ledger_.confirm_clock(
          [this, reply = std::move(reply)] { reply(done_answer(head())); });
    case wire::Admin::RELOAD_TOKENS: {
      const auto said = reload_tokens();
      return reply(said ? done_answer(head())
                        : error_answer(wire::ErrorKind::UNAVAILABLE, said.error()));
    }
  }
  KJ_FAIL_REQUIRE("an admin request that this server does not know");
}

void Dispatch::Impl::rebuild(Reply reply) {
  if (rebuilding_.exchange(true)) {
    return reply(error_answer(wire::ErrorKind::UNAVAILABLE, "a rebuild is running already"));
  }
  if (rebuild_.joinable()) rebuild_.join();
  rebuild_ = std::thread([this, reply = std::move(reply)] {
    projections_.wait_for(head());  // what was answered before is compared too
    auto rebuilt = projections_.rebuild([](Position) {});
    rebuilding_ = false;
    if (!rebuilt) return reply(error_answer(wire::ErrorKind::UNAVAILABLE, rebuilt.error().what));
    reply([rebuilt = std::move(*rebuilt)](wire::Response::Builder response) {
      response.setPosition(rebuilt.position.value);
      auto answer = response.initRebuild();
      answer.setPosition(rebuilt.position.value);
      auto list = answer.initDifferences(static_cast<unsigned>(rebuilt.differences.size()));
      for (unsigned i = 0; i < list.size(); ++i) list.set(i, rebuilt.differences[i]);
    });
  });
}

tl::expected<std::string, std::string> Dispatch::Impl::reload_tokens() {
  if (tokens_ == nullptr) {
    return tl::unexpected(std::string("the server was started without --tokens"));
  }
  auto said = tokens_->reload();
  if (said && recorder_ != nullptr) recorder_->configured("tokens", *said, head());
  return said;
}

void Dispatch::Impl::import_begin(wire::ImportBegin::Reader begin, Reply reply) {
  Digest file{};
  KJ_REQUIRE(begin.getFile().size() == file.size(), "the file's digest must have 32 bytes");
  std::copy(begin.getFile().begin(), begin.getFile().end(),
            reinterpret_cast<kj::byte*>(file.data()));
  ledger_.import_begin(file,
                       [this, reply = std::move(reply)](tl::expected<std::uint64_t, Refusal> line) {
                         if (!line) return reply(refused_answer(line.error(), head()));
                         reply([line = *line, at = head()](wire::Response::Builder response) {
                           response.setPosition(at.value);
                           response.initImport().setLine(line);
                         });
                       });
}

void Dispatch::Impl::import_lines(capnp::List<wire::ImportLine>::Reader lines, const Caller& caller,
                                  Reply reply) {
  check_batch_size(lines.size());
  std::vector<ImportLine> judged;
  judged.reserve(lines.size());
  // What a file binds is bound to nothing: the connection that brings it did not hold it.
  Caller bringer = caller;
  bringer.connection = 0;
  for (const auto line : lines) {
    judged.push_back(
        {line.getLine(), Instant{line.getAt()}, to_submission(line.getCommand(), bringer)});
  }
  ledger_.import_lines(std::move(judged),
                       [reply = std::move(reply)](std::vector<Outcome> outcomes, Position at) {
                         reply(outcomes_answer(std::move(outcomes), at));
                       });
}

void Dispatch::Impl::import_end(bool more, Reply reply) {
  ledger_.import_end(more, [this, reply = std::move(reply)](tl::expected<void, Refusal> ended) {
    reply(ended ? done_answer(head()) : refused_answer(ended.error(), head()));
  });
}

Dispatch::Dispatch(Ledger& ledger, projections::Projections& projections,
                   const proof::SigningKey& key, const AccessRecorder* recorder, Tokens* tokens)
    : impl_(std::make_unique<Impl>(ledger, projections, key, recorder, tokens)) {}
Dispatch::~Dispatch() = default;

tl::expected<Caller, Fill> Dispatch::greet(wire::Hello::Reader hello, std::string source,
                                           const Reply& reply) {
  return impl_->greet(hello, std::move(source), reply);
}

const AccessRecorder* Dispatch::recorder() const { return impl_->recorder(); }

bool Dispatch::is_still_granted(Caller& caller) const { return impl_->is_still_granted(caller); }

tl::expected<std::string, std::string> Dispatch::reload_tokens() { return impl_->reload_tokens(); }

void Dispatch::farewell(const Caller& caller) { impl_->farewell(caller); }

void Dispatch::handle(wire::Request::Reader request, const Caller& caller, Reply reply) {
  impl_->handle(request, caller, std::move(reply));
}

}  // namespace holdfast::api
