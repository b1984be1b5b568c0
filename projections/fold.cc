#include "projections/fold.h"

#include <utility>

#include "projections/varint.h"

namespace holdfast::projections {
namespace {

using Result = tl::expected<void, StorageError>;

StorageError cannot_fold(const Event& event, const std::string& why) {
  return {"event " + std::to_string(event.position.value) + " (" +
          std::string(type_name(event.happening)) + ") cannot be applied: it " + why};
}

// Reads the rows of `nodes` and hands each to `set` with its value, null if there is none.
template <class Node, class Set>
Result read_rows(const Generation& rows, Family family, std::vector<Node*>& nodes, const Set& set) {
  if (nodes.empty()) return {};
  KeyOrder<Node>::sort(nodes);
  std::vector<std::string_view> keys;
  keys.reserve(nodes.size());
  for (const Node* node : nodes) keys.push_back(node->key);
  std::vector<rocksdb::PinnableSlice> values;
  std::vector<rocksdb::Status> outcomes;
  rows.get(family, keys, true, values, outcomes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!outcomes[i].ok() && !outcomes[i].IsNotFound()) {
      return tl::unexpected(rows.error(outcomes[i]));
    }
    if (!set(*nodes[i], outcomes[i].ok() ? &values[i] : nullptr)) {
      return tl::unexpected(rows.unreadable(family, keys[i]));
    }
  }
  return {};
}

}  // namespace

Fold::Fold(std::shared_ptr<Generation> rows, Checkpoint at)
    : rows_(std::move(rows)), at_(at), batch_(*rows_), files_(*rows_) {}

tl::expected<std::unique_ptr<Fold>, StorageError> Fold::open(std::shared_ptr<Generation> rows) {
  const auto at = Moment(*rows).checkpoint();
  if (!at) return tl::unexpected(at.error());
  return std::unique_ptr<Fold>(new Fold(std::move(rows), *at));
}

Result Fold::apply(std::span<const std::span<const Event>> groups) {
  if (const Result loaded = load(groups); !loaded) return loaded;
  return fold_all(groups);
}

Result Fold::fold_all(std::span<const std::span<const Event>> groups) {
  const Concerned* concerned = concerned_.data();
  std::size_t lists_begin = 0;
  for (const std::span<const Event> group : groups) {
    for (const Event& event : group) {
      const std::span lists(lists_of_events_.begin() + static_cast<std::ptrdiff_t>(lists_begin),
                            concerned->lists_end - lists_begin);
      if (const auto applied = apply(event, *concerned, lists); !applied) {
        return tl::unexpected(cannot_fold(event, applied.error()));
      }
      lists_begin = concerned->lists_end;
      ++concerned;
      ++unwritten_;
    }
  }
  return {};
}

// -- what the events need of rows not in memory. The first event of a claim or on a path needs
// nothing, one that follows an event of the same chunk finds it in memory.

Result Fold::load(std::span<const std::span<const Event>> groups) {
  concerned_.clear();
  lists_of_events_.clear();
  for (const std::span<const Event> group : groups) {
    for (const Event& event : group) want(event);
  }
  Result loaded = load_claims();
  if (loaded) loaded = load_lists();
  if (loaded) loaded = load_definitions();
  return loaded;
}

void Fold::want(const Event& event) {
  Concerned concerned;
  if (event.key) {
    concerned.claim = &want_claim(event);
  } else {
    concerned.definition = &want_definition(event);
  }
  want_lists(event);
  concerned.lists_end = lists_of_events_.size();
  concerned_.push_back(concerned);
}

Fold::ClaimNode& Fold::want_claim(const Event& event) {
  if (ClaimNode* found = claims_.find(event.key->view())) return *found;
  ClaimNode& node = claims_.insert(event.key->view(), {});
  if (event.previous_of_claim) wanted_claims_.push_back(&node);
  return node;
}

Fold::DefinitionNode& Fold::want_definition(const Event& event) {
  if (DefinitionNode* found = definitions_.find(event.resource.view())) return *found;
  DefinitionNode& node = definitions_.insert(event.resource.view(), {});
  if (needs_definition(event.happening)) wanted_definitions_.push_back(&node);
  return node;
}

