#include "tools/cli/export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "ledger/proof/export_frames.h"
#include "ledger/proof/export_manifest.h"
#include "ledger/proof/text_bytes.h"
#include "ledger/store/event_codec.h"
#include "tools/cli/aside_file.h"
#include "tools/cli/ask.h"
#include "tools/cli/connection.h"
#include "tools/cli/event_lines.h"
#include "tools/cli/export_file.h"
#include "tools/cli/progress.h"
#include "tools/cli/proof_bytes.h"
#include "tools/cli/public_key.h"
#include "tools/cli/record_stream.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kWriteAtOnce = 1 << 18;

using proof::ExportFormat;

// One export. What ends the program is the error, and is printed.
class Exporter {
 public:
  template <class T = void>
  using Got = tl::expected<T, Exit>;

  Exporter(const Options& options, const ExportOptions& what, ExportFormat format)
      : options_(options), what_(what), connection_(options), lines_(format) {
    manifest_.format = format;
    manifest_.filter = what.filter.given();
    manifest_.program = "holdfast " HOLDFAST_VERSION;
  }

  Got<> run();

 private:
  tl::unexpected<Exit> failed(std::string_view kind, const std::string& why) {
    return tl::unexpected(fail(options_, kind, why));
  }
  Got<api::Response> ask(api::Request request) {
    return cli::ask(options_, connection_, std::move(request));
  }
  Got<> fix_head();
  Got<> take_note(wire::HeadAnswer::Reader head);
  Got<> take_tree_before();
  Got<> write_all();
  Got<> add(std::string_view record);
  Got<> write_buffer();
  Got<> prove_root();
  Got<> write_manifest();
  void print_done() const;

  const Options& options_;
  const ExportOptions& what_;
  Connection connection_;
  const EventLines lines_;
  proof::ExportManifest manifest_;
  proof::Head head_;
  std::string public_key_;  // the server's own, as text
  proof::VerifierKey key_;  // which must have signed the head
  store::MerkleFrontier tree_;
  std::optional<AsideFile> file_;
  std::string buffer_;
};

Exporter::Got<> Exporter::run() {
  if (auto fixed = fix_head(); !fixed) return fixed;
  auto file = AsideFile::create(what_.out);
  if (!file) return failed("file", file.error());
  file_.emplace(std::move(*file));
  if (auto written = write_all(); !written) return written;
  if (auto proved = prove_root(); !proved) return proved;
  if (auto finished = file_->finish(); !finished) return failed("file", finished.error());
  if (auto written = write_manifest(); !written) return written;
  print_done();
  return {};
}

// What there is to export is what the log holds now; what comes later is not.
Exporter::Got<> Exporter::fix_head() {
  api::Request request;
  request.root().initQuery().initHead();
  const auto answer = ask(std::move(request));
  if (!answer) return tl::unexpected(answer.error());
  if (!answer->root().isHead()) return failed("server", "the server does not state its head");
  if (auto taken = take_note(answer->root().getHead()); !taken) return taken;
  manifest_.from = {what_.from};
  manifest_.until = {what_.until.value_or(head_.size)};
  const bool empty = head_.size == 0 && what_.from == 1 && !what_.until;
  if (!empty &&
      (what_.from == 0 || manifest_.from > manifest_.until || manifest_.until.value > head_.size)) {
    return failed("position", head_.size == 0
                                  ? "the log is empty"
                                  : fmt::format("the log has positions 1 to {}", head_.size));
  }
  return take_tree_before();
}

Exporter::Got<> Exporter::take_note(wire::HeadAnswer::Reader head) {
  public_key_ = head.getPublicKey().cStr();
  manifest_.head = head.getNote().cStr();
  if (!what_.public_key.empty()) {
    const auto key = read_public_key(what_.public_key);
    if (!key) return failed("public-key", key.error());
    key_ = *key;
  } else if (const auto own = proof::parse_verifier_key(public_key_)) {
    key_ = *own;
  } else {
    return failed("server", "the server's public key is none");
  }
  const auto stated = proof::read_signed_head(manifest_.head, key_);
  if (!stated) return failed("proof", "the server's head is not signed by the ledger's key");
  head_ = *stated;
  return {};
}

