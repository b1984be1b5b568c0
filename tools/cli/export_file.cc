#include "tools/cli/export_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include "ledger/proof/export_frames.h"
#include "ledger/store/event_codec.h"
#include "ledger/store/sha256_stream.h"
#include "tools/cli/event_lines.h"
#include "tools/cli/progress.h"

namespace holdfast::cli {
namespace {

using proof::ExportFormat;
using proof::Flaw;

constexpr std::size_t kReadAtOnce = 1 << 20;
// Longer than any event's line.
constexpr std::size_t kMaxPieceBytes = 2 << 20;

// A file in pieces: a header of so many bytes, frames, or lines. What was read is hashed.
class Pieces {
 public:
  explicit Pieces(const std::string& path) : file_(path, std::ios::binary) {}

  bool unreadable() const { return file_.bad() || !opened_; }
  std::uint64_t size() const { return size_; }
  Digest sha256() const { return sha256_.digest(); }

  // Nothing where the file ends before it does, or it is longer than any can be. Valid until the
  // next call.
  std::optional<std::string_view> bytes(std::size_t count) {
    if (!fill(count)) return std::nullopt;
    return take(count);
  }
  std::optional<std::string_view> frame() {
    if (!fill(proof::kFrameLengthBytes)) return std::nullopt;
    const auto length = proof::read_length(rest());
    if (!length) return std::nullopt;
    take(proof::kFrameLengthBytes);
    return bytes(*length);
  }
  // With its end. In CSV a line break between quotes is none.
  std::optional<std::string_view> line(bool quotes) {
    bool quoted = false;
    std::size_t at = 0;
    do {
      for (const std::string_view there = rest(); at < there.size(); ++at) {
        if (there[at] == '"' && quotes) quoted = !quoted;
        if (there[at] == '\n' && !quoted) return take(at + 1);
      }
    } while (fill(at + 1));
    return std::nullopt;
  }
  bool at_end() { return !fill(1); }
  // So that all of it is hashed.
  void skip_rest() {
    while (fill(1)) take(rest().size());
  }

 private:
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }
  std::string_view take(std::size_t count) {
    const std::string_view taken = rest().substr(0, count);
    begin_ += count;
    return taken;
  }
  // Whether so many bytes are there.
  bool fill(std::size_t count) {
    if (count > kMaxPieceBytes) return false;
    while (rest().size() < count && file_) {
      buffer_.erase(0, begin_);
      begin_ = 0;
      const std::size_t before = buffer_.size();
      buffer_.resize(before + kReadAtOnce);
      file_.read(buffer_.data() + before, kReadAtOnce);
      buffer_.resize(before + static_cast<std::size_t>(file_.gcount()));
      sha256_.add(std::string_view(buffer_).substr(before));
      size_ += buffer_.size() - before;
    }
    return rest().size() >= count;
  }

  std::ifstream file_;
  const bool opened_ = file_.is_open();
  std::string buffer_;
  std::size_t begin_ = 0;
  std::uint64_t size_ = 0;
  store::Sha256Stream sha256_;
};

Flaw flaw(Flaw::Kind kind, Position position, std::string what) {
  return {kind, position, std::move(what)};
}

class Check {
 public:
  Check(const std::string& file, const proof::ExportManifest& manifest, proof::Head head,
        const TakeRecord& take)
      : pieces_(file), manifest_(manifest), head_(head), take_(take), lines_(manifest.format) {}

  tl::expected<void, ExportFault> run(Progress& progress) {
    auto tree = proof::tree_before(manifest_);
    if (!tree) {
      return tl::unexpected(
          flaw(Flaw::Kind::malformed, {}, "the manifest does not say what lies before the range"));
    }
    tree_ = std::move(*tree);
    auto read = read_all(progress);
    pieces_.skip_rest();
    if (pieces_.unreadable()) return tl::unexpected(std::string("it cannot be read to its end"));
    if (pieces_.size() != manifest_.bytes || pieces_.sha256() != manifest_.sha256) {
      std::string what = "it is not the file that the manifest is of";
      const auto* found = read ? nullptr : std::get_if<Flaw>(&read.error());
      if (found != nullptr) what += ": " + found->what;
      return tl::unexpected(
          flaw(Flaw::Kind::other_file, found != nullptr ? found->position : Position{}, what));
    }
    return read;
  }

