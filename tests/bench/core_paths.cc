// One of the core's works, many times over: what instructions_test counts the instructions of.
//
//   core_paths WORK TIMES
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/bench/core_work.h"

// By this name callgrind knows when to count.
extern "C" __attribute__((noinline)) void holdfast_measured(const std::function<void()>& work,
                                                            std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) work();
}

namespace holdfast::bench {
namespace {

template <class Work, class... Args>
std::function<void()> made(Args... args) {
  return [work = std::make_shared<Work>(args...)] { (*work)(); };
}

int run(const std::string& name, std::int64_t times) {
  const std::map<std::string, std::function<std::function<void()>()>> works{
      {"decide", [] { return made<HoldAndRelease>(10, false); }},
      {"decide_among_100000", [] { return made<HoldAndRelease>(100'000, true); }},
      {"evolve", [] { return made<Fold>(10'000); }},
      {"encode", [] { return made<Encode>(); }},
      {"decode", [] { return made<Decode>(); }},
      {"occupancy", [] { return made<Occupy>(10'000); }},
  };
  const auto found = works.find(name);
  if (found == works.end()) {
    std::fprintf(stderr, "no work is called %s; there are:", name.c_str());
    for (const auto& [known, work] : works) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  const std::function<void()> work = found->second();
  for (int warm = 0; warm < 100; ++warm) work();
  holdfast_measured(work, times);
  return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s WORK TIMES\n", argv[0]);
    return 2;
  }
  return holdfast::bench::run(argv[1], std::atoll(argv[2]));
}