// The tree over what lies before the range, from the proof of its last event. That it is the log's
// shows at the end, when the root over all is.
Exporter::Got<> Exporter::take_tree_before() {
  const std::uint64_t size = manifest_.from.value - 1;
  if (size == 0) return {};
  api::Request request;
  auto inclusion = request.root().initProof().initInclusion();
  inclusion.setSize(size);
  inclusion.initPositions(1).set(0, size);
  const auto answer = ask(std::move(request));
  if (!answer) return tl::unexpected(answer.error());
  if (answer->root().isRecords() && answer->root().getRecords().size() == 1) {
    const auto record = answer->root().getRecords()[0];
    const auto peaks = proof::peaks_from_last(size, store::leaf_digest(view(record.getBytes())),
                                              path_of(record.getAudit()));
    if (peaks) {
      manifest_.before = *peaks;
      tree_ = *proof::tree_before(manifest_);
      return {};
    }
  }
  return failed("proof", "the server does not prove what lies before the range");
}

Exporter::Got<> Exporter::write_all() {
  if (manifest_.format == ExportFormat::bytes) {
    proof::append_header({head_.ledger, manifest_.from, manifest_.until}, buffer_);
  } else {
    lines_.append_header(buffer_);
  }
  const std::uint64_t total = manifest_.until.value + 1 - manifest_.from.value;
  Progress progress("exporting", total, "events");
  RecordStream stream(options_, connection_, manifest_.from, manifest_.until);
  auto streamed = stream.run([&](Position position, std::string_view record) -> Got<> {
    if (auto added = add(record); !added) return added;
    if (buffer_.size() < kWriteAtOnce) return {};
    const std::uint64_t done = position.value + 1 - manifest_.from.value;
    progress.show(done, done);
    return write_buffer();
  });
  progress.hide();
  return streamed ? write_buffer() : streamed;
}

Exporter::Got<> Exporter::add(std::string_view record) {
  tree_.append(record);
  if (manifest_.format == ExportFormat::bytes) {
    if (record.size() > proof::kMaxFrameBytes) {
      return failed("event",
                    fmt::format("no event is as long as that of position {}", tree_.size()));
    }
    ++manifest_.count;
    proof::append_frame(record, buffer_);
    return {};
  }
  const auto event = store::decode(record);
  if (!event) return failed("event", event.error());
  if (event->position.value != tree_.size()) {
    return failed("proof", fmt::format("at position {} stands the event of position {}",
                                       tree_.size(), event->position.value));
  }
  if (!what_.filter.passes(*event)) return {};
  ++manifest_.count;
  lines_.append(*event, buffer_);
  return {};
}

Exporter::Got<> Exporter::write_buffer() {
  if (auto written = file_->write(buffer_); !written) return failed("file", written.error());
  buffer_.clear();
  return {};
}

// That the events are the log's, from the signed head.
Exporter::Got<> Exporter::prove_root() {
  const std::uint64_t size = manifest_.until.value;
  manifest_.root = tree_.root();
  if (size < head_.size) {
    api::Request request;
    auto consistency = request.root().initProof().initConsistency();
    consistency.setFirst(size);
    consistency.setSize(head_.size);
    const auto answer = ask(std::move(request));
    if (!answer) return tl::unexpected(answer.error());
    if (!answer->root().isConsistency()) return failed("server", "the server proves nothing");
    manifest_.consistency = path_of(answer->root().getConsistency());
  }
  if (proof::check_manifest(manifest_, key_)) return {};
  return failed("proof",
                "the events that the server gave are not those which its head was made of: "
                "nothing of this export is to be relied on");
}

