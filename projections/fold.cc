#include "projections/fold.h"

#include <algorithm>
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
  std::sort(nodes.begin(), nodes.end(),
            [](const Node* a, const Node* b) { return a->first < b->first; });
  std::vector<std::string_view> keys;
  keys.reserve(nodes.size());
  for (const Node* node : nodes) keys.push_back(node->first);
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

Fold::Fold(std::shared_ptr<Generation> rows, Checkpoint at) : rows_(std::move(rows)), at_(at) {}

tl::expected<std::unique_ptr<Fold>, StorageError> Fold::open(std::shared_ptr<Generation> rows) {
  const auto at = Moment(*rows).checkpoint();
  if (!at) return tl::unexpected(at.error());
  return std::unique_ptr<Fold>(new Fold(std::move(rows), *at));
}

Result Fold::apply(std::span<const std::vector<Event>> groups) {
  if (const Result loaded = load(groups); !loaded) return loaded;
  const Result folded = fold_all(groups);
  if (const Result written = write(); !written) return written;
  return folded;
}

Result Fold::fold_all(std::span<const std::vector<Event>> groups) {
  for (const std::vector<Event>& group : groups) {
    for (const Event& event : group) {
      if (const auto applied = apply(event); !applied) {
        return tl::unexpected(cannot_fold(event, applied.error()));
      }
    }
  }
  return {};
}

// -- what the events need of rows not in memory. The first event of a claim or on a path needs
// nothing, one that follows an event of the same chunk finds it in memory.

Result Fold::load(std::span<const std::vector<Event>> groups) {
  for (const std::vector<Event>& group : groups) {
    for (const Event& event : group) want(event);
  }
  Result loaded = load_claims();
  if (loaded) loaded = load_lists();
  if (loaded) loaded = load_definitions();
  return loaded;
}

void Fold::want(const Event& event) {
  if (event.key && event.previous_of_claim && event.previous_of_claim <= at_.position &&
      claims_.find(event.key->view()) == nullptr) {
    wanted_claims_.push_back(&claims_.insert(event.key->view(), {}));
  }
  if (needs_definition(event.happening) && definitions_.find(event.resource.view()) == nullptr) {
    wanted_definitions_.push_back(&definitions_.insert(event.resource.view(), {}));
  }
  want_lists(event);
}

void Fold::want_list(ListKind kind, std::string_view of, bool is_new) {
  name_.assign(1, static_cast<char>(kind)).append(of);
  if (lists_.find(name_) != nullptr) return;
  ListNode& node = lists_.insert(name_, {});
  if (!is_new) wanted_lists_.push_back(&node);
}

void Fold::want_lists(const Event& event) {
  const std::string_view path = event.resource.view();
  want_list(ListKind::own, path, !event.previous_on_resource);
  for (std::string_view above = parent_of(path); !above.empty(); above = parent_of(above)) {
    want_list(ListKind::below, above, false);
  }
  if (event.personal.holder) want_list(ListKind::holder, event.personal.holder->view(), false);
  want_list(ListKind::actor, event.actor.view(), false);
}

Result Fold::load_claims() {
  std::vector<ClaimNode*> not_live;
  const auto read = [&](Stored stored) {
    return [&, stored](ClaimNode& node, const rocksdb::PinnableSlice* value) {
      if (value == nullptr) {
        if (stored == Stored::live) not_live.push_back(&node);
        return true;
      }
      node.second.row = {read_claim(node.first, view(*value)), stored};
      return node.second.row.claim.has_value();
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
                              if (list) node.second.row.list = std::move(*list);
                              return list.has_value();
                            });
  wanted_lists_.clear();
  return loaded;
}

Result Fold::load_definitions() {
  Result loaded = read_rows(*rows_, Family::definitions, wanted_definitions_,
                            [](DefinitionNode& node, const rocksdb::PinnableSlice* value) {
                              if (value == nullptr) return true;
                              node.second.row.row = read_definition(view(*value));
                              return node.second.row.row.has_value();
                            });
  wanted_definitions_.clear();
  return loaded;
}

// -- one event; nothing is changed if it cannot be folded

