#include <gtest/gtest.h>
#include <functional>
#include <string>
#include <vector>

#include "ledger/proof/bundle.h"
#include "ledger/store/merkle.h"
#include "ledger/store/sha256.h"
#include "tests/api/server/running_server.h"

// Proofs over the wire, checked with nothing but the public key.
namespace holdfast::api {
namespace {

std::string text(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

store::MerklePath path_of(capnp::List<capnp::Data>::Reader list) {
  store::MerklePath path;
  for (const auto data : list) {
    Digest digest{};
    EXPECT_EQ(data.size(), digest.size());
    std::copy(data.begin(), data.end(), reinterpret_cast<kj::byte*>(digest.data()));
    path.push_back(digest);
  }
  return path;
}

class Proofs : public testing::Test {
 protected:
  Proofs() : client_(running_.client_options()) {}

  Client::Answer call(const std::function<void(wire::Request::Builder)>& fill) {
    Request request;
    fill(request.root());
    return client_.call(std::move(request));
  }
  Response ask(const std::function<void(wire::Proof::Builder)>& fill) {
    auto answer = call([&](wire::Request::Builder request) { fill(request.initProof()); });
    EXPECT_TRUE(answer) << answer.error().text;
    return std::move(*answer);
  }
  // Each on a path of its own, so that all are accepted.
  void hold_each(const std::string& below, unsigned count) {
    const auto answer = call([&](wire::Request::Builder request) {
      auto batch = request.initBatch(count);
      for (unsigned i = 0; i < count; ++i) {
        batch[i].initHold().setResource(below + "/" + std::to_string(i));
      }
    });
    ASSERT_TRUE(answer) << answer.error().text;
    for (const auto outcome : answer->root().getOutcomes()) ASSERT_TRUE(outcome.isAccepted());
  }
  Response records(std::uint64_t from, std::uint64_t until) {
    return ask([&](wire::Proof::Builder proof) {
      auto asked = proof.initRecords();
      asked.setFrom(from);
      asked.setUntil(until);
    });
  }
  Response inclusion(std::vector<std::uint64_t> positions, std::uint64_t size) {
    return ask([&](wire::Proof::Builder proof) {
      auto asked = proof.initInclusion();
      auto list = asked.initPositions(static_cast<unsigned>(positions.size()));
      for (unsigned i = 0; i < list.size(); ++i) list.set(i, positions[i]);
      asked.setSize(size);
    });
  }
  Response signed_head(const std::vector<std::string>& paths) {
    return ask([&](wire::Proof::Builder proof) {
      auto list = proof.initPaths().initPaths(static_cast<unsigned>(paths.size()));
      for (unsigned i = 0; i < list.size(); ++i) list.set(i, paths[i]);
    });
  }
  // The bundle of what the answers say.
  static proof::Bundle bundle_of(wire::SignedHead::Reader head,
                                 capnp::List<wire::Record>::Reader records) {
    proof::Bundle bundle{head.getNote(), {}, {}, {}};
    for (const auto record : records) {
      bundle.records.push_back(
          {{record.getPosition()}, text(record.getBytes()), path_of(record.getAudit())});
    }
    for (const auto path : head.getPaths()) {
      proof::PathProof proof{path.getPath(), {}};
      for (const auto entry : path.getEntries()) {
        proof.entries.push_back(
            {entry.getPath(), {entry.getLast()}, entry.getIndex(), path_of(entry.getAudit())});
      }
      bundle.paths.push_back(std::move(proof));
    }
    return bundle;
  }

  RunningServer running_;
  BlockingClient client_;
};

TEST_F(Proofs, AResourcesHistoryIsProvedWholeWhileTheLogGrows) {
  hold_each("hall/a", 300);
  const auto head = signed_head(proof::paths_of("hall/a/7"));
  const auto signed_answer = head.root().getSignedHead();
  const auto key = proof::parse_verifier_key(signed_answer.getPublicKey().cStr());
  ASSERT_TRUE(key);
  hold_each("car", 50);
  const auto included = inclusion({8}, 300);
  auto bundle = bundle_of(signed_answer, included.root().getRecords());
  bundle.resource = "hall/a/7";
  const auto verified = proof::verify(bundle, *key);
  ASSERT_TRUE(verified) << verified.error().what;
  EXPECT_TRUE(verified->complete);
  EXPECT_EQ(verified->head.size, 300u);
  EXPECT_EQ(verified->head.paths->count, 300u);
  ASSERT_EQ(verified->events.size(), 1u);
  EXPECT_EQ(verified->events[0].resource.str(), "hall/a/7");
}

TEST_F(Proofs, TheHeadOfAQueryIsSignedToo) {
  hold_each("hall", 3);
  const auto answer = call([](wire::Request::Builder request) { request.initQuery().initHead(); });
  ASSERT_TRUE(answer);
  const auto head = answer->root().getHead();
  const auto key = proof::parse_verifier_key(head.getPublicKey().cStr());
  ASSERT_TRUE(key);
  const auto stated = proof::read_signed_head(head.getNote().cStr(), *key);
  ASSERT_TRUE(stated);
  EXPECT_EQ(stated->size, 3u);
  EXPECT_EQ(store::view_of(stated->root), text(head.getRoot()));
  EXPECT_EQ(stated->at.ms, head.getNow());
}

TEST_F(Proofs, ALaterHeadIsConsistentWithAnEarlierOne) {
  hold_each("a", 200);
  const Digest first = running_.log().root();
  hold_each("b", 333);
  const auto answer = ask([](wire::Proof::Builder proof) {
    proof.initConsistency().setFirst(200);
    proof.getConsistency().setSize(533);
  });
  const auto path = path_of(answer.root().getConsistency());
  EXPECT_TRUE(store::is_consistent(200, first, 533, running_.log().root(), path));
}

TEST_F(Proofs, StoredRecordsComeInOrderAsManyAsFit) {
  hold_each("a", 700);
  store::MerkleFrontier tree;
  for (std::uint64_t next = 1; next <= 700;) {
    const auto answer = records(next, 700);
    ASSERT_GT(answer.root().getRecords().size(), 0u);
    for (const auto record : answer.root().getRecords()) {
      ASSERT_EQ(record.getPosition(), next++);
      tree.append(text(record.getBytes()));
    }
  }
  EXPECT_EQ(tree.root(), running_.log().root());
}

TEST_F(Proofs, LargeRecordsAreDividedIntoAnswers) {
  const std::string large(4'096, 'x');
  const auto answer = call([&](wire::Request::Builder request) {
    auto batch = request.initBatch(30);
    for (unsigned i = 0; i < 30; ++i) {
      auto define = batch[i].initDefine();
      define.setResource("r" + std::to_string(i));
      auto attributes = define.initAttributes(32);
      for (unsigned k = 0; k < 32; ++k) {
        attributes[k].setName("a" + std::to_string(k));
        attributes[k].setValue(large);
      }
    }
  });
  ASSERT_TRUE(answer);
  ASSERT_EQ(running_.log().head(), Position{30});
  const unsigned first = records(1, 30).root().getRecords().size();
  EXPECT_LT(first, 30u);
  EXPECT_GT(first, 10u);
  std::vector<std::uint64_t> all(30);
  for (std::size_t i = 0; i < 30; ++i) all[i] = i + 1;
  EXPECT_EQ(inclusion(all, 30).root().getRecords().size(), first);
}

TEST_F(Proofs, BeyondTheHeadIsRefused) {
  hold_each("a", 10);
  EXPECT_EQ(records(5, 11).root().getRefused().getReason(), wire::Reason::BAD_TIME);
  EXPECT_EQ(inclusion({5}, 11).root().getRefused().getReason(), wire::Reason::BAD_TIME);
  const auto consistency = ask([](wire::Proof::Builder proof) {
    proof.initConsistency().setFirst(10);
    proof.getConsistency().setSize(11);
  });
  EXPECT_EQ(consistency.root().getRefused().getReason(), wire::Reason::BAD_TIME);
  EXPECT_EQ(signed_head({"a//b"}).root().getRefused().getReason(), wire::Reason::BAD_PATH);
}

TEST_F(Proofs, WhatCannotBeAskedIsAnError) {
  hold_each("a", 10);
  const std::vector<std::function<void(wire::Proof::Builder)>> requests{
      [](auto proof) { proof.initRecords(); },
      [](auto proof) { proof.initInclusion().setSize(5); },
      [](auto proof) {
        proof.initInclusion().initPositions(1).set(0, 6);
        proof.getInclusion().setSize(5);
      },
      [](auto proof) { proof.initConsistency().setSize(5); },
      [](auto proof) { proof.initPaths().initPaths(101); },
  };
  for (const auto& fill : requests) {
    BlockingClient client(running_.client_options());
    Request request;
    fill(request.root().initProof());
    const auto answer = client.call(std::move(request));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().server_error, wire::ErrorKind::BAD_MESSAGE);
  }
}

}  // namespace
}  // namespace holdfast::api
