#include "ledger/proof/export_manifest.h"

#include <array>
#include <bit>
#include <boost/json.hpp>

#include "ledger/domain/invariant.h"
#include "ledger/proof/text_bytes.h"

namespace holdfast::proof {
namespace {

namespace json = boost::json;

constexpr std::string_view kManifestFormat = "holdfast export 1";
constexpr std::array<ExportFormat, 3> kFormats = {ExportFormat::jsonl, ExportFormat::csv,
                                                  ExportFormat::bytes};

json::array hex_of(const std::vector<Digest>& digests) {
  json::array list;
  for (const Digest& digest : digests) list.emplace_back(to_hex(digest));
  return list;
}

json::object object_of(const ExportManifest& manifest) {
  const auto head = read_unchecked_head(manifest.head);
  HOLDFAST_INVARIANT(head, "a manifest is made of a head that can be read");
  json::object object{{"format", kManifestFormat},
                      {"file", manifest.file},
                      {"file_format", name_of(manifest.format)},
                      {"ledger_id", to_hex(head->ledger)},
                      {"from", manifest.from.value},
                      {"until", manifest.until.value},
                      {"count", manifest.count},
                      {"bytes", manifest.bytes},
                      {"sha256", to_hex(manifest.sha256)},
                      {"root", to_hex(manifest.root)},
                      {"before", hex_of(manifest.before)},
                      {"consistency", hex_of(manifest.consistency)},
                      {"head", manifest.head},
                      {"program", manifest.program}};
  if (!manifest.filter.empty()) {
    json::object filter;
    for (const auto& [word, value] : manifest.filter) filter[word] = value;
    object["filter"] = std::move(filter);
  }
  return object;
}

// The members of a JSON object, each read once; false for one that is not there or of another type.
class Members {
 public:
  explicit Members(const json::object& object) : object_(object) {}

  bool read(std::string_view name, std::string& into) {
    const json::value* value = take(name);
    if (value == nullptr || !value->is_string()) return false;
    into = value->as_string();
    return true;
  }
  bool read(std::string_view name, std::uint64_t& into) {
    const json::value* value = take(name);
    if (value == nullptr) return false;
    boost::system::error_code error;
    into = value->to_number<std::uint64_t>(error);
    return !error;
  }
  bool read(std::string_view name, Digest& into) {
    const json::value* value = take(name);
    return value != nullptr && read_digest(*value, into);
  }
  bool read(std::string_view name, std::vector<Digest>& into) {
    const json::value* value = take(name);
    if (value == nullptr || !value->is_array()) return false;
    for (const json::value& item : value->as_array()) {
      if (!read_digest(item, into.emplace_back())) return false;
    }
    return true;
  }
  bool has(std::string_view name) const { return object_.contains(name); }
  bool read(std::string_view name, std::vector<std::pair<std::string, std::string>>& into) {
    const json::value* value = take(name);
    if (value == nullptr || !value->is_object()) return false;
    for (const auto& [word, text] : value->as_object()) {
      if (!text.is_string()) return false;
      into.emplace_back(word, text.as_string());
    }
    return true;
  }
  bool all_read() const { return read_ == object_.size(); }

 private:
  const json::value* take(std::string_view name) {
    ++read_;
    return object_.if_contains(name);
  }
  static bool read_digest(const json::value& value, Digest& into) {
    const auto digest =
        value.is_string() ? fixed<32>(from_hex(std::string_view(value.as_string()))) : std::nullopt;
    if (digest) into = *digest;
    return digest.has_value();
  }

