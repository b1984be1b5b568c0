#include "api/text/line_writer.h"

#include <kj/debug.h>
#include <array>
#include <charconv>
#include <cstring>

#include "api/holdfast.capnp.h"
#include "api/text/scalar.h"
#include "api/text/time_text.h"

namespace holdfast::api {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

template <class Number>
void append_number(Number number, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escaped(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kShort = "\b\f\n\r\t\"\\";
  constexpr std::string_view kLetters = "bfnrt\"\\";
  if (const auto at = kShort.find(c); at != kShort.npos) {
    out += '\\';
    out += kLetters[at];
    return;
  }
  out += "\\u00";
  out += kHex[static_cast<unsigned char>(c) >> 4];
  out += kHex[static_cast<unsigned char>(c) & 15];
}

// Between quotes where it needs them.
void append_cell(std::string_view text, std::string& out) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == text.npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

bool could_be_formula(std::string_view text) {
  constexpr std::string_view kBegins = "=+-@\t\r'";
  return !text.empty() && kBegins.find(text.front()) != kBegins.npos;
}

}  // namespace

// What a field holds.
struct LineWriter::Value {
  std::uint64_t number = 0;
  std::string_view text;  // and data
  capnp::AnyList::Reader list;
};

LineWriter::LineWriter(capnp::StructSchema schema) {
  for (const FieldText& text : fields_of(schema)) fields_.push_back(describe(text));
}
LineWriter::LineWriter(LineWriter&&) noexcept = default;
LineWriter& LineWriter::operator=(LineWriter&&) noexcept = default;
LineWriter::~LineWriter() = default;

LineWriter::Field LineWriter::describe(const FieldText& text) {
  using Which = capnp::schema::Type;
  const auto slot = text.field.getProto().getSlot();
  const auto preset = slot.getDefaultValue();
  Field field{text.name, "\"" + text.name + "\":", Type::number,
              text.kind, text.optional_number,     text.quiet,
              0,         slot.getOffset(),         0,
              nullptr};
  switch (text.field.getType().which()) {
    case Which::BOOL:
      field.type = Type::flag;
      break;
    case Which::INT64:
      field.bits = 64;
      field.mask = static_cast<std::uint64_t>(preset.getInt64());
      break;
    case Which::UINT64:
      field.type = Type::whole;
      field.bits = 64;
      field.mask = preset.getUint64();
      break;
    case Which::UINT32:
      field.type = Type::whole;
      field.bits = 32;
      field.mask = preset.getUint32();
      break;
    case Which::TEXT:
      field.type = Type::text;
      break;
    case Which::DATA:
      field.type = Type::data;
      break;
    case Which::LIST:
      field.type = Type::list;
      field.items =
          std::make_unique<LineWriter>(text.field.getType().asList().getStructElementType());
      break;
    default:
      KJ_FAIL_REQUIRE("a field whose type has no place in a line", text.name.c_str());
  }
  KJ_REQUIRE(!text.in_union, "a union has no place in a line");
  return field;
}

// False: it is not given.
bool LineWriter::read(const Field& field, capnp::Data::Reader data,
                      capnp::List<capnp::AnyPointer>::Reader pointers, Value& value) {
  value.number = 0;
  switch (field.type) {
    case Type::flag: {
      const std::size_t byte = field.offset / 8;
      value.number = byte < data.size() ? data[byte] >> field.offset % 8 & 1 : 0;
      return !field.quiet || value.number != 0;
    }
    case Type::number:
    case Type::whole: {
      const std::size_t bytes = field.bits / 8;
      if ((field.offset + 1) * bytes <= data.size()) {
        std::memcpy(&value.number, data.begin() + field.offset * bytes, bytes);
      }
      value.number ^= field.mask;
      if (field.optional && static_cast<std::int64_t>(value.number) == wire::NONE) return false;
      return !field.quiet || value.number != field.mask;
    }
    default:
      break;
  }
  if (field.offset >= pointers.size()) return false;
  const auto pointer = pointers[field.offset];
  if (pointer.isNull()) return false;
  if (field.type == Type::text) {
    const auto text = pointer.getAs<capnp::Text>();
    value.text = {text.begin(), text.size()};
  } else if (field.type == Type::data) {
    const auto bytes = pointer.getAs<capnp::Data>();
    value.text = {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
  } else {
    value.list = pointer.getAs<capnp::AnyList>();
  }
  return true;
}

// As in JSON, but text without its quotes and escapes.
void LineWriter::append_value(const Field& field, const Value& value, std::string& out) {
  switch (field.type) {
    case Type::flag:
      out += value.number != 0 ? "true" : "false";
      break;
    case Type::number:
      append_number(static_cast<std::int64_t>(value.number), out);
      break;
    case Type::whole:
      append_number(value.number, out);
      break;
    case Type::text:
      out += value.text;
      break;
    case Type::data:
      out += to_hex({reinterpret_cast<const kj::byte*>(value.text.data()), value.text.size()});
      break;
    case Type::list: {
      out += '[';
      const auto items = value.list.as<capnp::List<capnp::AnyStruct>>();
      for (unsigned i = 0; i < items.size(); ++i) {
        if (i > 0) out += ',';
        field.items->append_json(items[i], out);
      }
      out += ']';
      break;
    }
  }
}

void LineWriter::append_json(capnp::AnyStruct::Reader from, std::string& out) const {
  const auto data = from.getDataSection();
  const auto pointers = from.getPointerSection();
  Value value;
  out += '{';
  bool first = true;
  for (const Field& field : fields_) {
    if (!read(field, data, pointers, value)) continue;
    if (!first) out += ',';
    first = false;
    out += field.member;
    const Instant instant{static_cast<std::int64_t>(value.number)};
    if (field.type == Type::text) {
      append_json_text(value.text, out);
    } else if (field.type == Type::data) {
      out += '"';
      append_value(field, value, out);
      out += '"';
    } else if (field.kind == FieldKind::instant && in_range(instant)) {
      out += '"';
      append_text(instant, out);
      out += '"';
    } else {
      append_value(field, value, out);
    }
  }
  out += '}';
}

void LineWriter::append_csv_header(std::string& out) const {
  for (const Field& field : fields_) {
    if (&field != &fields_.front()) out += ',';
    append_cell(field.name, out);
  }
  out += kLineEnd;
}

void LineWriter::append_csv(capnp::AnyStruct::Reader from, std::string& out) const {
  const auto data = from.getDataSection();
  const auto pointers = from.getPointerSection();
  Value value;
  for (const Field& field : fields_) {
    if (&field != &fields_.front()) out += ',';
    if (!read(field, data, pointers, value)) continue;
    const Instant instant{static_cast<std::int64_t>(value.number)};
    if (field.type == Type::text) {
      if (could_be_formula(value.text)) {
        append_cell("'" + std::string(value.text), out);
      } else {
        append_cell(value.text, out);
      }
    } else if (field.type == Type::list) {
      std::string json;
      append_value(field, value, json);
      append_cell(json, out);
    } else if (field.kind == FieldKind::instant && in_range(instant)) {
      append_text(instant, out);
    } else {
      append_value(field, value, out);
    }
  }
  out += kLineEnd;
}

void append_json_text(std::string_view text, std::string& out) {
  out += '"';
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    out += text.substr(from, i - from);
    append_escaped(text[i], out);
    from = i + 1;
  }
  out += text.substr(from);
  out += '"';
}

}  // namespace holdfast::api
