#include "tools/cli/exporter.h"

#include <fmt/format.h>

#include <filesystem>

#include "ledger/proof/export_frames.h"
#include "ledger/store/event_codec.h"
#include "tools/cli/ask.h"
#include "tools/cli/progress.h"
#include "tools/cli/proof_bytes.h"
#include "tools/cli/record_stream.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kWriteAtOnce = 1 << 18;

using proof::ExportFormat;

}  // namespace

Exporter::Exporter(const Options& options, ExportFormat format)
    : options_(options), connection_(options), lines_(format) {
  manifest_.format = format;
  manifest_.program = "holdfast " HOLDFAST_VERSION;
}

Exporter::Got<api::Response> Exporter::ask(api::Request request) {
  return cli::ask(options_, connection_, std::move(request));
}

Exporter::Got<proof::Head> Exporter::take_head(const std::optional<proof::VerifierKey>& key) {
  api::Request request;
  request.root().initQuery().initHead();
  const auto answer = ask(std::move(request));
  if (!answer) return tl::unexpected(answer.error());
  if (!answer->root().isHead()) return failed("server", "the server does not state its head");
  if (auto taken = take_note(answer->root().getHead(), key); !taken) {
    return tl::unexpected(taken.error());
  }
  return head_;
}

Exporter::Got<> Exporter::take_note(wire::HeadAnswer::Reader head,
                                    const std::optional<proof::VerifierKey>& key) {
  public_key_ = head.getPublicKey().cStr();
  manifest_.head = head.getNote().cStr();
  const auto own = proof::parse_verifier_key(public_key_);
  if (!key && !own) return failed("server", "the server's public key is none");
  key_ = key ? *key : *own;
  const auto stated = proof::checked_head(manifest_.head, key_, "the server's log");
  if (!stated) return failed("proof", stated.error().what);
  head_ = *stated;
  return {};
}

Exporter::Got<> Exporter::write(Range range, const EventFilter& filter, const std::string& out,
                                const std::string& manifest) {
  manifest_.from = range.from;
  manifest_.until = range.until;
  manifest_.filter = filter.given();
  manifest_.file = std::filesystem::path(out).filename().string();
  if (auto before = take_tree_before(); !before) return before;
  if (range.root_before && tree_.root() != *range.root_before) {
    return tl::unexpected(unsound(
        options_, "forked", {1},
        fmt::format("the server's log up to position {} is another one", range.from.value - 1)));
  }
  auto file = AsideFile::create(out);
  if (!file) return failed("file", file.error());
  if (auto written = write_events(*file, filter); !written) return written;
  if (auto proved = prove_root(); !proved) return proved;
  return publish(*file, manifest);
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

Exporter::Got<> Exporter::write_events(AsideFile& file, const EventFilter& filter) {
  if (manifest_.format == ExportFormat::bytes) {
    proof::append_header({head_.ledger, manifest_.from, manifest_.until}, buffer_);
  } else {
    lines_.append_header(buffer_);
  }
  const std::uint64_t total = manifest_.until.value + 1 - manifest_.from.value;
  Progress progress("exporting", total, "events");
  RecordStream stream(options_, connection_, manifest_.from, manifest_.until);
  auto streamed = stream.run([&](Position position, std::string_view record) -> Got<> {
    if (auto added = add(record, filter); !added) return added;
    if (buffer_.size() < kWriteAtOnce) return {};
    const std::uint64_t done = position.value + 1 - manifest_.from.value;
    progress.show(done, done);
    return write_buffer(file);
  });
  progress.hide();
  return streamed ? write_buffer(file) : streamed;
}

Exporter::Got<> Exporter::add(std::string_view record, const EventFilter& filter) {
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
  if (!filter.passes(*event)) return {};
  ++manifest_.count;
  lines_.append(*event, buffer_);
  return {};
}

Exporter::Got<> Exporter::write_buffer(AsideFile& file) {
  if (auto written = file.write(buffer_); !written) return failed("file", written.error());
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

// The manifest last: where there is one, its file is whole.
Exporter::Got<> Exporter::publish(AsideFile& file, const std::string& manifest) {
  auto done = file.finish();
  manifest_.sha256 = file.sha256();
  manifest_.bytes = file.size();
  if (!done || manifest.empty()) {
    if (done) done = file.publish();
    return done ? Got<>() : failed("file", done.error());
  }
  auto beside = AsideFile::create(manifest);
  if (!beside) return failed("file", beside.error());
  done = beside->write(proof::to_json(manifest_));
  if (done) done = beside->finish();
  if (done) done = file.publish();
  if (done) done = beside->publish();
  return done ? Got<>() : failed("file", done.error());
}

}  // namespace holdfast::cli
