#include "ledger/store/watermark.h"

#include <array>
#include <utility>

#include "ledger/store/fixed_bytes.h"
#include "ledger/store/sha256.h"

namespace holdfast::store {
namespace {

constexpr std::uint64_t kMagic = 0x314b52414d464c48;  // "HLFMARK1"
constexpr std::uint64_t kSlotDistance = 4096;
constexpr std::size_t kBodySize = 8 + 8 + 16 + 8 + 8 + 32 + 8;
constexpr std::size_t kSlotSize = kBodySize + 32;

struct Slot {
  std::uint64_t sequence = 0;
  Mark mark;
};

std::string path_in(const std::string& dir) { return dir + "/watermark"; }

void encode_slot(const Slot& slot, std::string& out) {
  out.clear();
  BytesOut to(out);
  to.number(kMagic);
  to.number(slot.sequence);
  to.bytes(slot.mark.ledger);
  to.number(slot.mark.group);
  to.number(slot.mark.position.value);
  to.bytes(slot.mark.root);
  to.number(static_cast<std::uint64_t>(slot.mark.latest.ms));
  to.bytes(sha256(out));
}

std::optional<Slot> decode_slot(std::string_view bytes) {
  BytesIn from(bytes);
  Slot slot;
  const bool magic = from.number() == kMagic;
  slot.sequence = from.number();
  slot.mark.ledger = from.bytes<16>();
  slot.mark.group = from.number();
  slot.mark.position = {from.number()};
  slot.mark.root = from.bytes<32>();
  slot.mark.latest = {static_cast<std::int64_t>(from.number())};
  const auto checksum = from.bytes<32>();
  if (!magic || !from.done() || checksum != sha256(bytes.substr(0, kBodySize))) return std::nullopt;
  return slot;
}

tl::unexpected<StorageError> failed(const char* what, const std::string& path,
                                    const rocksdb::IOStatus& status) {
  return tl::unexpected(
      StorageError{std::string("cannot ") + what + " " + path + ": " + status.ToString()});
}

tl::expected<std::optional<Slot>, StorageError> newest_slot(rocksdb::FileSystem& fs,
                                                            const std::string& dir) {
  const std::string path = path_in(dir);
  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  if (auto exists = fs.FileExists(path, {}, nullptr); exists.IsNotFound()) return std::nullopt;
  auto status = fs.NewRandomAccessFile(path, {}, &file, nullptr);
  if (!status.ok()) return failed("open", path, status);
  std::optional<Slot> newest;
  for (const std::uint64_t offset : {std::uint64_t{0}, kSlotDistance}) {
    std::array<char, kSlotSize> scratch;
    rocksdb::Slice bytes;
    status = file->Read(offset, scratch.size(), {}, &bytes, scratch.data(), nullptr);
    if (!status.ok()) return failed("read", path, status);
    const auto slot = decode_slot({bytes.data(), bytes.size()});
    if (slot && (!newest || slot->sequence > newest->sequence)) newest = slot;
  }
  if (!newest) {
    return tl::unexpected(StorageError{path + " is damaged: neither of its two slots is whole"});
  }
  return newest;
}

tl::expected<void, StorageError> write_file(rocksdb::FileSystem& fs, const std::string& path,
                                            const std::string& content) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  auto status = fs.NewWritableFile(path, {}, &file, nullptr);
  if (status.ok()) status = file->Append(content, {}, nullptr);
  if (status.ok()) status = file->Fsync({}, nullptr);
  if (status.ok()) status = file->Close({}, nullptr);
  if (!status.ok()) return failed("write", path, status);
  return {};
}

}  // namespace

Watermark::Watermark(std::unique_ptr<rocksdb::FSRandomRWFile> file, std::uint64_t sequence)
    : file_(std::move(file)), sequence_(sequence) {}

tl::expected<std::optional<Mark>, StorageError> Watermark::read(rocksdb::FileSystem& fs,
                                                                const std::string& dir) {
  return newest_slot(fs, dir).map([](const std::optional<Slot>& slot) -> std::optional<Mark> {
    if (!slot) return std::nullopt;
    return slot->mark;
  });
}

tl::expected<Watermark, StorageError> Watermark::create(rocksdb::FileSystem& fs,
                                                        const std::string& dir, const Mark& mark) {
  // Both slots at full length, so that no later write has to change the file's size.
  const std::string path = path_in(dir);
  std::string content;
  encode_slot({.sequence = 0, .mark = mark}, content);
  content.resize(2 * kSlotDistance);
  if (auto done = write_file(fs, path + ".new", content); !done) {
    return tl::unexpected(done.error());
  }
  auto status = fs.RenameFile(path + ".new", path, {}, nullptr);
  std::unique_ptr<rocksdb::FSDirectory> directory;
  if (status.ok()) status = fs.NewDirectory(dir, {}, &directory, nullptr);
  if (status.ok()) status = directory->Fsync({}, nullptr);
  if (!status.ok()) return failed("create", path, status);
  return open(fs, dir);
}

tl::expected<Watermark, StorageError> Watermark::open(rocksdb::FileSystem& fs,
                                                      const std::string& dir) {
  const auto slot = newest_slot(fs, dir);
  if (!slot) return tl::unexpected(slot.error());
  const std::string path = path_in(dir);
  if (!*slot) return tl::unexpected(StorageError{path + " is missing"});
  std::unique_ptr<rocksdb::FSRandomRWFile> file;
  if (auto status = fs.NewRandomRWFile(path, {}, &file, nullptr); !status.ok()) {
    return failed("open", path, status);
  }
  return Watermark(std::move(file), (*slot)->sequence);
}

tl::expected<void, StorageError> Watermark::write(const Mark& mark) {
  ++sequence_;
  encode_slot({.sequence = sequence_, .mark = mark}, buffer_);
  auto status = file_->Write((sequence_ % 2) * kSlotDistance, buffer_, {}, nullptr);
  if (status.ok()) status = file_->Sync({}, nullptr);
  if (!status.ok()) return failed("write", "the watermark", status);
  return {};
}

}  // namespace holdfast::store
