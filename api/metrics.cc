#include "api/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <array>
#include <filesystem>
#include <future>
#include <string_view>
#include <utility>

namespace holdfast::api {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::chrono::seconds kPatience{1};

// In the order of Action.
constexpr std::array<std::string_view, LedgerCounts::kCommands> kCommandNames{
    "define",  "change", "close",  "open",  "retire", "window",  "hold",  "hold_any", "extend",
    "release", "commit", "cancel", "steal", "move",   "end_all", "check", "transact", "malformed"};
static_assert(std::is_same_v<std::variant_alternative_t<6, Action>, Hold> &&
              std::is_same_v<std::variant_alternative_t<16, Action>, Transact>);
constexpr std::array<std::string_view, kTold> kToldNames{"accepted", "unchanged", "replayed",
                                                         "refused"};
constexpr std::array<std::string_view, 3> kFolders{"ledger", "access", "projections"};

// Families, one after the other.
class Families {
 public:
  void counter(std::string name, std::string help, std::uint64_t value) {
    begin(std::move(name), std::move(help), MetricType::Counter);
    add({}, value);
  }
  template <class Number>
  void gauge(std::string name, std::string help, Number value) {
    begin(std::move(name), std::move(help), MetricType::Gauge);
    add({}, value);
  }
  void begin(std::string name, std::string help, MetricType type) {
    all_.push_back({"holdfast_" + std::move(name), std::move(help), type, {}});
  }
  // To the family begun last.
  template <class Number>
  void add(std::vector<ClientMetric::Label> labels, Number number) {
    const auto value = static_cast<double>(number);
    ClientMetric metric;
    metric.label = std::move(labels);
    (all_.back().type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    all_.back().metric.push_back(std::move(metric));
  }
  // `unit`: what one of the values counted comes to.
  template <class Values>
  void histogram(std::string name, std::string help, const Values& values, double unit) {
    begin(std::move(name), std::move(help), MetricType::Histogram);
    ClientMetric metric;
    auto& histogram = metric.histogram;
    for (std::size_t i = 0; i < Values::kBuckets; ++i) {
      histogram.sample_count += values.count(i);
      histogram.bucket.push_back(
          {histogram.sample_count, unit * static_cast<double>(Values::bound(i))});
    }
    histogram.sample_count += values.count(Values::kBuckets);
    histogram.sample_sum = unit * static_cast<double>(values.sum());
    all_.back().metric.push_back(std::move(metric));
  }
  std::string text() const { return prometheus::TextSerializer().Serialize(all_); }

 private:
  std::vector<MetricFamily> all_;
};

ClientMetric::Label label(const char* name, std::string_view value) {
  return {name, std::string(value)};
}

std::string hexadecimal(const store::LedgerId& id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : id) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

// Files come and go meanwhile.
std::uint64_t bytes_below(const std::string& dir) {
  std::uint64_t bytes = 0;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(dir, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const auto size = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

void add_commands(const LedgerCounts& counts, Families& families) {
  families.begin("commands_total",
                 "Commands decided, by type and outcome; a transaction counts as one.",
                 MetricType::Counter);
  for (std::size_t command = 0; command < kCommandNames.size(); ++command) {
    for (std::size_t told = 0; told < kTold; ++told) {
      families.add({label("command", kCommandNames[command]), label("outcome", kToldNames[told])},
                   counts.commands[command][told].get());
    }
  }
  families.begin("refusals_total",
                 "Commands refused, by reason; overloaded ones were not decided, so that no type "
                 "counts them.",
                 MetricType::Counter);
  for (std::size_t reason = 0; reason < LedgerCounts::kReasons; ++reason) {
    families.add({label("reason", reason_name(static_cast<Reason>(reason)))},
                 counts.refusals[reason].get());
  }
  families.counter("reads_total", "Reads of the current state: queries, hellos, scrapes.",
                   counts.reads.get());
  families.histogram("group_events", "Events of one synced write.", counts.group_events, 1);
  families.histogram("group_write_seconds",
                     "Time of one synced write: encoding, hashing, the log's sync and the "
                     "watermark's.",
                     counts.write_us, 1e-6);
}

void add_status(const Ledger::Status& status, Families& families) {
  families.gauge("queued_commands", "Commands waiting to be decided.", status.queued_commands);
  families.gauge("unwritten_commands", "Commands decided and waiting to be written.",
                 status.unwritten_commands);
  families.gauge("read_only", "1: commands are refused, for an import or for want of disk space.",
                 status.read_only);
  families.gauge("importing", "1: the ledger is in import mode.", status.importing);
  families.gauge("clock_unsafe", "1: commands are refused until an operator confirms the clock.",
                 status.clock_unsafe);
}

void add_projections(const projections::Progress& progress, Position head, Families& families) {
  const std::uint64_t position = std::min(progress.position.value, head.value);
  families.gauge("projection_position", "Last position that the projections have applied.",
                 position);
  families.gauge("projection_lag_events", "Events of the log that they have not applied yet.",
                 head.value - position);
  families.gauge("projection_progress_timestamp_seconds",
                 "When the last event that they have applied was recorded.",
                 static_cast<double>(progress.at.ms) / 1e3);
  families.gauge("projection_stopped", "1: an event cannot be read, and they go no further.",
                 progress.stopped.has_value());
}

}  // namespace

Metrics::Metrics(Ledger& ledger, const projections::Projections& projections, const Hub& hub,
                 const Server& server, std::string dir)
    : ledger_(ledger),
      projections_(projections),
      hub_(hub),
      server_(server),
      dir_(std::move(dir)) {}

std::optional<Metrics::Standing> Metrics::ask_writer() const {
  auto told = std::make_shared<std::promise<Standing>>();
  auto standing = told->get_future();
  ledger_.read([told](const State& state, Instant) -> Ledger::Deliver {
    return [told, now = Standing{state.live_claims(), state.unrecorded_claims()}](Position) {
      told->set_value(now);
    };
  });
  if (standing.wait_for(kPatience) != std::future_status::ready) return std::nullopt;
  return standing.get();
}

std::string Metrics::text() const {
  Families families;
  const store::Log& log = ledger_.log();
  families.begin("build_info", "Always 1; the version is a label.", MetricType::Gauge);
  families.add({label("version", HOLDFAST_VERSION)}, 1);
  families.begin("ledger_info", "Always 1; the ledger's id is a label.", MetricType::Gauge);
  families.add({label("ledger_id", hexadecimal(log.id()))}, 1);
  if (const auto standing = ask_writer()) {
    families.gauge("live_claims", "Claims that occupy something, as far as memory holds them.",
                   standing->live_claims);
    families.gauge("unrecorded_expiries", "Holds that have lapsed and are not recorded as expired.",
                   standing->unrecorded);
  }
  add_commands(ledger_.counts(), families);
  add_status(ledger_.status(), families);
  const Position head = log.head();
  families.gauge("log_position", "Last durable position of the log.", head.value);
  add_projections(projections_.progress(), head, families);
  families.gauge("connections", "Connections of clients.", server_.connections());
  families.gauge("subscriptions", "Subscriptions to live events.", hub_.subscriptions());
  families.gauge("session_bytes", "Memory that requests and answers under way may occupy.",
                 server_.bytes_in_use());
  families.begin("disk_bytes", "Size of the files, by folder of DATA.", MetricType::Gauge);
  for (const std::string_view folder : kFolders) {
    families.add({label("folder", folder)}, bytes_below(dir_ + "/" + std::string(folder)));
  }
  if (const auto free = log.free_bytes()) {
    families.gauge("disk_free_bytes", "Free space where DATA lies.", *free);
  }
  return families.text();
}

Readiness Metrics::readiness() const {
  Readiness readiness;
  const auto note = [&](bool is_so, std::string what) {
    if (is_so) readiness.obstacles.push_back(std::move(what));
  };
  const Ledger::Status status = ledger_.status();
  note(status.importing, "an import is under way");
  note(status.read_only && !status.importing, "there is too little free disk space");
  note(status.clock_unsafe, "the clock has leapt: holdfast confirm-clock");
  if (const auto stopped = projections_.progress().stopped) note(true, *stopped);
  note(!ask_writer(), "the ledger does not answer");
  return readiness;
}

}  // namespace holdfast::api