Fold::ListNode& Fold::want_list(ListKind kind, std::string_view of, bool is_new) {
  name_.assign(1, static_cast<char>(kind)).append(of);
  if (ListNode* found = lists_.find(name_)) return *found;
  ListNode& node = lists_.insert(name_, {});
  if (!is_new) wanted_lists_.push_back(&node);
  return node;
}

void Fold::want_lists(const Event& event) {
  const std::string_view path = event.resource.view();
  lists_of_events_.push_back(&want_list(ListKind::own, path, !event.previous_on_resource));
  const Path* second = second_resource(event);
  if (second != nullptr) {
    const bool first_there = !std::get<Moved>(event.happening).previous_on_to;
    lists_of_events_.push_back(&want_list(ListKind::own, second->view(), first_there));
  }
  for (std::string_view above = parent_of(path); !above.empty(); above = parent_of(above)) {
    lists_of_events_.push_back(&want_list(ListKind::below, above));
  }
  if (second != nullptr) want_lists_above(second->view(), path);
  if (event.personal.holder) {
    lists_of_events_.push_back(&want_list(ListKind::holder, event.personal.holder->view()));
  }
  lists_of_events_.push_back(&want_list(ListKind::actor, event.actor.view()));
}

// Of a move: the levels above where it goes that are not above where it comes from.
void Fold::want_lists_above(std::string_view to, std::string_view from) {
  for (std::string_view above = parent_of(to); !above.empty(); above = parent_of(above)) {
    if (at_or_below(from, above) && from != above) return;
    lists_of_events_.push_back(&want_list(ListKind::below, above));
  }
}

Result Fold::load_claims() {
  std::vector<ClaimNode*> not_live;
  const auto read = [&](Stored stored) {
    return [&, stored](ClaimNode& node, const rocksdb::PinnableSlice* value) {
      if (value == nullptr) {
        if (stored == Stored::live) not_live.push_back(&node);
        return true;
      }
      node.row = {std::string(view(*value)), stored, stored == Stored::ended};
      return !node.row.row.empty();
    };
  };
  Result loaded = read_rows(*rows_, Family::live, wanted_claims_, read(Stored::live));
  if (loaded) loaded = read_rows(*rows_, Family::ended, not_live, read(Stored::ended));
  wanted_claims_.clear();
  return loaded;
}

Result Fold::load_lists() {
  Result loaded = read_rows(*rows_, Family::lists, wanted_lists_,
                            [](ListNode& node, const rocksdb::PinnableSlice* value) {
                              if (value == nullptr) return true;
                              auto list = PositionList::read(view(*value));
                              if (list) node.row.list = std::move(*list);
                              return list.has_value();
                            });
  wanted_lists_.clear();
  return loaded;
}

Result Fold::load_definitions() {
  Result loaded = read_rows(*rows_, Family::definitions, wanted_definitions_,
                            [](DefinitionNode& node, const rocksdb::PinnableSlice* value) {
                              if (value == nullptr) return true;
                              node.row.row = read_definition(view(*value));
                              return node.row.row.has_value();
                            });
  wanted_definitions_.clear();
  return loaded;
}

// -- one event; nothing is changed if it cannot be folded

tl::expected<void, std::string> Fold::check(const Event& event,
                                            std::span<ListNode* const> lists) const {
  if (event.position != at_.position + 1) {
    return tl::unexpected("does not follow event " + std::to_string(at_.position.value));
  }
  if (event.recorded_at < at_.at) {
    return tl::unexpected(std::string("was recorded before the one before it"));
  }
  if (lists[0]->row.list.last() != event.previous_on_resource) {
    return tl::unexpected(std::string("does not follow the last event on its resource"));
  }
  if (second_resource(event) != nullptr &&
      lists[1]->row.list.last() != std::get<Moved>(event.happening).previous_on_to) {
    return tl::unexpected(std::string("does not follow the last event where it moves to"));
  }
  return {};
}