  const json::object& object_;
  std::size_t read_ = 0;
};

tl::unexpected<Flaw> flaw(Flaw::Kind kind, std::string what) {
  return tl::unexpected(Flaw{kind, {}, std::move(what)});
}

}  // namespace

std::string_view name_of(ExportFormat format) {
  switch (format) {
    case ExportFormat::jsonl:
      return "jsonl";
    case ExportFormat::csv:
      return "csv";
    case ExportFormat::bytes:
      break;
  }
  return "bytes";
}

std::optional<ExportFormat> export_format(std::string_view name) {
  for (const ExportFormat format : kFormats) {
    if (name_of(format) == name) return format;
  }
  return std::nullopt;
}

std::string to_json(const ExportManifest& manifest) {
  std::string text = "{";
  for (const auto& [name, value] : object_of(manifest)) {
    text += text.size() > 1 ? ",\n " : "\n ";
    text += json::serialize(name) + ": " + json::serialize(value);
  }
  return text + "\n}\n";
}

tl::expected<ExportManifest, std::string> parse_manifest(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error) return tl::unexpected("the manifest is no JSON: " + error.message());
  if (!value.is_object()) return tl::unexpected(std::string("the manifest is no object"));
  Members members(value.as_object());
  ExportManifest manifest;
  const auto wrong = [](std::string_view name) {
    return tl::unexpected("the manifest: " + std::string(name) + " is not what it should be");
  };
  std::string format;
  if (!members.read("format", format) || format != kManifestFormat) return wrong("format");
  std::string file_format;
  std::string ledger_id;
  if (!members.read("file_format", file_format)) return wrong("file_format");
  const auto known = export_format(file_format);
  if (!known) return wrong("file_format");
  manifest.format = *known;
  if (!members.read("ledger_id", ledger_id)) return wrong("ledger_id");
  if (!members.read("file", manifest.file)) return wrong("file");
  if (!members.read("from", manifest.from.value)) return wrong("from");
  if (!members.read("until", manifest.until.value)) return wrong("until");
  if (!members.read("count", manifest.count)) return wrong("count");
  if (!members.read("bytes", manifest.bytes)) return wrong("bytes");
  if (!members.read("sha256", manifest.sha256)) return wrong("sha256");
  if (!members.read("root", manifest.root)) return wrong("root");
  if (!members.read("before", manifest.before)) return wrong("before");
  if (!members.read("consistency", manifest.consistency)) return wrong("consistency");
  if (!members.read("head", manifest.head)) return wrong("head");
  if (!members.read("program", manifest.program)) return wrong("program");
  if (members.has("filter") && !members.read("filter", manifest.filter)) return wrong("filter");
  if (!members.all_read())
    return tl::unexpected(std::string("the manifest has a member that is unknown"));
  const auto head = read_unchecked_head(manifest.head);
  if (!head || to_hex(head->ledger) != ledger_id) return wrong("head");
  return manifest;
}

tl::expected<Head, Flaw> check_manifest(const ExportManifest& manifest, const VerifierKey& key) {
  auto head = checked_head(manifest.head, key, "the export");
  if (!head) return head;
  const std::uint64_t size = manifest.until.value;
  if (!manifest.from || manifest.from.value > size + 1) {
    return flaw(Flaw::Kind::malformed, "its range is none of the head's log");
  }
  if (manifest.filter.empty() && manifest.count != size + 1 - manifest.from.value) {
    return flaw(Flaw::Kind::malformed, "its count is not that of its range");
  }
  const bool follows = size == head->size
                           ? manifest.root == head->root && manifest.consistency.empty()
                           : size > 0 && store::is_consistent(size, manifest.root, head->size,
                                                              head->root, manifest.consistency);
  if (follows) return head;
  return flaw(Flaw::Kind::not_in_log, "the manifest's root does not follow from the head");
}

std::optional<store::MerkleFrontier> tree_before(const ExportManifest& manifest) {
  if (!manifest.from) return std::nullopt;
  return store::MerkleFrontier::restore(manifest.from.value - 1, manifest.before);
}

std::optional<std::vector<Digest>> peaks_from_last(std::uint64_t size, const Digest& leaf,
                                                   const MerklePath& path) {
  const auto within = static_cast<std::size_t>(std::countr_zero(size));
  const auto peaks = static_cast<std::size_t>(std::popcount(size));
  if (size == 0 || path.size() != within + peaks - 1) return std::nullopt;
  Digest last = leaf;
  for (std::size_t i = 0; i < within; ++i) last = store::node_digest(path[i], last);
  std::vector<Digest> found(path.rbegin(), path.rend() - static_cast<std::ptrdiff_t>(within));
  found.push_back(last);
  return found;
}

}  // namespace holdfast::proof
