#pragma once

#include <capnp/dynamic.h>
#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "api/text/fields.h"
#include "api/text/words.h"

namespace holdfast::cli {

// An option of a subcommand for every field of a struct, but for those in its union.
class FieldOptions {
 public:
  FieldOptions(CLI::App& app, capnp::StructSchema schema);
  // Sets the fields that were on the command line.
  tl::expected<void, api::WordError> fill(capnp::DynamicStruct::Builder into) const;

 private:
  struct Given {
    const api::FieldText* field;
    CLI::Option* option;
  };
  std::vector<Given> given_;
};

// One subcommand for every member of a struct's union (wire::Command, Query, Admin), with an option
// for every field of the member and of the struct around it.
class Subcommands {
 public:
  Subcommands(CLI::App& app, capnp::StructSchema schema, const std::string& group);

  // Whether one of them was on the command line.
  bool chosen() const;
  // Fills the struct from the one that was.
  tl::expected<void, api::WordError> fill(capnp::DynamicStruct::Builder into) const;

 private:
  struct Subcommand {
    CLI::App* app;
    const api::FieldText* member;
    FieldOptions inner;
    FieldOptions outer;
  };
  const Subcommand* parsed() const;

  std::vector<Subcommand> subcommands_;
};

}  // namespace holdfast::cli
