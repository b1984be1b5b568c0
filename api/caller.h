#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/domain/ids.h"
#include "ledger/domain/scope.h"

namespace holdfast::api {

// The actor that a client names or is given; nothing for what is none, or the ledger's own.
inline std::optional<Actor> actor_of_client(std::string_view name) {
  return name == "system" ? std::nullopt : Actor::make(name);
}

enum class Role : std::uint8_t { app, auditor, operations };

// Who somebody is and what he may do.
struct Grant {
  Actor actor;
  Role role = Role::operations;
  Scope scope = {};
  bool operator==(const Grant&) const = default;

  bool is_operator() const { return role == Role::operations; }
};

// Who is at the other end of a connection, as its hello said.
struct Caller {
  Grant grant;
  std::string source;            // address of the connection
  std::uint64_t connection = 0;  // a number of its own, for bound holds; 0: none
  Digest token = {};             // what gave the grant, where there are tokens
  std::uint64_t seen = 0;        // Tokens::changes() when it was last looked at

  const Actor& actor() const { return grant.actor; }
};

}  // namespace holdfast::api
