#include "api/text/fields.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "api/holdfast.capnp.h"
#include "api/text/scalar.h"

namespace holdfast::api {
namespace {

// Annotations of holdfast.capnp, by their ids.
constexpr std::uint64_t kWord = 0xdcbc5eae8b71086e;
constexpr std::uint64_t kAbout = 0x9f61116b88ef7301;
constexpr std::uint64_t kPositional = 0xba4989ac86ad2c17;
constexpr std::uint64_t kPairs = 0xe3f1d0a96c5b8274;
constexpr std::uint64_t kBare = 0xd5f26a1b3c7e9048;
constexpr std::uint64_t kInstant = 0x9718cba1bff184fd;
constexpr std::uint64_t kDuration = 0x907575bf55c007a3;

// Flags and numbers that most claims and events do not have.
bool is_quiet(std::string_view name) {
  constexpr std::array<std::string_view, 5> kQuiet = {"bound", "parts", "step", "previousOnTo",
                                                      "windowAdded"};
  return std::ranges::find(kQuiet, name) != kQuiet.end();
}

std::string separated(std::string_view camel_case, char separator) {
  std::string out;
  for (const char c : camel_case) {
    if (c >= 'A' && c <= 'Z') {
      out += separator;
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view view(kj::StringPtr text) { return {text.cStr(), text.size()}; }

FieldText describe(capnp::StructSchema::Field field) {
  const auto proto = field.getProto();
  const std::string_view name = view(proto.getName());
  FieldText text;
  text.field = field;
  text.name = snake_case(name);
  text.word = kebab_case(name);
  text.quiet = !field.getType().isList() && is_quiet(name);
  text.in_union = proto.getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT;
  text.optional_number = proto.isSlot() && proto.getSlot().getDefaultValue().isInt64() &&
                         proto.getSlot().getDefaultValue().getInt64() == wire::NONE;
  for (const auto annotation : proto.getAnnotations()) {
    switch (annotation.getId()) {
      case kWord:
        text.alias = text.word;
        text.word = view(annotation.getValue().getText());
        break;
      case kAbout:
        text.about = view(annotation.getValue().getText());
        break;
      case kPositional:
        text.positional = true;
        break;
      case kPairs:
        text.word = view(annotation.getValue().getText());
        text.pairs = true;
        break;
      case kBare:
        text.bare = true;
        break;
      case kInstant:
        text.kind = FieldKind::instant;
        break;
      case kDuration:
        text.kind = FieldKind::duration;
        break;
      default:
        break;
    }
  }
  const auto type = field.getType();
  text.in_words = type.isList() ? text.pairs : !type.isStruct() || is_as_of(type.asStruct());
  return text;
}

}  // namespace

const std::vector<FieldText>& fields_of(capnp::StructSchema schema) {
  static std::shared_mutex mutex;
  static std::map<std::uint64_t, std::vector<FieldText>> known;
  const std::uint64_t id = schema.getProto().getId();
  {
    const std::shared_lock lock(mutex);
    const auto found = known.find(id);
    if (found != known.end()) return found->second;
  }
  std::vector<FieldText> fields;
  for (const auto field : schema.getFields()) fields.push_back(describe(field));
  const std::unique_lock lock(mutex);
  return known.try_emplace(id, std::move(fields)).first->second;
}

const FieldText* find_word(capnp::StructSchema schema, std::string_view word) {
  const std::string wanted = as_word(word);
  const auto& fields = fields_of(schema);
  if (wanted.empty()) return nullptr;
  const FieldText* found = nullptr;
  for (const auto& field : fields) {
    if (field.word != wanted) continue;
    // A word given by the schema goes before a name that happens to be the same.
    if (!found || !field.alias.empty()) found = &field;
  }
  if (found) return found;
  const auto alias = std::ranges::find(fields, wanted, &FieldText::alias);
  return alias == fields.end() ? nullptr : &*alias;
}

const FieldText* find_name(capnp::StructSchema schema, std::string_view name) {
  const auto& fields = fields_of(schema);
  const auto found = std::ranges::find(fields, name, &FieldText::name);
  return found == fields.end() ? nullptr : &*found;
}

bool is_given(const capnp::DynamicStruct::Reader& from, const FieldText& field) {
  const auto mode = field.quiet ? capnp::HasMode::NON_DEFAULT : capnp::HasMode::NON_NULL;
  if (!from.has(field.field, mode)) return false;
  return !field.optional_number || from.get(field.field).as<std::int64_t>() != wire::NONE;
}

std::string snake_case(std::string_view camel_case) { return separated(camel_case, '_'); }
std::string kebab_case(std::string_view camel_case) { return separated(camel_case, '-'); }

std::string as_word(std::string_view text) {
  std::string word(text);
  std::ranges::replace(word, '_', '-');
  return word;
}

std::optional<capnp::DynamicEnum> parse_enum(capnp::EnumSchema schema, std::string_view text) {
  const std::string wanted = as_word(text);
  for (const auto enumerant : schema.getEnumerants()) {
    if (kebab_case(view(enumerant.getProto().getName())) == wanted) {
      return capnp::DynamicEnum(enumerant);
    }
  }
  return std::nullopt;
}

std::string to_text(capnp::DynamicEnum value) {
  KJ_IF_MAYBE (enumerant, value.getEnumerant()) {
    return snake_case(view(enumerant->getProto().getName()));
  }
  return std::to_string(value.getRaw());
}

std::string names_of(capnp::EnumSchema schema) {
  std::string names;
  for (const auto enumerant : schema.getEnumerants()) {
    if (!names.empty()) names += ", ";
    names += snake_case(view(enumerant.getProto().getName()));
  }
  return names;
}

}  // namespace holdfast::api