 private:
  using Done = tl::expected<void, ExportFault>;

  bool filtered() const { return !manifest_.filter.empty(); }

  Done read_all(Progress& progress) {
    if (auto begun = read_beginning(); !begun) return begun;
    while (count_ < manifest_.count) {
      if (auto read = read_next(); !read) return read;
      ++count_;
      progress.show(count_, count_);
    }
    if (!pieces_.at_end()) {
      return tl::unexpected(flaw(Flaw::Kind::malformed, {}, "it has more than its events"));
    }
    if (filtered() || tree_.root() == manifest_.root) return {};
    return tl::unexpected(flaw(Flaw::Kind::not_in_log, {},
                               "its events are not those which the signed head was made of"));
  }

  Done read_beginning() {
    if (manifest_.format == ExportFormat::bytes) {
      const proof::FramesHeader wanted{head_.ledger, manifest_.from, manifest_.until};
      const auto header = pieces_.bytes(proof::kFramesHeaderBytes);
      if (header && proof::read_header(*header) == wanted) return {};
    } else {
      std::string wanted;
      lines_.append_header(wanted);
      const auto header = pieces_.bytes(wanted.size());
      if (header && *header == wanted) return {};
    }
    return tl::unexpected(flaw(Flaw::Kind::malformed, {}, "it does not begin as such a file does"));
  }

  Done read_next() {
    const bool frames = manifest_.format == ExportFormat::bytes;
    const auto piece =
        frames ? pieces_.frame() : pieces_.line(manifest_.format == ExportFormat::csv);
    const Position next = filtered() ? last_ + 1 : Position{tree_.size() + 1};
    if (!piece) {
      return tl::unexpected(
          flaw(Flaw::Kind::malformed, next, "it ends before its last event does"));
    }
    const auto event = frames ? store::decode(*piece) : lines_.read(*piece);
    if (!event) return tl::unexpected(flaw(Flaw::Kind::malformed, next, event.error()));
    last_ = event->position;
    const bool in_place = filtered() ? last_ >= next && last_ <= manifest_.until : last_ == next;
    if (!in_place) {
      return tl::unexpected(
          flaw(Flaw::Kind::malformed, next,
               fmt::format("there stands the event of position {}", last_.value)));
    }
    std::string encoded;
    if (!frames) store::encode(*event, encoded);
    return take(frames ? *piece : std::string_view(encoded));
  }

  Done take(std::string_view record) {
    if (!filtered()) tree_.append(record);
    if (auto taken = take_(last_, record); !taken) return tl::unexpected(taken.error());
    return {};
  }

  Pieces pieces_;
  const proof::ExportManifest& manifest_;
  const proof::Head head_;
  const TakeRecord& take_;
  const EventLines lines_;
  store::MerkleFrontier tree_;
  Position last_{manifest_.from.value - 1};
  std::uint64_t count_ = 0;
};

}  // namespace

tl::expected<proof::ExportManifest, ExportFault> read_manifest(const std::string& file,
                                                               const std::string& manifest) {
  const std::string path = manifest.empty() ? manifest_beside(file) : manifest;
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return tl::unexpected(path + " cannot be read: an export is checked by its manifest");
  auto parsed = proof::parse_manifest(text.str());
  if (parsed) return std::move(*parsed);
  return tl::unexpected(flaw(Flaw::Kind::malformed, {}, parsed.error()));
}

tl::expected<proof::Head, ExportFault> check_export(const std::string& file,
                                                    const proof::ExportManifest& manifest,
                                                    const proof::VerifierKey& key,
                                                    const std::string& doing,
                                                    const TakeRecord& take) {
  const auto head = proof::check_manifest(manifest, key);
  if (!head) return tl::unexpected(head.error());
  Progress progress(doing, manifest.count, "events");
  if (auto done = Check(file, manifest, *head, take).run(progress); !done) {
    return tl::unexpected(done.error());
  }
  return *head;
}

}  // namespace holdfast::cli