tl::expected<void, std::string> Fold::check(const Event& event) {
  if (event.position != at_.position + 1) {
    return tl::unexpected("does not follow event " + std::to_string(at_.position.value));
  }
  if (event.recorded_at < at_.at)
    return tl::unexpected(std::string("was recorded before the one before it"));
  const ListNode& own = list(ListKind::own, event.resource.view());
  if (own.second.row.list.last() != event.previous_on_resource) {
    return tl::unexpected(std::string("does not follow the last event on its resource"));
  }
  return {};
}

tl::expected<void, std::string> Fold::apply(const Event& event) {
  if (const auto checked = check(event); !checked) return checked;
  if (event.key) {
    ClaimNode* node = claims_.find(event.key->view());
    if (node == nullptr) node = &claims_.insert(event.key->view(), {});
    if (const auto folded = fold(node->second.row.claim, event); !folded) return folded;
    claims_.change(*node);
  } else {
    DefinitionNode* node = definitions_.find(event.resource.view());
    if (node == nullptr) node = &definitions_.insert(event.resource.view(), {});
    if (const auto folded = fold(node->second.row.row, event); !folded) return folded;
    definitions_.change(*node);
  }
  append_to_lists(event);
  remember_request(event);
  at_ = {event.position, event.recorded_at};
  return {};
}

Fold::ListNode& Fold::list(ListKind kind, std::string_view of) {
  name_.assign(1, static_cast<char>(kind)).append(of);
  return *lists_.find(name_);
}

void Fold::append(ListKind kind, std::string_view of, Position position) {
  ListNode& node = list(kind, of);
  if (auto full = node.second.row.list.append(position)) {
    node.second.row.full.push_back(std::move(*full));
  }
  lists_.change(node);
}

void Fold::append_to_lists(const Event& event) {
  const std::string_view path = event.resource.view();
  append(ListKind::own, path, event.position);
  for (std::string_view above = parent_of(path); !above.empty(); above = parent_of(above)) {
    append(ListKind::below, above, event.position);
  }
  if (event.personal.holder) {
    append(ListKind::holder, event.personal.holder->view(), event.position);
  }
  append(ListKind::actor, event.actor.view(), event.position);
}

void Fold::remember_request(const Event& event) {
  if (!event.request_id) return;
  // A transaction's events all carry its request id: one row is enough.
  if (!requests_.empty() && requests_.back().second == event.transaction) return;
  requests_.emplace_back(request_key(event.actor.view(), event.request_id->view()),
                         event.transaction);
}

// -- the rows that have changed

Result Fold::write() {
  rocksdb::WriteBatch batch;
  std::string row;
  write_claims(batch);
  definitions_.write([&](const std::string& path, const OptionalDefinition& definition) {
    row.clear();
    append_row(row, *definition.row);
    batch.Put(rows_->family(Family::definitions), path, row);
  });
  write_lists(batch);
  std::sort(requests_.begin(), requests_.end());
  for (const auto& [key, first] : requests_) {
    row.clear();
    put_varint(row, first.value);
    batch.Put(rows_->family(Family::requests), key, row);
  }
  requests_.clear();
  row.clear();
  append_row(row, at_);
  batch.Put(rows_->family(Family::meta), slice(kCheckpointKey), row);
  const rocksdb::Status status = rows_->write(batch);
  if (!status.ok()) return tl::unexpected(rows_->error(status));
  return {};
}

void Fold::write_claims(rocksdb::WriteBatch& batch) {
  std::string row;
  claims_.write([&](const std::string& key, ClaimRow& claim) {
    const Stored now = is_ended(claim.claim->state) ? Stored::ended : Stored::live;
    if (claim.stored == Stored::live && now == Stored::ended) {
      batch.Delete(rows_->family(Family::live), key);
    }
    row.clear();
    append_row(row, *claim.claim);
    batch.Put(rows_->family(now == Stored::ended ? Family::ended : Family::live), key, row);
    claim.stored = now;
  });
}

void Fold::write_lists(rocksdb::WriteBatch& batch) {
  std::string row;
  lists_.write([&](const std::string& name, ListRow& list) {
    row.clear();
    list.list.append_row(row);
    batch.Put(rows_->family(Family::lists), name, row);
    for (const PositionList::Block& block : list.full) {
      batch.Put(rows_->family(Family::lists), block_key(name, block.first), block.row);
    }
    list.full.clear();
  });
}

}  // namespace holdfast::projections
