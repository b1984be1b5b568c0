#pragma once

#include <memory>
#include <optional>

#include "api/answer.h"
#include "api/caller.h"
#include "ledger/access/access_log.h"

// Notes in the access log what is asked of the server.
namespace holdfast::api {

// One request that is no command, on its way to its answer: the record is written when it is
// answered, or when nobody is left who could answer it. Calls come one after the other.
class Asking {
 public:
  Asking(access::AccessLog& log, wire::Request::Reader request, const Caller& caller);
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  void answered(wire::Response::Reader response);
  // Of a subscription: the answer is its events, from here on.
  void begun(Position at);

 private:
  void record();

  access::AccessLog& log_;
  access::Entry entry_;
  access::Asked asked_;
  bool recorded_ = false;
};

// Any thread.
class AccessRecorder {
 public:
  // `refusals`: of commands, too. The log outlives the recorder and every reply it has given out.
  AccessRecorder(access::AccessLog& log, bool refusals) : log_(log), refusals_(refusals) {}

  access::AccessLog& log() const { return log_; }

  // A connection that was not let in.
  void turned_away(const std::string& source, wire::ErrorKind why, Position at) const;
  // A change of the configuration.
  void configured(const std::string& subject, const std::string& detail, Position at) const;

  // The answer in place of the request's own, where its record could not be kept: the log cannot be
  // written and the request leaves no other trace.
  std::optional<Fill> unrecordable(wire::Request::Reader request) const;

  // The reply that notes what was asked, or which commands were refused, when it is given its
  // answer. Every request is noted but for hello, and commands: those that are accepted are in the
  // ledger.
  Reply recorded(wire::Request::Reader request, const Caller& caller, Reply reply) const;
  std::shared_ptr<Asking> asking(wire::Request::Reader request, const Caller& caller) const;

 private:
  Reply each_recorded(capnp::List<wire::Query>::Reader queries, const Caller& caller,
                      Reply reply) const;
  Reply with_refusals(wire::Request::Reader request, const Caller& caller, Reply reply) const;

  access::AccessLog& log_;
  const bool refusals_;
};

}  // namespace holdfast::api
