#include "tools/cli/export_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ledger/proof/export_frames.h"
#include "ledger/store/event_codec.h"
#include "ledger/store/sha256.h"
#include "tests/ledger/store/sample_events.h"
#include "tools/cli/event_lines.h"

namespace holdfast::cli {
namespace {

using proof::ExportFormat;
using proof::ExportManifest;
using proof::Flaw;

constexpr std::uint64_t kEvents = 12;

std::string record_of(const Event& event) {
  std::string record;
  store::encode(event, record);
  return record;
}

// Files as an export makes them, of a ledger of kEvents holds.
class ExportFileTest : public testing::Test {
 protected:
  ExportFileTest()
      : path_(testing::TempDir() + "export_" + std::to_string(getpid())),
        key_(proof::SigningKey::generate()),
        verifier_{{}, key_.public_key()} {
    for (const Event& event : store::numbered_holds(1, kEvents)) tree_.append(record_of(event));
  }
  ~ExportFileTest() override { std::filesystem::remove(path_); }

  std::string content(ExportFormat format) const {
    const EventLines lines(format);
    std::string content;
    if (format == ExportFormat::bytes) {
      proof::append_header({verifier_.ledger, {1}, {kEvents}}, content);
    } else {
      lines.append_header(content);
    }
    for (const Event& event : store::numbered_holds(1, kEvents)) {
      if (format == ExportFormat::bytes) {
        proof::append_frame(record_of(event), content);
      } else {
        lines.append(event, content);
      }
    }
    return content;
  }
  ExportManifest manifest(ExportFormat format, const std::string& content) const {
    ExportManifest manifest;
    manifest.format = format;
    manifest.until = {kEvents};
    manifest.count = kEvents;
    manifest.bytes = content.size();
    manifest.sha256 = store::sha256(content);
    manifest.root = tree_.root();
    manifest.head = proof::sign_head({verifier_.ledger, kEvents, tree_.root(), {}, {}}, key_);
    return manifest;
  }
  tl::expected<proof::Head, ExportFault> check(const ExportManifest& manifest,
                                               const std::string& content) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
    taken_.clear();
    return check_export(
        path_, manifest, verifier_, "",
        [&](Position position, std::string_view record) -> tl::expected<void, std::string> {
          EXPECT_EQ(position.value, taken_.size() + 1);
          taken_.emplace_back(record);
          return {};
        });
  }
  Flaw flaw(const ExportManifest& manifest, const std::string& content) {
    const auto checked = check(manifest, content);
    const auto* flaw = checked ? nullptr : std::get_if<Flaw>(&checked.error());
    EXPECT_NE(flaw, nullptr);
    return flaw != nullptr ? *flaw : Flaw{};
  }

  const std::string path_;
  const proof::SigningKey key_;
  const proof::VerifierKey verifier_;
  store::MerkleFrontier tree_;
  std::vector<std::string> taken_;
};

constexpr auto kFormats = {ExportFormat::jsonl, ExportFormat::csv, ExportFormat::bytes};

TEST_F(ExportFileTest, IsReadAndProvedInEachFormat) {
  for (const auto format : kFormats) {
    const std::string file = content(format);
    const auto head = check(manifest(format, file), file);
    ASSERT_TRUE(head) << name_of(format);
    EXPECT_EQ(head->size, kEvents);
    ASSERT_EQ(taken_.size(), kEvents);
    for (std::uint64_t i = 0; i < kEvents; ++i) {
      EXPECT_EQ(taken_[i], record_of(store::numbered_hold(i + 1)));
    }
  }
}

TEST_F(ExportFileTest, NoByteCanBeChangedLostOrAdded) {
  for (const auto format : kFormats) {
    const std::string file = content(format);
    const ExportManifest made = manifest(format, file);
    for (std::size_t i = 0; i < file.size(); i += 3) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      EXPECT_EQ(flaw(made, changed).kind, Flaw::Kind::other_file) << name_of(format) << i;
    }
    EXPECT_EQ(flaw(made, file.substr(0, file.size() - 1)).kind, Flaw::Kind::other_file);
    EXPECT_EQ(flaw(made, file + "\n").kind, Flaw::Kind::other_file);
    EXPECT_EQ(flaw(made, "").kind, Flaw::Kind::other_file);
    ExportManifest longer = made;
    ++longer.bytes;
    EXPECT_EQ(flaw(longer, file).kind, Flaw::Kind::other_file);
  }
}

