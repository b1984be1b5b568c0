#pragma once

#include <capnp/dynamic.h>
#include <string>
#include <utility>
#include <vector>

#include "api/holdfast.capnp.h"
#include "tools/cli/table.h"

// Answers as people read them.
namespace holdfast::cli {

// Every field that is given, by its word: labels and values.
std::vector<std::pair<std::string, std::string>> lines_of(capnp::DynamicStruct::Reader from);

// Likewise of a claim; that it is not bound goes without saying.
std::vector<std::pair<std::string, std::string>> claim_lines(wire::Claim::Reader claim);

// Likewise of a head, without its note, which has several lines.
std::vector<std::pair<std::string, std::string>> head_lines(wire::HeadAnswer::Reader head);

// "accepted: position 2", and the claim as it is now.
std::string accepted_text(wire::Accepted::Reader accepted);

// The same on stdout; of a cart, a hold any, an end all with a table of their claims.
void print_accepted(wire::Accepted::Reader accepted);
// Adds what of it is about claims.
void add_claims(Table& table, wire::Accepted::Reader accepted);

Table claims_table();
void add_row(Table& table, wire::Claim::Reader claim);
Table history_table();
void add_row(Table& table, wire::Event::Reader event);
Table access_table();
void add_row(Table& table, wire::AccessRecord::Reader record);
Table resources_table();
void add_row(Table& table, wire::ResourceState::Reader resource);
Table tallies_table();
void add_row(Table& table, wire::Tally::Reader tally);
Table pieces_table();
void add_row(Table& table, wire::FreePiece::Reader piece);

}  // namespace holdfast::cli
