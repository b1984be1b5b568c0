#include "ledger/domain/shared_text.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast {
namespace {

TEST(SharedText, IsWhatItWasMadeOfAtEveryLength) {
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string text(size, 'x');
    SharedText made{std::string_view(text)};
    EXPECT_EQ(made.view(), text);
    EXPECT_EQ(made.view().data()[size], '\0');
    const SharedText copy = made;
    const SharedText moved = std::move(made);
    EXPECT_EQ(copy.view(), text);
    EXPECT_EQ(moved.view(), text);
    EXPECT_EQ(copy, moved);
    EXPECT_EQ(copy, SharedText(std::string_view(text)));
    EXPECT_NE(copy, SharedText(text + "y"));
    EXPECT_LT(copy, SharedText(text + "y"));
  }
}

TEST(SharedText, KeepsBytesOfAnyValue) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
  for (std::size_t from = 0; from <= text.size(); ++from) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{15}, std::size_t{16}}) {
      const std::string_view part = std::string_view(text).substr(from, size);
      EXPECT_EQ(SharedText(part).view(), part);
    }
  }
}

TEST(SharedText, MayBeAssignedToItselfAndOverAnother) {
  const std::string longer(40, 'l');
  SharedText text{std::string_view("short")};
  text = SharedText{std::string_view(longer)};
  const SharedText& same = text;
  text = same;
  EXPECT_EQ(text.view(), longer);
  text = SharedText{std::string_view("short")};
  EXPECT_EQ(text.view(), "short");
}

TEST(SharedText, IsCopiedAndLetGoByManyThreads) {
  const SharedText text{std::string_view("longer than fits inside")};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([copy = text] {
      for (int i = 0; i < 20'000; ++i) {
        std::vector<SharedText> copies(3, copy);
        ASSERT_EQ(copies.back(), copy);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(text.view(), "longer than fits inside");
}

}  // namespace
}  // namespace holdfast
