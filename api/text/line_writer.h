#pragma once

#include <capnp/any.h>
#include <capnp/schema.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/text/fields.h"

// Very many structs of one schema as lines of text. What the schema says is looked up once, so that
// a line costs about what its bytes cost. Any thread.
namespace holdfast::api {

class LineWriter {
 public:
  // Requires fields without a union that are numbers, flags, texts, data or lists of such structs.
  explicit LineWriter(capnp::StructSchema schema);
  LineWriter(LineWriter&&) noexcept;
  LineWriter& operator=(LineWriter&&) noexcept;
  ~LineWriter();

  // The same bytes as to_json() serialized: members in the order of the schema.
  void append_json(capnp::AnyStruct::Reader from, std::string& out) const;

  // CSV (RFC 4180), a column for every field in the order of the schema, under its name in JSON;
  // with the line's end. A cell is what stands in JSON, without the quotes of text; what JSON
  // leaves out is an empty cell, text without characters is "". A text that a spreadsheet could
  // take for a formula (it begins with = + - @, a tab or CR) gets an apostrophe before it; so does
  // one that begins with an apostrophe, so that the text can be told from the cell.
  void append_csv_header(std::string& out) const;
  void append_csv(capnp::AnyStruct::Reader from, std::string& out) const;

 private:
  enum class Type : std::uint8_t { flag, number, whole, text, data, list };
  struct Field {
    std::string name;
    std::string member;  // "name":
    Type type;
    FieldKind kind;
    bool optional;
    bool quiet;
    std::uint32_t bits;                 // width of a number
    std::uint32_t offset;               // in widths; of a pointer among the pointers
    std::uint64_t mask;                 // its default
    std::unique_ptr<LineWriter> items;  // of a list
  };
  struct Value;

  static Field describe(const FieldText& text);
  static bool read(const Field& field, capnp::Data::Reader data,
                   capnp::List<capnp::AnyPointer>::Reader pointers, Value& value);
  static void append_value(const Field& field, const Value& value, std::string& out);

  std::vector<Field> fields_;
};

// As a JSON text, quotes around it.
void append_json_text(std::string_view text, std::string& out);

}  // namespace holdfast::api
