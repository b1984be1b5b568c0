#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/client.h"

// check_log HOST:PORT ACKS...
//
// Reads the whole log of a running server and the files that holdfast-bench --acks wrote, and
// exits 1 unless: positions run from 1 to the head; no key is held twice; everything that was
// acknowledged is there, with its key, at its position.
namespace holdfast::api {
namespace {

struct Log {
  std::vector<std::string> keys;  // of positions 1, 2, 3 ...
  std::unordered_set<std::string> held;
};

int fail(const std::string& what) {
  std::cerr << "check_log: " << what << "\n";
  return 1;
}

// Empty: it is as it should be.
std::string read_log(BlockingClient& client, Log& log) {
  std::string cursor;
  std::uint64_t head = 0;
  do {
    Request request;
    auto query = request.root().initQuery().initHistory();
    query.setLimit(10'000);
    if (!cursor.empty()) query.setCursor(cursor);
    const auto answer = client.call(std::move(request));
    if (!answer) return answer.error().text;
    if (!answer->root().isHistory()) return "the history was refused";
    head = answer->root().getPosition();
    for (const auto event : answer->root().getHistory().getEvents()) {
      if (event.getPosition() != log.keys.size() + 1) {
        return "position " + std::to_string(event.getPosition()) + " follows on " +
               std::to_string(log.keys.size());
      }
      log.keys.emplace_back(event.getKey().cStr());
      if (event.getType() == "held" && !log.held.insert(log.keys.back()).second) {
        return log.keys.back() + " is held twice";
      }
    }
    cursor = answer->root().getHistory().getCursor().cStr();
  } while (!cursor.empty());
  if (log.keys.size() != head) {
    return "the head is " + std::to_string(head) + ", the last event " +
           std::to_string(log.keys.size());
  }
  return {};
}

std::string check_acks(const std::string& file, const Log& log, std::uint64_t& acknowledged) {
  std::ifstream acks(file);
  std::string line;
  while (std::getline(acks, line)) {
    if (acks.eof()) break;  // not ended: the writer was killed in the middle of it
    const auto space = line.find(' ');
    if (space == std::string::npos) return file + ": not an acknowledgement: " + line;
    const std::uint64_t position = std::stoull(line.substr(space + 1));
    if (position == 0 || position > log.keys.size()) {
      return line + " was acknowledged, the log ends at " + std::to_string(log.keys.size());
    }
    if (log.keys[position - 1] != line.substr(0, space)) {
      return line + " was acknowledged, the log has " + log.keys[position - 1];
    }
    ++acknowledged;
  }
  return {};
}

int run(int argc, char** argv) {
  if (argc < 2) return fail("usage: check_log HOST:PORT ACKS...");
  ClientOptions options;
  options.server = argv[1];
  BlockingClient client(options);
  Log log;
  if (const auto wrong = read_log(client, log); !wrong.empty()) return fail(wrong);
  std::uint64_t acknowledged = 0;
  for (int i = 2; i < argc; ++i) {
    if (const auto wrong = check_acks(argv[i], log, acknowledged); !wrong.empty()) {
      return fail(wrong);
    }
  }
  std::cout << log.keys.size() << " events, " << acknowledged << " of them acknowledged\n";
  return 0;
}

}  // namespace
}  // namespace holdfast::api

int main(int argc, char** argv) { return holdfast::api::run(argc, argv); }