Exporter::Got<> Exporter::write_manifest() {
  manifest_.sha256 = file_->sha256();
  manifest_.bytes = file_->size();
  manifest_.file = std::filesystem::path(what_.out).filename().string();
  const std::string path = !what_.manifest.empty() ? what_.manifest
                           : file_->is_stdout()    ? std::string()
                                                   : manifest_beside(what_.out);
  if (path.empty()) return {};
  auto file = AsideFile::create(path);
  if (!file) return failed("file", file.error());
  // The manifest last: where there is one, its file is whole.
  auto done = file->write(proof::to_json(manifest_));
  if (done) done = file->finish();
  if (done) done = file_->publish();
  if (done) done = file->publish();
  if (!done) return failed("file", done.error());
  return {};
}

void Exporter::print_done() const {
  if (file_->is_stdout()) return;
  if (options_.json) {
    print_json(boost::json::object{{"file", what_.out},
                                   {"count", manifest_.count},
                                   {"from", manifest_.from.value},
                                   {"until", manifest_.until.value},
                                   {"bytes", manifest_.bytes},
                                   {"sha256", proof::to_hex(manifest_.sha256)},
                                   {"root", proof::to_hex(manifest_.root)},
                                   {"public_key", public_key_}});
    return;
  }
  print(
      fmt::format("{}: {} event{} of positions {} to {}, as the signed head of size {} states\n"
                  "public key: {}\n"
                  "anyone can check it: holdfast verify-export {} --public-key KEY\n",
                  what_.out, manifest_.count, manifest_.count == 1 ? "" : "s", manifest_.from.value,
                  manifest_.until.value, head_.size, public_key_, what_.out));
}

void add_filter(CLI::App& sub, EventFilter& filter) {
  const auto add = [&](const char* option, std::string& into, const char* about) {
    sub.add_option(option, into, about)->type_name("TEXT");
  };
  add("--resource", filter.resource, "only events on this path and below");
  add("--key", filter.key, "only events of one claim");
  add("--holder", filter.holder, "only events of claims of this holder");
  add("--actor", filter.actor, "only events written by this actor");
  add("--type", filter.type, "only events of this type: held, committed, closed ...");
  add("--correlation", filter.correlation, "only events that carry this correlation id");
}

}  // namespace

CLI::App* add_export(CLI::App& app, ExportOptions& options) {
  CLI::App* sub = app.add_subcommand("export", "write the events of the log to a file, proved")
                      ->group("Evidence")
                      ->fallthrough();
  sub->add_option("--out", options.out,
                  "the file; - for standard output. It appears when it is whole")
      ->required()
      ->type_name("FILE");
  auto* format = sub->add_option("--format", options.format, "jsonl, or csv")
                     ->check(CLI::IsMember({"jsonl", "csv"}))
                     ->type_name("FORMAT")
                     ->capture_default_str();
  sub->add_flag("--bytes", options.bytes, "instead: the stored bytes, which `holdfast load` reads")
      ->excludes(format);
  sub->add_option("--from", options.from, "first position")
      ->type_name("POSITION")
      ->capture_default_str();
  sub->add_option("--until", options.until, "last position (default: what the log has now)")
      ->type_name("POSITION");
  add_filter(*sub, options.filter);
  sub->add_option("--manifest", options.manifest,
                  "its manifest (default: FILE.manifest.json; of standard output none)")
      ->type_name("FILE");
  sub->add_option("--public-key", options.public_key,
                  "who must have signed the head (default: whoever the server says it is)")
      ->type_name("KEY|FILE");
  return sub;
}

Exit run_export(const Options& options, const ExportOptions& what) {
  if (what.bytes && !what.filter.given().empty()) {
    return fail(options, "usage", "an export of the stored bytes has every event of its range");
  }
  const ExportFormat format =
      what.bytes ? ExportFormat::bytes : proof::export_format(what.format).value();
  Exporter exporter(options, what, format);
  if (const auto done = exporter.run(); !done) return done.error();
  return Exit::accepted;
}

}  // namespace holdfast::cli