// Whoever can change the file can make its manifest fit; but he cannot sign the head.
TEST_F(ExportFileTest, AManifestMadeToFitDoesNotHelp) {
  for (const auto format : kFormats) {
    const std::string file = content(format);
    for (std::size_t i = 0; i < file.size(); i += 3) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      const auto kind = flaw(manifest(format, changed), changed).kind;
      EXPECT_TRUE(kind == Flaw::Kind::malformed || kind == Flaw::Kind::not_in_log)
          << name_of(format) << i;
    }
  }
}

TEST_F(ExportFileTest, AnotherHolderIsNotInTheLog) {
  std::string file = content(ExportFormat::jsonl);
  const auto at = file.find("\"source\":\"");
  ASSERT_NE(at, file.npos);
  file.insert(at + 10, "x");
  EXPECT_EQ(flaw(manifest(ExportFormat::jsonl, file), file).kind, Flaw::Kind::not_in_log);
}

TEST_F(ExportFileTest, EventsAreLeftOutOrTwiceOrTooMany) {
  for (const auto format : {ExportFormat::jsonl, ExportFormat::csv}) {
    const std::string file = content(format);
    std::string first;
    EventLines(format).append(store::numbered_hold(1), first);
    const auto at = file.find(first);
    const std::string without = file.substr(0, at) + file.substr(at + first.size());
    auto found = flaw(manifest(format, without), without);
    EXPECT_EQ(found.what, "there stands the event of position 2");
    EXPECT_EQ(found.position, Position{1});
    const std::string twice = file.substr(0, at) + first + file.substr(at);
    found = flaw(manifest(format, twice), twice);
    EXPECT_EQ(found.what, "there stands the event of position 1");
    EXPECT_EQ(found.position, Position{2});
    const std::string more = file + first;
    EXPECT_EQ(flaw(manifest(format, more), more).what, "it has more than its events");
    const std::string fewer = file.substr(0, file.size() - first.size());
    EXPECT_EQ(flaw(manifest(format, fewer), fewer).what, "it ends before its last event does");
  }
}

TEST_F(ExportFileTest, OfAFilteredOneTheOrderIsHeld) {
  const EventLines lines(ExportFormat::csv);
  std::string file;
  lines.append_header(file);
  lines.append(store::numbered_hold(3), file);
  lines.append(store::numbered_hold(9), file);
  ExportManifest made = manifest(ExportFormat::csv, file);
  made.filter = {{"type", "held"}};
  made.count = 2;
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << file;
  std::vector<std::uint64_t> seen;
  const auto checked =
      check_export(path_, made, verifier_, "",
                   [&](Position position, std::string_view) -> tl::expected<void, std::string> {
                     seen.push_back(position.value);
                     return {};
                   });
  EXPECT_TRUE(checked);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{3, 9}));
  lines.append(store::numbered_hold(8), file);
  made.count = 3;
  made.bytes = file.size();
  made.sha256 = store::sha256(file);
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << file;
  const auto wrong = check_export(path_, made, verifier_, "", [](Position, std::string_view) {
    return tl::expected<void, std::string>();
  });
  EXPECT_EQ(std::get<Flaw>(wrong.error()).what, "there stands the event of position 8");
}

TEST_F(ExportFileTest, AFileThatIsNotThere) {
  const std::string file = content(ExportFormat::bytes);
  std::filesystem::remove(path_);
  const auto checked =
      check_export(path_, manifest(ExportFormat::bytes, file), verifier_, "",
                   [](Position, std::string_view) { return tl::expected<void, std::string>(); });
  ASSERT_FALSE(checked);
  EXPECT_EQ(std::get<std::string>(checked.error()), "it cannot be read to its end");
  EXPECT_EQ(std::get<std::string>(read_manifest(path_, "").error()),
            path_ + ".manifest.json cannot be read: an export is checked by its manifest");
}

TEST_F(ExportFileTest, WhatCannotBeTakenEndsTheReading) {
  const std::string file = content(ExportFormat::bytes);
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << file;
  const auto checked =
      check_export(path_, manifest(ExportFormat::bytes, file), verifier_, "",
                   [](Position position, std::string_view) -> tl::expected<void, std::string> {
                     if (position.value < 4) return {};
                     return tl::unexpected(std::string("the disk is full"));
                   });
  EXPECT_EQ(std::get<std::string>(checked.error()), "the disk is full");
}

}  // namespace
}  // namespace holdfast::cli
