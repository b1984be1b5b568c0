#pragma once

#include <capnp/dynamic.h>
#include <capnp/schema.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the schema says of a struct's fields, read once by reflection. Any thread.
namespace holdfast::api {

enum class FieldKind { plain, instant, duration };

struct FieldText {
  capnp::StructSchema::Field field;
  std::string name;   // in JSON: from_holder
  std::string word;   // on the command line and in scenarios: from-holder
  std::string alias;  // its name as a word where `word` is another one, else empty
  std::string about;  // one line of help
  FieldKind kind = FieldKind::plain;
  bool positional = false;       // may be given without its name
  bool optional_number = false;  // Int64 whose default means that it is not given
  bool in_union = false;
  bool pairs = false;    // List of (name, value): WORD.NAME=VALUE
  bool bare = false;     // Bool: its word alone makes it true
  bool quiet = false;    // says something only where it is set
  bool in_words = true;  // false: a list or a struct that has no form in words
};

// In the order of the schema. The reference stays valid.
const std::vector<FieldText>& fields_of(capnp::StructSchema schema);

// The field that a word names, '-' and '_' being equal: first by word, then by alias; one that is
// only positional because another has its word is not found. Null: none.
const FieldText* find_word(capnp::StructSchema schema, std::string_view word);
// By name in JSON, exactly.
const FieldText* find_name(capnp::StructSchema schema, std::string_view name);

// Whether the value is there: not null, not the default that means none, the member in force.
bool is_given(const capnp::DynamicStruct::Reader& from, const FieldText& field);

std::string snake_case(std::string_view camel_case);  // fromHolder: from_holder
std::string kebab_case(std::string_view camel_case);  // fromHolder: from-holder
// '_' becomes '-'.
std::string as_word(std::string_view text);

// By snake_case or kebab-case name.
std::optional<capnp::DynamicEnum> parse_enum(capnp::EnumSchema schema, std::string_view text);
std::string to_text(capnp::DynamicEnum value);  // snake_case
// "live, held, committed": what parse_enum would take.
std::string names_of(capnp::EnumSchema schema);

}  // namespace holdfast::api
