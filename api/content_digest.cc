#include <capnp/any.h>
#include <capnp/schema.h>
#include <kj/debug.h>
#include <string>

#include "api/convert_command.h"
#include "ledger/store/sha256.h"

// The bytes that are hashed, for a pointer and what it leads to:
//
//     null      0
//     struct    1, words of data (4 bytes), the data, pointers (4 bytes), each pointer
//     list      2, size of an element as Cap'n Proto numbers it, elements (4 bytes), the elements:
//               their bits, or each as a pointer or a struct without its 1
//
// Zero words at the end of data and null pointers at the end of pointers are left off: a field that
// a later schema adds and nobody gave leaves no trace. Numbers are little-endian.
namespace holdfast::api {
namespace {

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  // `skipped`: the pointer that is taken to be null; kNone: none of them.
  static constexpr unsigned kNone = ~0u;
  void add_struct(capnp::AnyStruct::Reader from, unsigned skipped) {
    const auto data = from.getDataSection();
    std::size_t bytes = data.size();
    while (bytes > 0 && data[bytes - 1] == 0) --bytes;
    const std::size_t words = (bytes + 7) / 8;
    add_count(words);
    out_.append(reinterpret_cast<const char*>(data.begin()), bytes);
    out_.append(words * 8 - bytes, '\0');

    const auto pointers = from.getPointerSection();
    const auto is_null = [&](unsigned i) { return i == skipped || pointers[i].isNull(); };
    unsigned count = pointers.size();
    while (count > 0 && is_null(count - 1)) --count;
    add_count(count);
    for (unsigned i = 0; i < count; ++i) {
      if (is_null(i)) {
        out_ += '\0';
      } else {
        add_pointer(pointers[i]);
      }
    }
  }

 private:
  void add_pointer(capnp::AnyPointer::Reader pointer) {
    switch (pointer.getPointerType()) {
      case capnp::PointerType::NULL_:
        out_ += '\0';
        return;
      case capnp::PointerType::STRUCT:
        out_ += '\1';
        add_struct(pointer.getAs<capnp::AnyStruct>(), kNone);
        return;
      case capnp::PointerType::LIST:
        out_ += '\2';
        add_list(pointer.getAs<capnp::AnyList>());
        return;
      case capnp::PointerType::CAPABILITY:
        KJ_FAIL_REQUIRE("a capability in a message over TCP");
    }
    KJ_FAIL_REQUIRE("a pointer of no known kind");
  }

  void add_list(capnp::AnyList::Reader list) {
    out_ += static_cast<char>(list.getElementSize());
    add_count(list.size());
    if (list.getElementSize() == capnp::ElementSize::POINTER) {
      for (const auto item : list.as<capnp::List<capnp::AnyPointer>>()) add_pointer(item);
    } else if (list.getElementSize() == capnp::ElementSize::INLINE_COMPOSITE) {
      for (const auto item : list.as<capnp::List<capnp::AnyStruct>>()) add_struct(item, kNone);
    } else {
      const auto bytes = list.getRawBytes();
      out_.append(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
    }
  }

  void add_count(std::size_t count) {
    for (int shift = 0; shift < 32; shift += 8) out_ += static_cast<char>(count >> shift & 0xFF);
  }

  std::string& out_;
};

unsigned correlation_pointer() {
  const auto field =
      capnp::StructSchema(capnp::Schema::from<wire::Command>()).getFieldByName("correlationId");
  return field.getProto().getSlot().getOffset();
}

}  // namespace

Digest content_digest(wire::Command::Reader command) {
  static const unsigned kCorrelation = correlation_pointer();
  thread_local std::string bytes;
  bytes.clear();
  Encoder(bytes).add_struct(capnp::AnyStruct::Reader(command), kCorrelation);
  return store::sha256(bytes);
}

}  // namespace holdfast::api
