#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "api/access_recorder.h"
#include "api/client.h"
#include "api/dispatch.h"
#include "api/live/hub.h"
#include "api/server.h"
#include "ledger/clock.h"
#include "ledger/ledger.h"
#include "ledger/store/log.h"
#include "ledger/store/memory_file_system.h"
#include "projections/projections.h"

namespace holdfast::api {

// A whole server in this process, on a free port, over a disk in memory.
class RunningServer {
 public:
  explicit RunningServer(ServerOptions server_options = {}, LedgerOptions ledger_options = {},
                         HubOptions hub_options = {}, access::Options access_options = {},
                         Tokens* tokens = nullptr) {
    store::OpenOptions log_options;
    log_options.fs = disk_.mount();
    log_options.dir = "/data";
    auto opened_log = store::Log::open(log_options);
    EXPECT_TRUE(opened_log) << opened_log.error().what;
    log_ = std::move(*opened_log);
    State state;
    projections::Options options;
    options.fs = disk_.mount();
    options.dir = "/data";
    auto opened = projections::Projections::open(options, *log_, state);
    EXPECT_TRUE(opened) << opened.error().what;
    projections_ = std::move(*opened);
    hub_ = std::make_unique<Hub>(*log_, *projections_, time_, hub_options);
    ledger_ = std::make_unique<Ledger>(*log_, std::move(state), time_, *projections_, *hub_,
                                       ledger_options);
    access_options.fs = access_disk_.mount();
    access_options.dir = "/data";
    auto accesses = access::AccessLog::open(access_options, time_, [](const std::string&) {});
    EXPECT_TRUE(accesses) << accesses.error().what;
    accesses_ = std::move(*accesses);
    recorder_ = std::make_unique<AccessRecorder>(*accesses_, true);
    dispatch_ = std::make_unique<Dispatch>(*ledger_, *projections_, key_, recorder_.get(), tokens);
    server_options.listen = {"127.0.0.1", 0};
    auto listening = Server::listen(server_options, *dispatch_, *hub_);
    EXPECT_TRUE(listening) << listening.error();
    server_ = std::move(*listening);
  }

  ~RunningServer() {
    server_->stop();
    ledger_->stop();
    projections_->stop();
  }

  Server& server() { return *server_; }
  Dispatch& dispatch() { return *dispatch_; }
  Hub& hub() { return *hub_; }
  access::AccessLog& accesses() { return *accesses_; }
  store::MemoryDisk& disk_of_accesses() { return access_disk_; }
  const store::Log& log() const { return *log_; }
  std::uint16_t port() const { return server_->port(); }

  ClientOptions client_options() const {
    ClientOptions options;
    options.server = server_->address();
    options.actor = "tester";
    options.give_up_after = std::chrono::milliseconds(0);
    return options;
  }

 private:
  store::MemoryDisk disk_;
  store::MemoryDisk access_disk_;
  MachineTime time_;
  std::unique_ptr<store::Log> log_;
  std::unique_ptr<projections::Projections> projections_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<Ledger> ledger_;
  const proof::SigningKey key_ = proof::SigningKey::generate();
  std::unique_ptr<access::AccessLog> accesses_;
  std::unique_ptr<AccessRecorder> recorder_;
  std::unique_ptr<Dispatch> dispatch_;
  std::unique_ptr<Server> server_;
};

}  // namespace holdfast::api
