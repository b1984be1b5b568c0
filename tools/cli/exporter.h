#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/proof/export_manifest.h"
#include "tools/cli/aside_file.h"
#include "tools/cli/connection.h"
#include "tools/cli/event_filter.h"
#include "tools/cli/event_lines.h"

namespace holdfast::cli {

// Writes events of a server's log to a file with its manifest, and checks meanwhile that they are
// the log that a signed head states. What ends the program is the error, and is printed.
class Exporter {
 public:
  template <class T = void>
  using Got = tl::expected<T, Exit>;

  // The options outlive it.
  Exporter(const Options& options, proof::ExportFormat format);

  // What there is to export is what the log holds now; what comes later is not. Signed by the given
  // key or, without one, by whichever the server says is its own.
  Got<proof::Head> take_head(const std::optional<proof::VerifierKey>& key);

  // Then, once: of positions that the head has, those that pass. They appear when they are whole,
  // the manifest last; `out` may be `-`, `manifest` empty for none.
  struct Range {
    Position from;
    Position until;
    std::optional<Digest> root_before = {};  // which the log must have had at from - 1
  };
  Got<> write(Range range, const EventFilter& filter, const std::string& out,
              const std::string& manifest);

  const proof::ExportManifest& manifest() const { return manifest_; }
  const std::string& public_key() const { return public_key_; }  // the server's own, as text

 private:
  tl::unexpected<Exit> failed(std::string_view kind, const std::string& why) {
    return tl::unexpected(fail(options_, kind, why));
  }
  Got<api::Response> ask(api::Request request);
  Got<> take_note(wire::HeadAnswer::Reader head, const std::optional<proof::VerifierKey>& key);
  Got<> take_tree_before();
  Got<> write_events(AsideFile& file, const EventFilter& filter);
  Got<> add(std::string_view record, const EventFilter& filter);
  Got<> write_buffer(AsideFile& file);
  Got<> prove_root();
  Got<> publish(AsideFile& file, const std::string& manifest);

  const Options& options_;
  Connection connection_;
  const EventLines lines_;
  proof::ExportManifest manifest_;
  proof::Head head_;
  std::string public_key_;
  proof::VerifierKey key_;  // which must have signed the head
  store::MerkleFrontier tree_;
  std::string buffer_;
};

}  // namespace holdfast::cli
