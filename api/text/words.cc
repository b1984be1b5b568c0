#include "api/text/words.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <map>
#include <set>

#include "api/text/fields.h"
#include "api/text/scalar.h"

namespace holdfast::api {
namespace {

tl::unexpected<WordError> no(std::string what, bool bad_time = false) {
  return tl::unexpected(WordError{std::move(what), bad_time});
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Length of the JSON string at the front of `text`, quotes included; 0: it does not end.
std::size_t quoted_length(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return 0;
}

tl::expected<std::string, WordError> unquote(std::string_view quoted) {
  boost::system::error_code error;
  const auto value =
      boost::json::parse(boost::json::string_view(quoted.data(), quoted.size()), error);
  if (error || !value.is_string()) {
    return no(std::string(quoted) + " is not a JSON string: " + error.message());
  }
  return std::string(value.get_string().data(), value.get_string().size());
}

// Takes the word at the front of `rest`, which is neither empty nor a space.
tl::expected<Word, WordError> take_word(std::string_view& rest) {
  Word word;
  std::string_view text = rest;
  if (text.front() != '"') {
    std::size_t end = 0;
    while (end < text.size() && !is_space(text[end]) && text[end] != '=') ++end;
    if (end > 0 && end < text.size() && text[end] == '=') {
      word.name = std::string(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
  }
  if (text.starts_with('"')) {
    const std::size_t length = quoted_length(text);
    if (length == 0) return no(std::string(text) + " has no closing quote");
    auto value = unquote(text.substr(0, length));
    if (!value) return tl::unexpected(value.error());
    word.value = std::move(*value);
    text.remove_prefix(length);
    if (!text.empty() && !is_space(text.front())) {
      return no("a space is missing before '" + std::string(text) + "'");
    }
  } else {
    const auto end = static_cast<std::size_t>(std::ranges::find_if(text, is_space) - text.begin());
    word.value = std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  rest = text;
  return word;
}

// The member of the unnamed union that the verb names. A struct has its words from the schema.
const FieldText* find_verb(capnp::StructSchema schema, std::string_view verb) {
  const FieldText* field = find_word(schema, verb);
  return field && field->in_union && field->field.getType().isStruct() ? field : nullptr;
}

std::string known_words(capnp::StructSchema inner, capnp::StructSchema outer) {
  std::string known;
  for (const auto schema : {inner, outer}) {
    for (const auto& field : fields_of(schema)) {
      if (field.in_union || !field.in_words || find_word(schema, field.word) != &field) continue;
      if (!known.empty()) known += ", ";
      known += field.word;
    }
  }
  return known;
}

// Collects one command's fields, each at most once.
class Filling {
 public:
  Filling(std::string_view verb, capnp::DynamicStruct::Builder inner,
          capnp::DynamicStruct::Builder outer, const TimeBase& base)
      : verb_(verb), inner_(inner), outer_(outer), base_(base) {
    for (const auto& field : fields_of(inner.getSchema())) {
      if (field.positional) positional_.push_back(&field);
    }
  }

  tl::expected<void, WordError> add(const Word& word) {
    return word.name ? add_named(*word.name, word.value) : add_positional(word.value);
  }
  void finish() {
    for (const auto& [field, pairs] : pairs_) set_pairs(inner_, *field, pairs);
  }

 private:
  tl::expected<void, WordError> add_positional(std::string_view value) {
    const FieldText* bare = find_word(inner_.getSchema(), value);
    if (bare && bare->bare) return set(inner_, *bare, "true");
    for (const FieldText* field : positional_) {
      if (!given_.contains(field)) return set(inner_, *field, value);
    }
    return no("'" + std::string(value) + "' has no place in " + verb_ +
              ": write NAME=VALUE, with " + known_words(inner_.getSchema(), outer_.getSchema()));
  }

  tl::expected<void, WordError> add_named(std::string_view name, std::string_view value) {
    if (const FieldText* field = find_word(inner_.getSchema(), name)) {
      return set(inner_, *field, value);
    }
    const auto dot = name.find('.');
    if (dot != std::string_view::npos) {
      const FieldText* field = find_word(inner_.getSchema(), name.substr(0, dot));
      if (field && field->pairs) {
        pairs_[field].emplace_back(name.substr(dot + 1), value);
        return {};
      }
    }
    const FieldText* field = find_word(outer_.getSchema(), name);
    if (field && !field->in_union) return set(outer_, *field, value);
    return no(verb_ + " has no '" + std::string(name) + "': it takes " +
              known_words(inner_.getSchema(), outer_.getSchema()));
  }

  tl::expected<void, WordError> set(capnp::DynamicStruct::Builder into, const FieldText& field,
                                    std::string_view value) {
    if (!given_.insert(&field).second) return no(field.word + " is given twice");
    return set_field(into, field, value, base_);
  }

  std::string verb_;
  capnp::DynamicStruct::Builder inner_;
  capnp::DynamicStruct::Builder outer_;
  const TimeBase& base_;
  std::vector<const FieldText*> positional_;
  std::set<const FieldText*> given_;
  std::map<const FieldText*, std::vector<Pair>> pairs_;
};

tl::expected<void, WordError> set_integer(capnp::DynamicStruct::Builder into,
                                          const FieldText& field, std::string_view value,
                                          const TimeBase& base) {
  if (field.kind == FieldKind::instant) {
    const auto instant = parse_instant(value, base);
    if (!instant) return no(field.word + ": " + instant.error(), true);
    into.set(field.field, instant->ms);
    return {};
  }
  if (field.kind == FieldKind::duration) {
    const auto duration = parse_duration(value);
    if (!duration) return no(field.word + ": " + duration.error());
    into.set(field.field, duration->ms);
    return {};
  }
  const auto fitted = parse_whole_number(value).and_then(
      [&](WholeNumber number) { return fit(number, field.field.getType()); });
  if (!fitted) return no(field.word + ": " + fitted.error());
  into.set(field.field, *fitted);
  return {};
}

}  // namespace

tl::expected<std::vector<Word>, WordError> split_words(std::string_view line) {
  std::vector<Word> words;
  for (;;) {
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    if (line.empty() || line.front() == '#') return words;
    auto word = take_word(line);
    if (!word) return tl::unexpected(std::move(word).error());
    words.push_back(std::move(*word));
  }
}

bool has_verb(capnp::StructSchema schema, std::string_view verb) {
  return find_verb(schema, verb) != nullptr;
}

tl::expected<void, WordError> fill_from_words(std::string_view verb, std::span<const Word> words,
                                              capnp::DynamicStruct::Builder into,
                                              const TimeBase& base) {
  const FieldText* member = find_verb(into.getSchema(), verb);
  if (!member) return no("'" + std::string(verb) + "' is unknown");
  Filling filling(verb, into.init(member->field).as<capnp::DynamicStruct>(), into, base);
  for (const Word& word : words) {
    if (auto done = filling.add(word); !done) return done;
  }
  filling.finish();
  return {};
}

void set_pairs(capnp::DynamicStruct::Builder into, const FieldText& field,
               std::span<const Pair> pairs) {
  auto list = into.init(field.field, static_cast<unsigned>(pairs.size())).as<capnp::DynamicList>();
  for (unsigned i = 0; i < list.size(); ++i) {
    auto pair = list[i].as<capnp::DynamicStruct>();
    pair.set("name", capnp::Text::Reader(pairs[i].first.c_str(), pairs[i].first.size()));
    pair.set("value", capnp::Text::Reader(pairs[i].second.c_str(), pairs[i].second.size()));
  }
}

tl::expected<void, WordError> set_field(capnp::DynamicStruct::Builder into, const FieldText& field,
                                        std::string_view value, const TimeBase& base) {
  const auto type = field.field.getType();
  if (is_integer(type)) return set_integer(into, field, value, base);
  switch (type.which()) {
    case capnp::schema::Type::TEXT: {
      const std::string text(value);
      into.set(field.field, capnp::Text::Reader(text.c_str(), text.size()));
      return {};
    }
    case capnp::schema::Type::BOOL:
      if (value != "true" && value != "false") {
        return no(field.word + ": '" + std::string(value) + "' is neither true nor false");
      }
      into.set(field.field, value == "true");
      return {};
    case capnp::schema::Type::ENUM: {
      const auto number = parse_enum(type.asEnum(), value);
      if (!number) {
        return no(field.word + ": '" + std::string(value) + "' is none of " +
                  names_of(type.asEnum()));
      }
      into.set(field.field, *number);
      return {};
    }
    case capnp::schema::Type::DATA: {
      const auto bytes = parse_hex(value);
      if (!bytes) return no(field.word + ": '" + std::string(value) + "' " + bytes.error());
      into.set(field.field, capnp::Data::Reader(reinterpret_cast<const kj::byte*>(bytes->data()),
                                                bytes->size()));
      return {};
    }
    case capnp::schema::Type::STRUCT:
      if (is_as_of(type.asStruct())) {
        auto as_of = into.init(field.field).as<capnp::DynamicStruct>().as<wire::AsOf>();
        const auto done = parse_as_of(value, base, as_of);
        if (!done) return no(field.word + ": " + done.error().what, done.error().bad_time);
        return {};
      }
      [[fallthrough]];
    default:
      return no(field.pairs ? "write " + field.word + ".NAME=VALUE"
                            : field.word + " has no form in words");
  }
}

}  // namespace holdfast::api
