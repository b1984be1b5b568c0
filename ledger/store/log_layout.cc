#include "ledger/store/log_layout.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ledger/store/fixed_bytes.h"

namespace holdfast::store {
namespace {

constexpr std::uint64_t kFormat = 1;  // of the whole of DATA/ledger

}  // namespace

std::string at_position(Position position) { return "position " + std::to_string(position.value); }

std::array<char, 8> event_key(Position position) {
  std::array<char, 8> key;
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<char>(position.value >> (56 - 8 * i));
  }
  return key;
}

std::optional<Position> position_of_key(std::string_view key) {
  if (key.size() != 8) return std::nullopt;
  Position position;
  for (const char c : key) position.value = position.value << 8 | static_cast<unsigned char>(c);
  return position;
}

TreeKey node_key(MerkleNode node) {
  TreeKey key = run_key({(node.index + 1) << node.level});
  key.back() = static_cast<char>(node.level);
  return key;
}

TreeKey run_key(Position last) {
  TreeKey key{};
  std::ranges::copy(event_key(last), key.begin());
  return key;
}

std::optional<Position> end_of_run(std::string_view key) {
  if (key.size() != TreeKey{}.size() || key.back() != 0) return std::nullopt;
  return position_of_key(key.substr(0, 8));
}

std::string head_key(std::uint64_t group) { return "head" + std::to_string(group % kHeadSlots); }

std::string encode(const Identity& identity) {
  std::string out;
  BytesOut to(out);
  to.number(kFormat);
  to.bytes(identity.id);
  if (identity.parent) {
    to.bytes(identity.parent->id);
    to.number(identity.parent->position.value);
    to.bytes(identity.parent->root);
  }
  return out;
}

std::optional<Identity> decode_identity(std::string_view bytes) {
  BytesIn from(bytes);
  if (from.number() != kFormat) return std::nullopt;
  Identity identity;
  identity.id = from.bytes<16>();
  if (from.left() > 0) {
    identity.parent = Parent{};
    identity.parent->id = from.bytes<16>();
    identity.parent->position = {from.number()};
    identity.parent->root = from.bytes<32>();
  }
  if (!from.done()) return std::nullopt;
  return identity;
}

std::string encode(const Head& head) {
  std::string out;
  BytesOut to(out);
  to.number(head.group);
  to.number(static_cast<std::uint64_t>(head.latest.ms));
  to.number(head.tree.size());
  to.bytes(head.tree.root());
  for (const Digest& peak : head.tree.peaks()) to.bytes(peak);
  return out;
}

std::optional<Head> decode_head(std::string_view bytes) {
  BytesIn from(bytes);
  Head head;
  head.group = from.number();
  head.latest = {static_cast<std::int64_t>(from.number())};
  const std::uint64_t size = from.number();
  const auto root = from.bytes<32>();
  std::vector<Digest> peaks;
  while (from.left() > 0) peaks.push_back(from.bytes<32>());
  auto tree = MerkleFrontier::restore(size, std::move(peaks));
  if (!from.done() || !tree || tree->root() != root) return std::nullopt;
  head.tree = std::move(*tree);
  return head;
}

std::string encode(const ImportProgress& progress) {
  std::string out;
  BytesOut to(out);
  to.bytes(progress.file);
  to.number(progress.line);
  to.number(static_cast<std::uint64_t>(progress.clock.ms));
  to.number(static_cast<std::uint64_t>(progress.stage));
  return out;
}

std::optional<ImportProgress> decode_import(std::string_view bytes) {
  BytesIn from(bytes);
  ImportProgress progress;
  progress.file = from.bytes<32>();
  progress.line = from.number();
  progress.clock = {static_cast<std::int64_t>(from.number())};
  const std::uint64_t stage = from.number();
  if (!from.done() || stage > static_cast<std::uint64_t>(ImportStage::ended)) return std::nullopt;
  progress.stage = static_cast<ImportStage>(stage);
  return progress;
}

}  // namespace holdfast::store