tl::expected<void, std::string> Fold::apply(const Event& event, const Concerned& concerned,
                                            std::span<ListNode* const> lists) {
  if (const auto checked = check(event, lists); !checked) return checked;
  if (concerned.claim != nullptr) {
    const auto applied = apply_to_claim(event, *concerned.claim);
    if (!applied) return applied;
  } else {
    if (const auto folded = fold(concerned.definition->row.row, event); !folded) return folded;
    definitions_.change(*concerned.definition);
  }
  for (ListNode* node : lists) {
    if (auto full = node->row.list.append(event.position)) {
      node->row.full.push_back(std::move(*full));
    }
    lists_.change(*node);
  }
  remember_request(event);
  at_ = {event.position, event.recorded_at};
  return {};
}

tl::expected<void, std::string> Fold::apply_to_claim(const Event& event, ClaimNode& node) {
  std::optional<Claim> claim;
  if (!node.row.row.empty()) {
    claim = read_claim(node.key, node.row.row);
    if (!claim) return tl::unexpected(std::string("follows a row that cannot be read"));
  }
  const std::optional<Claim> before =
      std::holds_alternative<Stolen>(event.happening) ? claim : std::nullopt;
  if (const auto folded = fold(claim, event); !folded) return folded;
  tally(event, before ? &*before : nullptr);
  node.row.row.clear();
  append_row(node.row.row, *claim);
  node.row.ended = is_ended(claim->state);
  claims_.change(node);
  return {};
}

void Fold::tally(const Event& event, const Claim* before) {
  for (const auto& change : tallied(event, before).changes) {
    if (!change) continue;
    name_.assign(event.resource.view());
    append_day(name_, change->day);
    auto* node = tallies_.find(name_);
    if (node == nullptr) node = &tallies_.insert(name_, {});
    ++(node->row.*change->count);
    tallies_.change(*node);
  }
}

void Fold::remember_request(const Event& event) {
  if (!event.request_id) return;
  // A transaction's events all carry its request id: one row is enough.
  if (!requests_.empty() && requests_.back().first == event.transaction) return;
  requests_.push_back(
      {request_key(event.actor.view(), event.request_id->view()), event.transaction});
}

// -- the rows that have changed

Result Fold::write() {
  if (unwritten_ == 0) return {};
  writer_ = unwritten_ < kWorthFiles ? static_cast<RowWriter*>(&batch_) : &files_;
  unwritten_ = 0;
  write_claims();
  write_definitions();
  write_lists();
  write_requests();
  write_tallies();
  return writer_->write(at_);
}

void Fold::write_claims() {
  claims_.write([&](std::string_view key, ClaimRow& claim) {
    const Stored now = claim.ended ? Stored::ended : Stored::live;
    if (claim.stored == Stored::live && now == Stored::ended) writer_->remove(Family::live, key);
    writer_->put(claim.ended ? Family::ended : Family::live, key, claim.row);
    claim.stored = now;
  });
}

void Fold::write_definitions() {
  definitions_.write([&](std::string_view path, const OptionalDefinition& definition) {
    row_.clear();
    append_row(row_, *definition.row);
    writer_->put(Family::definitions, path, row_);
  });
}

void Fold::write_lists() {
  lists_.write([&](std::string_view name, ListRow& list) {
    row_.clear();
    list.list.append_row(row_);
    writer_->put(Family::lists, name, row_);
    for (const PositionList::Block& block : list.full) {
      writer_->put(Family::lists, block_key(name, block.first), block.row);
    }
    list.full.clear();
  });
}

void Fold::write_requests() {
  std::vector<RequestRow*> in_order;
  in_order.reserve(requests_.size());
  for (RequestRow& request : requests_) in_order.push_back(&request);
  KeyOrder<RequestRow>::sort(in_order);
  for (const RequestRow* request : in_order) {
    row_.clear();
    put_varint(row_, request->first.value);
    writer_->put(Family::requests, request->key, row_);
  }
  requests_.clear();
}

void Fold::write_tallies() {
  tallies_.write([&](std::string_view key, TallyCounts& counts) {
    row_.clear();
    append_row(row_, std::exchange(counts, {}));
    writer_->add(Family::tallies, key, row_);
  });
}

}  // namespace holdfast::projections
