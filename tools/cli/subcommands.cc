#include "tools/cli/subcommands.h"

#include <CLI/CLI.hpp>

#include "api/text/scalar.h"

namespace holdfast::cli {
namespace {

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// What stands for the value in the help.
std::string placeholder(const api::FieldText& field) {
  if (field.kind == api::FieldKind::instant) return "TIME";
  if (field.kind == api::FieldKind::duration) return "DURATION";
  const auto type = field.field.getType();
  if (api::is_integer(type)) return "N";
  if (type.isEnum()) return "STATE";
  if (type.isStruct()) return "TIME|@POSITION";
  return "TEXT";
}

// The option's names, the one to show first: those with '_' are understood too.
std::string names(capnp::StructSchema schema, const api::FieldText& field) {
  std::string names;
  const auto add = [&](const std::string& name) {
    if (!names.empty()) names += ',';
    names += name;
  };
  std::vector<std::string> words = {field.word};
  if (!field.alias.empty()) words.push_back(field.alias);
  for (const auto& word : words) {
    if (api::find_word(schema, word) != &field) continue;
    add("--" + word);
    std::string underscored = word;
    for (char& c : underscored) c = c == '-' ? '_' : c;
    if (underscored != word) add("--" + underscored);
  }
  if (field.positional) add(upper(field.word));
  return names;
}

CLI::Option* add_option(CLI::App& app, capnp::StructSchema schema, const api::FieldText& field) {
  if (field.field.getType().isBool()) {
    return app.add_flag(names(schema, field), field.about);
  }
  const auto keep_results = [](const CLI::results_t&) { return true; };
  if (field.pairs) {
    return app.add_option(names(schema, field), keep_results, field.about)
        ->type_name("NAME=VALUE")
        ->type_size(1)
        ->expected(1)
        ->take_all();
  }
  return app.add_option(names(schema, field), keep_results, field.about)
      ->type_name(placeholder(field))
      ->type_size(1)
      ->expected(1);
}

tl::expected<void, api::WordError> set_all(capnp::DynamicStruct::Builder into,
                                           const api::FieldText& field,
                                           const std::vector<std::string>& texts) {
  std::vector<api::Pair> pairs;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      return tl::unexpected(api::WordError{field.word + ": '" + text + "' is not NAME=VALUE"});
    }
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  api::set_pairs(into, field, pairs);
  return {};
}

}  // namespace

FieldOptions::FieldOptions(CLI::App& app, capnp::StructSchema schema) {
  for (const auto& field : api::fields_of(schema)) {
    if (field.in_union || !field.in_words) continue;
    given_.push_back({&field, add_option(app, schema, field)});
  }
}

tl::expected<void, api::WordError> FieldOptions::fill(capnp::DynamicStruct::Builder into) const {
  for (const auto& [field, option] : given_) {
    if (option->count() == 0) continue;
    auto done = field->pairs ? set_all(into, *field, option->results())
                             : api::set_field(into, *field, option->results().front(), {});
    if (!done) return done;
  }
  return {};
}

Subcommands::Subcommands(CLI::App& app, capnp::StructSchema schema, const std::string& group) {
  for (const auto& member : api::fields_of(schema)) {
    if (!member.in_union) continue;
    CLI::App* sub = app.add_subcommand(member.word, member.about)->group(group)->fallthrough();
    const auto inner = member.field.getType().asStruct();
    subcommands_.push_back({.app = sub,
                            .member = &member,
                            .inner = FieldOptions(*sub, inner),
                            .outer = FieldOptions(*sub, schema)});
  }
}

const Subcommands::Subcommand* Subcommands::parsed() const {
  for (const auto& subcommand : subcommands_) {
    if (subcommand.app->parsed()) return &subcommand;
  }
  return nullptr;
}

bool Subcommands::chosen() const { return parsed() != nullptr; }

tl::expected<void, api::WordError> Subcommands::fill(capnp::DynamicStruct::Builder into) const {
  const Subcommand* subcommand = parsed();
  const auto inner = into.init(subcommand->member->field).as<capnp::DynamicStruct>();
  if (auto done = subcommand->inner.fill(inner); !done) return done;
  return subcommand->outer.fill(into);
}

}  // namespace holdfast::cli
