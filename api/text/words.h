#pragma once

#include <capnp/dynamic.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "api/text/time_text.h"

// Commands and queries as words, `hold room-1 key=h1 from=10h label="order 17"`, for scenarios and
// the command line; made from the schema by reflection.
namespace holdfast::api {

// One word of a line: `value` alone, or `name=value`. Quotes are taken off.
struct Word {
  std::optional<std::string> name;
  std::string value;
  bool operator==(const Word&) const = default;
};

struct WordError {
  std::string what;       // a sentence that names the word
  bool bad_time = false;  // an instant that cannot be read or has no offset: `refused bad_time`
};

// Splits at spaces and tabs. A value that begins with '"' is a JSON string. `#` at the beginning of
// a word begins a comment. A word that begins with '=' is a value: `=>`.
tl::expected<std::vector<Word>, WordError> split_words(std::string_view line);

// Fills a struct with an unnamed union of structs (wire::Command, Query, Admin): `verb` chooses the
// member (`hold`, `show`), the words are its fields and the outer struct's (request=, reason=).
// Words without a name are the positional fields, in order. Numbers that do not fit are errors;
// numbers that fit and make no sense (0, negative, out of range) are the ledger's to refuse.
tl::expected<void, WordError> fill_from_words(std::string_view verb, std::span<const Word> words,
                                              capnp::DynamicStruct::Builder into,
                                              const TimeBase& base);

// Whether `verb` chooses a member of the struct's union.
bool has_verb(capnp::StructSchema schema, std::string_view verb);

// Sets one field from the text of its value.
struct FieldText;
tl::expected<void, WordError> set_field(capnp::DynamicStruct::Builder into, const FieldText& field,
                                        std::string_view value, const TimeBase& base);

// Sets a field of pairs.
using Pair = std::pair<std::string, std::string>;
void set_pairs(capnp::DynamicStruct::Builder into, const FieldText& field,
               std::span<const Pair> pairs);

// -- answers, compared field by field

// The value of the field that `word` names, in canonical text; nothing where it is not given or
// there is no such field. Looks into structs inside (`version` of an Accepted is its claim's) where
// the struct itself has no such word. A list of claims is their keys, comma between; of text
// likewise. Empty lists are `none`.
std::optional<std::string> field_text(capnp::DynamicStruct::Reader from, std::string_view word,
                                      const TimeBase& base);

// Whether the field has the value that `expected` says, by value: 60s equals 1m. `none` is a field
// that is not given or an empty list. An error where the struct can have no such field, or the text
// is no value of it.
tl::expected<bool, WordError> field_equals(capnp::DynamicStruct::Reader from, std::string_view word,
                                           std::string_view expected, const TimeBase& base);

}  // namespace holdfast::api
