#include <gtest/gtest.h>
#include <sys/resource.h>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/server/peer.h"
#include "tests/api/server/running_server.h"

// Whatever comes in on a socket, the server lives and serves everyone else.
namespace holdfast::api {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

// HOLDFAST_GARBAGE: how many connections of nonsense, for a longer run by hand.
int rounds() {
  const char* given = std::getenv("HOLDFAST_GARBAGE");
  return given != nullptr ? std::atoi(given) : 1'500;
}

std::uint64_t seed() {
  const char* given = std::getenv("HOLDFAST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

void put_word(Bytes& bytes, std::uint64_t word) {
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(word >> (8 * i)));
}

Bytes framed(const std::vector<std::uint64_t>& segment) {
  Bytes bytes;
  put_word(bytes, std::uint64_t{segment.size()} << 32);
  for (const std::uint64_t word : segment) put_word(bytes, word);
  return bytes;
}

Bytes framed(Request request) {
  Bytes bytes;
  append_framed(request.message(), bytes);
  return bytes;
}

Bytes hello() {
  Request request;
  request.root().initHello().setProtocolVersion(wire::PROTOCOL_VERSION);
  return framed(std::move(request));
}

std::string word(Random& random) {
  static const char* const kWords[] = {"a", "hall/1", "ann", "", "//", "\x01", "\xff\xfe", "x/y"};
  return random() % 20 == 0 ? std::string(random() % 5'000, 'x')
                            : kWords[random() % std::size(kWords)];
}

Bytes some_request(Random& random) {
  Request request;
  auto root = request.root();
  root.setId(random());
  switch (random() % 4) {
    case 0: {
      auto batch = root.initBatch(static_cast<unsigned>(1 + random() % 20));
      for (auto command : batch) {
        auto hold = command.initHold();
        hold.setResource(word(random));
        hold.setHolder(word(random));
        hold.setTtl(static_cast<std::int64_t>(random()));
        if (random() % 2 == 0) hold.setFrom(static_cast<std::int64_t>(random()));
        if (random() % 2 == 0) hold.setUntil(static_cast<std::int64_t>(random()));
        if (random() % 2 == 0) command.setRequestId(word(random));
      }
      break;
    }
    case 1: {
      auto query = root.initQuery().initHistory();
      query.setResource(word(random));
      query.setCursor(word(random));
      if (random() % 2 == 0) query.setFromPosition(static_cast<std::int64_t>(random()));
      break;
    }
    case 2: {
      auto query = root.initQuery().initAvailability();
      query.setResource(word(random));
      query.setFrom(static_cast<std::int64_t>(random()));
      query.setUntil(static_cast<std::int64_t>(random()));
      query.setDuration(static_cast<std::int64_t>(random()));
      break;
    }
    default: {
      auto query = root.initQuery().initClaims();
      query.setHolder(word(random));
      query.setCursor(word(random));
      query.initAsOf().setPosition(static_cast<std::int64_t>(random()));
      break;
    }
  }
  return framed(std::move(request));
}

Bytes random_bytes(Random& random, std::size_t most) {
  Bytes bytes(random() % most);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// A stream of a few requests, damaged in one of the ways that streams are.
Bytes nonsense(Random& random) {
  if (random() % 8 == 0) return random_bytes(random, 4'096);
  Bytes bytes = random() % 8 == 0 ? Bytes{} : hello();
  for (std::uint64_t count = random() % 4; count > 0; --count) {
    const Bytes more = some_request(random);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  if (bytes.empty()) return bytes;
  switch (random() % 4) {
    case 0:
      for (std::uint64_t count = 1 + random() % 8; count > 0; --count) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      }
      break;
    case 1:
      bytes.resize(random() % bytes.size());
      break;
    case 2: {
      const Bytes more = random_bytes(random, 256);
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random() % bytes.size()),
                   more.begin(), more.end());
      break;
    }
    default:
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 << (random() % 8));
      break;
  }
  return bytes;
}

// Sends and reads until the server has closed: it must not leave the peer hanging.
void exchange(std::uint16_t port, const Bytes& bytes) {
  Peer peer(port);
  ASSERT_TRUE(peer.connected());
  peer.send(bytes);
  peer.finish_sending();
  while (peer.answer()) {
  }
}

// Works on, command after command, and notices everything that goes wrong.
class GoodClient {
 public:
  explicit GoodClient(const RunningServer& running)
      : client_(running.client_options()), thread_([this] { work(); }) {}
  ~GoodClient() {
    done_ = true;
    thread_.join();
    EXPECT_GT(accepted_, 0u);
    EXPECT_EQ(failed_, "");
  }
  // Has been served since the last call.
  void is_served() {
    const std::uint64_t before = accepted_;
    for (int i = 0; i < 1'000 && accepted_ == before; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_GT(accepted_, before);
  }

 private:
  void work() {
    for (std::uint64_t i = 0; !done_ && failed_.empty(); ++i) {
      Request request;
      auto hold = request.root().initBatch(1)[0].initHold();
      hold.setResource("good/" + std::to_string(i));
      const auto answer = client_.call(std::move(request));
      if (!answer) {
        failed_ = answer.error().text;
      } else if (!answer->root().getOutcomes()[0].isAccepted()) {
        failed_ = "refused";
      } else {
        ++accepted_;
      }
    }
  }

  BlockingClient client_;
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> accepted_{0};
  std::string failed_;
  std::thread thread_;
};

TEST(Garbage, DamagedStreams) {
  const std::uint64_t from = seed();
  SCOPED_TRACE("HOLDFAST_SEED=" + std::to_string(from));
  std::printf("seed %llu\n", static_cast<unsigned long long>(from));
  Random random(from);
  RunningServer running;
  GoodClient good(running);
  good.is_served();
  for (int i = 0; i < rounds(); ++i) exchange(running.port(), nonsense(random));
  good.is_served();
}

TEST(Garbage, FramesThatClaimMoreThanIsAllowed) {
  RunningServer running;
  GoodClient good(running);
  for (const std::uint64_t table : {0xffff'ffff'0000'0000ull, 0x0010'0000'0000'0000ull,
                                    0x0000'0001'ffff'ffffull, 0x0000'0001'0000'0040ull}) {
    for (const bool greeted : {false, true}) {
      Peer peer(running.port());
      if (greeted) {
        ASSERT_TRUE(peer.hello());
      }
      Bytes bytes;
      put_word(bytes, table);
      peer.send(bytes);
      const auto answer = peer.answer();
      ASSERT_TRUE(answer && answer->root().isError());
      EXPECT_EQ(answer->root().getError().getKind(), wire::ErrorKind::BAD_MESSAGE);
      EXPECT_FALSE(peer.answer()) << "and the connection is closed";
    }
  }
  good.is_served();
}

// Requests have two words of data (id; the number of the union's member) and one pointer.
constexpr std::uint64_t kRoot = 0x0001'0002'0000'0000;  // a struct right behind

std::uint64_t struct_pointer(std::int32_t offset, std::uint16_t data, std::uint16_t pointers) {
  return static_cast<std::uint32_t>(offset << 2) | std::uint64_t{data} << 32 |
         std::uint64_t{pointers} << 48;
}
std::uint64_t list_pointer(std::int32_t offset, unsigned element_size, std::uint32_t count) {
  return static_cast<std::uint32_t>(offset << 2 | 1) | std::uint64_t{element_size} << 32 |
         std::uint64_t{count} << 35;
}

TEST(Garbage, PointersThatLeadNowhereInCirclesOrToTooMuch) {
  constexpr std::uint64_t kBatch = 1;
  constexpr std::uint64_t kQuery = 2;
  constexpr unsigned kComposite = 7;
  const std::vector<std::vector<std::uint64_t>> segments{
      {},
      {0},
      {~std::uint64_t{0}},
      {struct_pointer(-1, 0, 1)},                           // the root is its own pointer
      {kRoot, 1, kQuery, struct_pointer(-4, 2, 1)},         // the query is the request
      {kRoot, 1, kBatch, struct_pointer(-4, 2, 1)},         // a struct where a list should be
      {kRoot, 1, kBatch, list_pointer(0, kComposite, 0)},   // its tag is missing
      {kRoot, 1, kBatch, list_pointer(-4, kComposite, 3)},  // made of its own request
      {kRoot, 1, kBatch, list_pointer(0, kComposite, 0), struct_pointer(0x1fff'ffff, 0, 0)},
      {kRoot, 1, kBatch, list_pointer(0, kComposite, 0x1fff'ffff), struct_pointer(8, 1, 1)},
      {kRoot, 1, kBatch, list_pointer(0, 0, 0x1fff'ffff)},  // half a billion elements of nothing
      {kRoot, 1, kBatch, 2},                                // far, to itself
      {kRoot, 1, kBatch, 0x0000'0001'0000'0002},            // far, to a segment that is not there
      {kRoot, 1, 99},                                       // a member from the future
      {0x0001'0002'7fff'fffc, 1, kBatch},                   // beyond the end
  };
  RunningServer running;
  GoodClient good(running);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    SCOPED_TRACE(i);
    Peer peer(running.port());
    ASSERT_TRUE(peer.hello());
    peer.send(framed(segments[i]));
    const auto answer = peer.answer();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->root().isError() || answer->root().isRefused());
    peer.finish_sending();
    while (peer.answer()) {
    }
  }
  good.is_served();
}

// 8 MiB whose every command is the same one: work out of proportion to what was sent.
TEST(Garbage, ListsThatShareWhatTheyPointTo) {
  constexpr unsigned kCommands = 8'000;
  constexpr unsigned kTextWords = 500;
  constexpr unsigned kCommandPointers = 5;
  std::vector<std::uint64_t> words{kRoot, 1, 1};
  words.push_back(list_pointer(0, 7, kCommands * (1 + kCommandPointers)));
  words.push_back(struct_pointer(kCommands, 1, kCommandPointers));
  const std::size_t text_at = words.size() + kCommands * (1 + kCommandPointers);
  for (unsigned i = 0; i < kCommands; ++i) {
    words.push_back(0);
    for (unsigned p = 0; p < kCommandPointers; ++p) {
      const auto offset = static_cast<std::int32_t>(text_at - words.size() - 1);
      words.push_back(p == 0 ? 0 : list_pointer(offset, 2, kTextWords * 8));
    }
  }
  words.insert(words.end(), kTextWords, 0x0078'7878'7878'7878);
  RunningServer running;
  GoodClient good(running);
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  peer.send(framed(words));
  const auto answer = peer.answer();
  ASSERT_TRUE(answer && answer->root().isError());
  EXPECT_FALSE(peer.answer());
  good.is_served();
}

TEST(Garbage, ThousandsOfConnectionsThatSayNothingOrStopHalfway) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const auto count = std::min<std::size_t>(2'000, files.rlim_cur / 4);
  Random random(seed());
  RunningServer running;
  GoodClient good(running);
  std::vector<std::unique_ptr<Peer>> peers;
  for (std::size_t i = 0; i < count; ++i) {
    peers.push_back(std::make_unique<Peer>(running.port()));
    ASSERT_TRUE(peers.back()->connected());
    if (i % 3 == 0) {
      Bytes half = hello();
      half.resize(random() % half.size());
      peers.back()->send(half);
    } else if (i % 3 == 1) {
      ASSERT_TRUE(peers.back()->hello());
      Bytes half = some_request(random);
      half.resize(random() % half.size());
      peers.back()->send(half);
    }
  }
  good.is_served();
  peers.clear();
  good.is_served();
}

}  // namespace
}  // namespace holdfast::api
