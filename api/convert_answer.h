#pragma once

#include "api/holdfast.capnp.h"
#include "ledger/domain/availability.h"
#include "ledger/domain/claim.h"
#include "ledger/domain/decide.h"
#include "ledger/domain/event.h"
#include "ledger/domain/refusal.h"
#include "ledger/domain/resource_list.h"
#include "ledger/ledger.h"

// Values of the domain put into the wire's fresh builders.
namespace holdfast::api {

void put(const Claim& claim, wire::Claim::Builder into);
void put(const Refusal& refusal, wire::Refusal::Builder into);
void put(const Accepted& accepted, wire::Accepted::Builder into);
void put(const Outcome& outcome, wire::Outcome::Builder into);
void put(const FreePiece& piece, wire::FreePiece::Builder into);
void put(const ListedResource& resource, wire::ResourceState::Builder into);
void put(const Event& event, wire::Event::Builder into);

}  // namespace holdfast::api
