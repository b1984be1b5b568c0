#include "tools/scenario/world.h"

#include <algorithm>
#include <future>
#include <utility>

#include "api/text/pages.h"

namespace holdfast::scenario {

void ScenarioTime::pass_to(Instant at) {
  const std::int64_t passed = at.ms - wall_ms_.load();
  steady_ms_ += std::max<std::int64_t>(0, passed);
  wall_ms_ = at.ms;
}

World::World() = default;
World::~World() { close(); }

tl::expected<void, std::string> World::open() {
  const std::shared_ptr<rocksdb::FileSystem> fs = disk_.mount();
  store::OpenOptions log_options;
  log_options.fs = fs;
  log_options.dir = "/data";
  auto log = store::Log::open(log_options);
  if (!log) return tl::unexpected(log.error().what);
  log_ = *std::move(log);
  State state(past_horizon_);
  projections::Options projection_options;
  projection_options.fs = fs;
  projection_options.dir = "/data";
  auto projections = projections::Projections::open(projection_options, *log_, state);
  if (!projections) return tl::unexpected(projections.error().what);
  projections_ = *std::move(projections);
  LedgerOptions options;
  options.sweep = false;  // the scenario says when
  options.min_free_disk_bytes = 0;
  ledger_ = std::make_unique<Ledger>(*log_, std::move(state), time_, *projections_, *projections_,
                                     options);
  dispatch_ = std::make_unique<api::Dispatch>(*ledger_, *projections_, key_);
  ledger_now();  // what happens at the start happens at this instant
  return {};
}

void World::close() {
  dispatch_.reset();
  if (ledger_) ledger_->stop();
  if (projections_) projections_->stop();
  ledger_.reset();
  projections_.reset();
  log_.reset();
}

void World::crash() {
  dispatch_.reset();
  ledger_->abandon();
  projections_->abandon();
  disk_.crash();
  ledger_.reset();
  projections_.reset();
  log_.reset();
}

void World::disconnect() { ledger_->disconnect(connection_++); }

Answer World::ask(wire::Request::Reader request, const std::string& actor) {
  std::promise<api::Fill> given;
  const api::Caller caller{
      .grant = {Actor::trusted(actor)}, .source = {}, .connection = connection_};
  dispatch_->handle(request, caller, [&](api::Fill fill) { given.set_value(std::move(fill)); });
  Answer answer;
  given.get_future().get()(answer.builder());
  return answer;
}

Answer World::ask_whole(wire::Request::Builder request, const std::string& actor) {
  std::vector<Answer> pages;
  pages.push_back(ask(request.asReader(), actor));
  for (auto page = api::page_of(pages.back().root()); page && !page->cursor.empty();
       page = api::page_of(pages.back().root())) {
    api::set_page(request.getQuery(), page->cursor, 0);
    pages.push_back(ask(request.asReader(), actor));
  }
  if (pages.size() == 1 || !api::page_of(pages.back().root())) return std::move(pages.back());
  std::vector<wire::Response::Reader> roots;
  roots.reserve(pages.size());
  for (const Answer& page : pages) roots.push_back(page.root());
  Answer whole;
  api::join_pages(roots, whole.builder());
  return whole;
}

void World::sweep_all() {
  for (bool left = true; left;) {
    std::promise<SweepReport> done;
    ledger_->sweep(1'000, [&](SweepReport report) { done.set_value(report); });
    const SweepReport report = done.get_future().get();
    left = report.left > 0 && report.recorded > 0;  // none while the clock is unsafe
  }
}

Instant World::ledger_now() {
  std::promise<Instant> now;
  ledger_->read([&](const State&, Instant at) -> Ledger::Deliver {
    return [&now, at](Position) { now.set_value(at); };
  });
  return now.get_future().get();
}

tl::expected<std::vector<std::string>, std::string> World::rebuild() {
  auto rebuilt = projections_->rebuild([](Position) {});
  if (!rebuilt) return tl::unexpected(rebuilt.error().what);
  return rebuilt->differences;
}

}  // namespace holdfast::scenario
