@0xb5c1a7e09d3f4c21;

# The wire of Holdfast: Cap'n Proto messages in standard stream framing over TCP. DESIGN 5.
#
# Commands and queries are described here once. JSON, the command line and the scenario language
# are made from this schema by reflection: a field `fromHolder` is `from_holder` in JSON,
# `--from-holder` on the command line and `from-holder=` in a scenario, unless `word` names another
# word for the latter two. Numbers of fields are never reused.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("holdfast::wire");

using import "live.capnp".Mark;
using import "live.capnp".Subscription;
using import "proof.capnp".Proof;
using import "proof.capnp".Record;
using import "proof.capnp".SignedHead;

# Of text forms only: they change nothing on the wire. Data is hexadecimal there.
annotation word @0xdcbc5eae8b71086e (field) :Text;         # its word for CLI and scenarios
annotation about @0x9f61116b88ef7301 (field) :Text;        # one line of help
annotation positional @0xba4989ac86ad2c17 (field) :Void;   # may be given without its name
annotation bare @0xd5f26a1b3c7e9048 (field) :Void;         # Bool: its name alone makes it true
annotation instant @0x9718cba1bff184fd (field) :Void;      # Int64: Unix milliseconds; RFC 3339
annotation pairs @0xe3f1d0a96c5b8274 (field) :Text;       # List of (name, value): WORD.NAME=VALUE
annotation duration @0x907575bf55c007a3 (field) :Void;     # Int64: milliseconds; 1d2h30m, 59.999s

# Int64 fields with this default are optional: the default means not given. Text and struct fields
# are optional by being null.
const none :Int64 = -9223372036854775808;

const protocolVersion :UInt16 = 1;

# -- Envelope

struct Request {
  id @0 :UInt64;  # the client's; its answer carries it
  union {
    hello @1 :Hello;            # must come first, once
    batch @2 :List(Command);    # 1 to 8,192 independent commands
    query @3 :Query;
    admin @4 :Admin;
    importBegin @5 :ImportBegin;
    importLines @6 :List(ImportLine);
    importEnd @7 :ImportEnd;
    subscription @8 :Subscription;  # live events
    proof @9 :Proof;
    queries @10 :List(Query);  # claim, availability and nextFree, 1 to 1,000, all of one position;
                               # limits of availability pages: 10,000 pieces together
  }
}

struct Response {
  id @0 :UInt64;        # 0 where the request could not be read
  position @1 :UInt64;  # the answer is true at this position of the log
  union {
    error @2 :Error;
    refused @3 :Refusal;      # of a query, an admin request or a whole import request
    hello @4 :HelloAnswer;
    outcomes @5 :List(Outcome);  # of batch and importLines: one a command, in order
    claim @6 :Claim;
    claims @7 :ClaimsAnswer;
    availability @8 :AvailabilityAnswer;
    history @9 :HistoryAnswer;
    head @10 :HeadAnswer;
    sweep @11 :SweepAnswer;
    rebuild @12 :RebuildAnswer;
    import @13 :ImportAnswer;
    done @14 :Void;
    events @15 :List(Event);  # of a subscription: what it has not been sent yet, in order
    mark @16 :Mark;           # of a subscription: where it stands
    resources @17 :ResourcesAnswer;
    records @18 :List(Record);    # those of the first positions asked for that fit into a message
    consistency @19 :List(Data);  # RFC 6962, 2.1.2
    signedHead @20 :SignedHead;
    access @21 :AccessAnswer;
    tallies @22 :TalliesAnswer;
    answers @23 :List(Response);  # of queries: one a query, in order; without ids
  }
}

struct Error {
  kind @0 :ErrorKind;
  text @1 :Text;
}

enum ErrorKind {
  badMessage @0;          # malformed, too large, or not allowed here; the connection closes
  unsupportedVersion @1;  # of the protocol
  wrongLedger @2;         # the server's ledger id is not the one that the client named
  storage @3;             # a fault of the store; the server is stopping
  unavailable @4;         # a projection has stopped or is not ready
  badToken @5;            # the server has tokens, and this is none of them, or no longer; it closes
}

struct Hello {
  protocolVersion @0 :UInt16;
  token @1 :Text;    # read where the server has a token file
  actor @2 :Text;    # read where it has none: who this connection is
  ledgerId @3 :Data;  # 16 bytes: turned away unless it is the server's; null: any
  program @4 :Text;  # name and version of the client, for the server's log
}

struct HelloAnswer {
  protocolVersion @0 :UInt16;
  ledgerId @1 :Data;
  now @2 :Int64 $instant;
  version @3 :Text;  # of the server
}

# -- Commands

struct Command {
  union {
    define @0 :Define $about("define a resource");
    change @1 :Change $about("change fields of a defined resource");
    close @2 :Close $about("take no new claims at a resource and below");
    open @3 :Open $about("take claims again");
    retire @4 :Retire $about("retire a resource; its history stays");
    hold @5 :Hold $about("hold units of a resource until an expiry");
    extend @6 :Extend $about("move the expiry of a live hold");
    release @7 :Release $about("let a hold go, or a part of it");
    commit @8 :Commit $about("make a live hold a booking");
    cancel @9 :Cancel $about("cancel a booking, or a part of it");
    steal @10 :Steal $about("take over a hold that is past its expiry");
    move @15 :Move $about("move a live claim to another span or resource");
    holdAny @16 :HoldAny $about("hold the first resources below a path that have room");
    hours @17 :Window $about("add an open span; claims must lie inside one");
    unhours @18 :Window $about("remove an open span");
    block @19 :Window $about("block a span");
    unblock @20 :Window $about("remove a blocked span");
    endAll @21 :EndAll $about("release and cancel all that stands below a path; needs a reason");
    check @22 :Check $about("change nothing; refused where what it says does not hold");
    transact @23 :Transact $about("several commands and checks, all or nothing");
  }
  requestId @11 :Text $word("request") $about("makes a repeated command safe: 1 to 64 bytes, unique per actor");
  correlationId @12 :Text $word("correlation") $about("kept with the events, for whoever asks later");
  reason @13 :Text $about("why; kept with the events");
  onBehalfOf @14 :Text $about("for whom the actor acts; kept with the events");
}

struct Define {
  resource @0 :Text $positional $about("path of the resource");
  capacity @1 :Int64 = .none $about("units that can be claimed at one instant (default 1)");
  turnaround @2 :Int64 = .none $duration $about("time a unit needs after a claim (default 0)");
  maxTtl @3 :Int64 = .none $duration $about("longest time to expiry, at most 7d");
  defaultTtl @4 :Int64 = .none $duration $about("time to expiry when a hold names none");
  parts @5 :Bool $about("it is the whole of what lies below it");
  holderLimit @6 :Int64 = .none $about("units a holder may have at it and below");
  extensionLimit @7 :Int64 = .none $about("how often a hold may be extended");
  maxHoldTime @8 :Int64 = .none $duration $about("how long a hold may last in all");
  attributes @9 :List(Attribute) $pairs("attr") $about("attributes for checks, up to 32");
}

struct Change {
  resource @0 :Text $positional $about("path of the resource");
  capacity @1 :Int64 = .none $about("units that can be claimed at one instant");
  turnaround @2 :Int64 = .none $duration $about("time a unit needs after a claim");
  maxTtl @3 :Int64 = .none $duration $about("longest time to expiry, at most 7d");
  defaultTtl @4 :Int64 = .none $duration $about("time to expiry when a hold names none");
  parts @5 :Flag = unset $about("it is the whole of what lies below it");
  holderLimit @6 :Int64 = .none $about("units a holder may have at it and below");
  extensionLimit @7 :Int64 = .none $about("how often a hold may be extended");
  maxHoldTime @8 :Int64 = .none $duration $about("how long a hold may last in all");
  attributes @9 :List(Attribute) $pairs("attr") $about("attributes for checks, up to 32; one without a value is taken away");
}

enum Flag {  # a Bool that may be left out
  unset @0;
  true @1;
  false @2;
}

struct Attribute {
  name @0 :Text;
  value @1 :Text;
}

struct Window {
  resource @0 :Text $positional $about("path of the resource");
  from @1 :Int64 = .none $instant $about("begin of the span");
  until @2 :Int64 = .none $instant $about("end of the span, not part of it");
}

struct Close {
  resource @0 :Text $positional $about("path of the resource");
}

struct Open {
  resource @0 :Text $positional $about("path of the resource");
}

struct Retire {
  resource @0 :Text $positional $about("path of the resource");
  force @1 :Bool $about("release and cancel what stands on it first; needs a reason");
}

struct Hold {
  resource @0 :Text $positional $about("path of the resource");
  key @1 :Text $about("key of the claim, unique for ever (default: a new UUID)");
  from @2 :Int64 = .none $instant $about("begin of the span (without a span: all of time)");
  until @3 :Int64 = .none $instant $about("end of the span, not part of it");
  quantity @4 :Int64 = .none $about("units (default 1)");
  holder @5 :Text $about("who holds (default: the actor)");
  cart @6 :Text $about("cart it belongs to");
  label @7 :Text $about("your own text, kept with the claim");
  ttl @8 :Int64 = .none $duration $about("time to expiry");
  expiresAt @9 :Int64 = .none $instant $word("expires") $about("instant of expiry, instead of ttl");
  capacity @10 :Int64 = .none $about("on a path that nobody defined: its capacity, which you vouch for");
  bound @11 :Bool $about("release it when this connection ends");
}

struct HoldAny {
  resource @0 :Text $positional $about("path above the resources");
  n @1 :Int64 = .none $about("how many resources (default 1)");
  key @2 :Text $about("keys of the claims: KEY/1, KEY/2 ... (default: a new UUID)");
  from @3 :Int64 = .none $instant $about("begin of the span (without a span: all of time)");
  until @4 :Int64 = .none $instant $about("end of the span, not part of it");
  quantity @5 :Int64 = .none $about("units on each (default 1)");
  holder @6 :Text $about("who holds (default: the actor)");
  cart @7 :Text $about("cart they belong to");
  label @8 :Text $about("your own text, kept with the claims");
  ttl @9 :Int64 = .none $duration $about("time to expiry");
  expiresAt @10 :Int64 = .none $instant $word("expires") $about("instant of expiry, instead of ttl");
  bound @11 :Bool $about("release them when this connection ends");
}

struct Extend {
  key @0 :Text $positional $about("key of the claim");
  holder @1 :Text $about("whose it is");
  version @2 :Int64 = .none $about("only if this is still its version");
  ttl @3 :Int64 = .none $duration $about("time to expiry from now");
  expiresAt @4 :Int64 = .none $instant $word("expires") $about("instant of expiry, instead of ttl");
  shorten @5 :Bool $about("allow an earlier expiry");
  cart @6 :Text $about("all live holds of a cart, instead of a key");
}

struct Release {
  key @0 :Text $positional $about("key of the claim");
  holder @1 :Text $about("whose it is");
  version @2 :Int64 = .none $about("only if this is still its version");
  quantity @3 :Int64 = .none $about("units to let go (default: all)");
  cart @4 :Text $about("all live holds of a cart, instead of a key");
}

struct Commit {
  key @0 :Text $positional $about("key of the claim");
  holder @1 :Text $about("whose it is");
  version @2 :Int64 = .none $about("only if this is still its version");
  quantity @3 :Int64 = .none $about("units to book; the rest is let go (default: all)");
  label @4 :Text $about("replaces the claim's label");
  cart @5 :Text $about("all live holds of a cart, instead of a key");
  reacquire @6 :Text $about("if it has expired and there is room: hold and commit under this key");
  capacity @7 :Int64 = .none $about("with reacquire, on a path that nobody defined: its capacity");
}

struct Cancel {
  key @0 :Text $positional $about("key of the claim");
  holder @1 :Text $about("whose it is");
  version @2 :Int64 = .none $about("only if this is still its version");
  quantity @3 :Int64 = .none $about("units to cancel (default: all)");
}

struct Steal {
  key @0 :Text $positional $about("key of the hold that is past its expiry");
  fromHolder @1 :Text $about("whose you saw it to be");
  newKey @2 :Text $word("key") $about("key of the new claim (default: a new UUID)");
  holder @3 :Text $about("who takes over (default: the actor)");
  version @4 :Int64 = .none $about("only if this is still its version");
  cart @5 :Text $about("cart of the new claim");
  label @6 :Text $about("label of the new claim");
  ttl @7 :Int64 = .none $duration $about("time to expiry");
  expiresAt @8 :Int64 = .none $instant $word("expires") $about("instant of expiry, instead of ttl");
  capacity @9 :Int64 = .none $about("on a path that nobody defined: its capacity, which you vouch for");
  force @10 :Bool $about("take a live hold too; operators, needs a reason");
}

struct Move {
  key @0 :Text $positional $about("key of the claim");
  holder @1 :Text $about("whose it is");
  version @2 :Int64 = .none $about("only if this is still its version");
  to @3 :Text $about("path of the resource it moves to (default: stays)");
  from @4 :Int64 = .none $instant $about("begin of the new span (default: keeps its span)");
  until @5 :Int64 = .none $instant $about("end of the new span");
}

struct EndAll {
  resource @0 :Text $positional $about("this path and below");
  limit @1 :UInt32 = 1000 $about("one step of so many claims, at most 1,000 (default: step by step to the end)");
  cursor @2 :Text $about("go on behind an earlier step");
  dryRun @3 :Bool $about("only tell what would be ended");
}

struct Check {  # of a resource: open, free or attributes; of a claim: live or version
  resource @0 :Text $positional $about("path of the resource");
  key @1 :Text $about("key of the claim");
  open @2 :Bool $bare $about("it takes new claims");
  free @3 :Int64 = .none $about("at least so many units are free");
  from @4 :Int64 = .none $instant $about("with free: over this span (default: now)");
  until @5 :Int64 = .none $instant $about("end of the span");
  attributes @6 :List(Attribute) $pairs("attr") $about("the attribute has this value");
  live @7 :Bool $bare $about("the claim is live");
  version @8 :Int64 = .none $about("the claim has this version");
}

struct Transact {
  steps @0 :List(Command);  # 1 to 1,000; requestId is the whole's
}

# -- Outcomes of commands

struct Outcome {
  union {
    accepted @0 :Accepted;
    refused @1 :Refusal;
  }
}

struct Accepted {
  firstPosition @0 :UInt64;  # 0: nothing was written
  positions @1 :UInt32;      # how many were written
  claim @2 :Claim;           # as it is after the command; null for commands on resources
  available @3 :Int64 = .none;  # free units at the tightest instant of the claim's span
  changed @4 :Bool = true;
  replayed @5 :Bool;
  clamped @6 :Bool;          # the expiry asked for was not granted in full
  parts @7 :List(Accepted);  # of a transaction, by command; of many claims, by claim
  cursor @8 :Text;           # of an end all: where the next step goes on; null: that was all
}

enum ClaimState {
  held @0;
  committed @1;
  released @2;
  expired @3;
  cancelled @4;
  stolen @5;
}

struct Claim {
  key @0 :Text;
  resource @1 :Text;
  from @2 :Int64 = .none $instant;
  until @3 :Int64 = .none $instant;
  quantity @4 :Int64 = .none;
  holder @5 :Text;
  cart @6 :Text;
  label @7 :Text;
  state @8 :ClaimState;
  heldAt @9 :Int64 = .none $instant;
  expiresAt @10 :Int64 = .none $instant $word("expires");
  version @11 :UInt64;
  stolenFrom @12 :Text;  # the claim it took over
  stolenBy @13 :Text;    # the claim that took it over
  bound @14 :Bool;       # released when its connection ends
}

enum Reason {
  overloaded @0;
  readOnly @1;
  clockUnsafe @2;
  badPath @3;
  badKey @4;
  badText @5;
  badSpan @6;
  badQuantity @7;
  badTtl @8;
  badTime @9;
  limit @10;
  forbidden @11;
  keyReused @12;
  unknownResource @13;
  unknownClaim @14;
  notHolder @15;
  alreadyDefined @16;
  inUse @17;
  terminal @18;
  alreadyCommitted @19;
  notCommitted @20;
  expired @21;
  notExpired @22;
  staleVersion @23;
  capacityMismatch @24;
  extensionLimit @25;
  holderLimit @26;
  closed @27;
  outsideHours @28;
  blocked @29;
  conflict @30;
  checkFailed @31;
}

struct Refusal {
  reason @0 :Reason;
  field @1 :Text;                        # badText, keyReused
  name @2 :Text;                         # limit
  max @3 :Int64 = .none;                 # limit
  state @4 :Text;                        # terminal, notCommitted: a ClaimState
  expiresAt @5 :Int64 = .none $instant $word("expires");  # expired, notExpired
  now @6 :Int64 = .none $instant;        # expired
  current @7 :Int64 = .none;             # staleVersion
  capacity @8 :Int64 = .none;            # capacityMismatch, conflict
  available @9 :Int64 = .none;           # conflict
  path @10 :Text;                        # closed, blocked, holderLimit: the nearest
  blockers @11 :List(Claim);             # conflict, inUse: at most 16
  retryAt @12 :Int64 = .none $instant;   # conflict: when enough units lapse, if ever
  claim @13 :Claim;                      # alreadyCommitted: the booking
  limit @14 :Int64 = .none;              # holderLimit, extensionLimit
  what @15 :Text;                        # checkFailed: what was checked
  actual @16 :Text;                      # checkFailed: what it is instead
  positions @17 :List(PositionRefusal);  # of a transaction, one a command; above: of the first refused
}

struct PositionRefusal {
  union {
    none @0 :Void;  # would have passed
    refused @1 :Refusal;
  }
}

# -- Queries

struct AsOf {  # one of the two
  position @0 :Int64 = .none;
  instant @1 :Int64 = .none $instant;
}

struct Query {
  union {
    claim @0 :ClaimQuery $word("show") $about("show one claim");
    claims @1 :ClaimsQuery $about("list claims in order of key");
    availability @2 :AvailabilityQuery $about("units free on a resource, now or over a window");
    history @3 :HistoryQuery $about("list events");
    head @4 :HeadQuery $about("the ledger: its id, size, Merkle root, clock and projections");
    nextFree @5 :NextFreeQuery $about("the earliest span of a duration with enough units free");
    resources @6 :ResourcesQuery $about("defined resources below a path: fields, units free, claims");
    access @7 :AccessQuery $about("the access log: who read, which commands were refused, newest first");
    tallies @8 :TalliesQuery $about("how many holds, commits, expiries ... by resource and day");
  }
}

struct ClaimQuery {
  key @0 :Text $positional $about("key of the claim");
  asOf @1 :AsOf $about("as it was: an instant (RFC 3339) or @POSITION");
}

struct ClaimsQuery {
  resource @0 :Text $positional $about("claims on this path and below");
  holder @1 :Text $about("claims of this holder");
  cart @2 :Text $about("claims in this cart");
  state @3 :StateFilter $about("live (held or committed), a state, or all");
  asOf @4 :AsOf $about("as it was: an instant (RFC 3339) or @POSITION");
  limit @5 :UInt32 $about("at most so many");
  cursor @6 :Text $about("go on behind an earlier answer");
}

enum StateFilter {
  live @0;
  held @1;
  committed @2;
  released @3;
  expired @4;
  cancelled @5;
  stolen @6;
  all @7;
}

struct AvailabilityQuery {
  resource @0 :Text $positional $about("path of the resource");
  from @1 :Int64 = .none $instant $about("begin of the window (without a window: now)");
  until @2 :Int64 = .none $instant $about("end of the window");
  quantity @3 :Int64 = .none $about("only pieces with at least so many units free (default 1)");
  duration @4 :Int64 = .none $duration $about("only pieces of an unbroken run at least this long");
  asOf @5 :AsOf $about("as it was: an instant (RFC 3339) or @POSITION");
  limit @6 :UInt32 $about("with a window: at most so many pieces");
  cursor @7 :Text $about("go on behind an earlier answer");
}

struct NextFreeQuery {
  resource @0 :Text $positional $about("path of the resource");
  duration @1 :Int64 = .none $duration $about("how long the span is to be");
  quantity @2 :Int64 = .none $about("at least so many units free (default 1)");
  from @3 :Int64 = .none $instant $about("the span begins then or later (default: now)");
  until @4 :Int64 = .none $instant $about("the span has ended by then (default: whenever)");
  asOf @5 :AsOf $about("as it was: an instant (RFC 3339) or @POSITION");
}

struct ResourcesQuery {
  resource @0 :Text $positional $about("this path and below (default: all)");
  from @1 :Int64 = .none $instant $about("units free over a whole span: its begin (default: now)");
  until @2 :Int64 = .none $instant $about("end of the span, not part of it");
  quantity @3 :Int64 = .none $about("only those with at least so many units free");
  asOf @4 :AsOf $about("as it was: an instant (RFC 3339) or @POSITION");
  limit @5 :UInt32 $about("at most so many");
  cursor @6 :Text $about("go on behind an earlier answer");
}

# Without any of the others, the whole log. An event is listed if all that is given lets it through.
# Found by an index: key, request, resource, holder, actor, positions and recorded instants, the first
# of those that is given; what else there is sifts what was found, up to 10,000 events an answer, so
# that a page may have fewer events than its limit, or none, and a cursor all the same.
struct HistoryQuery {
  resource @0 :Text $positional $about("events on this path and below");
  key @1 :Text $about("events of one claim");
  holder @2 :Text $about("events of claims of this holder");
  actor @3 :Text $about("events written by this actor");
  requestId @4 :Text $word("request") $about("events of one request of the actor");
  asOf @5 :AsOf $about("events up to an instant (RFC 3339) or @POSITION");
  fromPosition @6 :Int64 = .none $about("first position to list");
  untilPosition @7 :Int64 = .none $about("last position to list");
  newestFirst @8 :Bool $about("newest first");
  limit @9 :UInt32 $about("at most so many");
  cursor @10 :Text $about("go on behind an earlier answer");
  type @11 :Text $about("events of this type: held, committed, closed ...");
  correlationId @12 :Text $word("correlation") $about("events that carry this correlation id");
  from @13 :Int64 = .none $instant $about("recorded at this instant or later");
  until @14 :Int64 = .none $instant $about("recorded before this instant");
  effectiveFrom @15 :Int64 = .none $instant $about("took effect then or later: an expiry when it was due, all else when it was recorded");
  effectiveUntil @16 :Int64 = .none $instant $about("took effect before this instant");
}

struct TalliesQuery {  # by path, then by day; days without anything are left out
  resource @0 :Text $positional $about("this path and below (default: all)");
  from @1 :Int64 = .none $instant $about("the UTC day of this instant and later");
  until @2 :Int64 = .none $instant $about("days that begin before this instant");
  limit @3 :UInt32 $about("at most so many");
  cursor @4 :Text $about("go on behind an earlier answer");
}

struct HeadQuery {}

struct ClaimsAnswer {
  claims @0 :List(Claim);
  cursor @1 :Text;  # null: that was all
}

struct FreePiece {
  from @0 :Int64 $instant;
  until @1 :Int64 $instant;
  free @2 :Int64;
}

struct AvailabilityAnswer {
  free @0 :Int64 = .none;          # without a window
  pieces @1 :List(FreePiece);      # with one; of next free: the span, or nothing
  cursor @2 :Text;                 # null: that was all
}

struct ResourcesAnswer {
  resources @0 :List(ResourceState);  # in order of path
  cursor @1 :Text;  # null: that was all
}

struct ResourceState {  # a defined resource; what its definition leaves open is not given
  resource @0 :Text;
  free @1 :Int64;    # what a hold would find: 0 where it would be refused for any reason
  capacity @2 :Int64;
  claims @3 :UInt64;  # live ones on the resource itself
  closed @4 :Bool;    # itself, not above it
  parts @5 :Bool;
  turnaround @6 :Int64 $duration;
  maxTtl @7 :Int64 = .none $duration;
  defaultTtl @8 :Int64 = .none $duration;
  holderLimit @9 :Int64 = .none;
  extensionLimit @10 :Int64 = .none;
  maxHoldTime @11 :Int64 = .none $duration;
  attributes @12 :List(Attribute) $pairs("attr");
  hours @13 :UInt32;    # how many open spans it has
  blocked @14 :UInt32;  # how many blocked spans it has
}

struct HistoryAnswer {
  events @0 :List(Event);
  cursor @1 :Text;  # null: that was all
}

# An event as a reader sees it; fields that its type does not have are not given.
struct Event {
  position @0 :UInt64;
  transaction @1 :UInt64;  # first position of its transaction
  transactionCount @2 :UInt32;
  recordedAt @3 :Int64 $instant;
  type @4 :Text;  # held, extended, released, committed, cancelled, stolen, expired, defined ...
  resource @5 :Text;
  key @6 :Text;
  previousOnResource @7 :UInt64;
  previousOfClaim @8 :UInt64;
  actor @9 :Text;
  requestId @10 :Text $word("request");
  correlationId @11 :Text $word("correlation");
  content @12 :Data;
  holder @13 :Text;
  cart @14 :Text;
  label @15 :Text;
  onBehalfOf @16 :Text;
  reason @17 :Text;
  source @18 :Text;
  from @19 :Int64 = .none $instant;
  until @20 :Int64 = .none $instant;
  quantity @21 :Int64 = .none;
  remaining @22 :Int64 = .none;
  letGo @23 :Int64 = .none;
  expiresAt @24 :Int64 = .none $instant $word("expires");
  due @25 :Int64 = .none $instant;
  capacity @26 :Int64 = .none;
  turnaround @27 :Int64 = .none $duration;
  maxTtl @28 :Int64 = .none $duration;
  defaultTtl @29 :Int64 = .none $duration;
  stolenFrom @30 :Text;
  stolenBy @31 :Text;
  clamped @32 :Bool;
  forced @33 :Bool;
  available @34 :Int64 = .none;
  step @35 :UInt32;  # which of a transaction's commands, from 0
  to @36 :Text;      # where a claim moves
  previousOnTo @37 :UInt64;
  bound @38 :Bool;
  parts @39 :Bool;
  holderLimit @40 :Int64 = .none;
  extensionLimit @41 :Int64 = .none;
  maxHoldTime @42 :Int64 = .none $duration;
  attributes @43 :List(Attribute) $pairs("attr");
  window @44 :Text;  # of a change: hours or blocked
  windowAdded @45 :Bool;
}

struct TalliesAnswer {
  tallies @0 :List(Tally);
  cursor @1 :Text;  # null: that was all
}

struct Tally {  # how many claims, whatever their quantity; a claim in parts counts with each part
  resource @0 :Text;
  day @1 :Int64 $instant;  # its begin, UTC
  holds @2 :UInt64;
  commits @3 :UInt64;
  expiries @4 :UInt64;     # on the day they were due
  releases @5 :UInt64;
  steals @6 :UInt64;       # of claims that were taken over
  cancellations @7 :UInt64;
}

struct HeadAnswer {
  ledgerId @0 :Data;
  size @1 :UInt64;  # position of the last event
  root @2 :Data;
  now @3 :Int64 $instant;  # the ledger's clock
  parentId @4 :Data;
  parentPosition @5 :Int64 = .none;
  parentRoot @6 :Data;
  projected @7 :UInt64;  # position that the projections have reached
  lag @8 :UInt64;        # positions between the two
  progressAt @9 :Int64 = .none $instant;  # when the projections last moved
  projectionError @10 :Text;  # why they stopped, with position and type
  liveClaims @11 :UInt64;
  importing @12 :Bool;
  readOnly @13 :Bool;
  clockUnsafe @14 :Bool;
  rebuilt @15 :Int64 = .none;  # position that a rebuild, while one runs, has reached
  note @16 :Text;       # the head, signed: a C2SP signed-note of a C2SP tlog-checkpoint
  publicKey @17 :Text;  # of the ledger, as C2SP signed-note writes it
}

# -- The access log

struct AccessQuery {  # newest first; with no filter: the whole log
  type @0 :Text $positional $about("records of this type or below it: query, query.history, proof, refused, dropped, started ...");
  actor @1 :Text $about("records of this actor");
  from @2 :Int64 = .none $instant $about("recorded at this instant or later");
  until @3 :Int64 = .none $instant $about("recorded before this instant");
  oldestFirst @4 :Bool $about("oldest first");
  limit @5 :UInt32 $about("at most so many");
  cursor @6 :Text $about("go on behind an earlier answer");
}

struct AccessAnswer {
  records @0 :List(AccessRecord);
  cursor @1 :Text;  # null: that was all
  note @2 :Text;    # the access log's head, signed with the ledger's key; its origin is the log's id
}

struct AccessRecord {  # fields that its type does not have are not given
  position @0 :UInt64;         # in the access log
  recordedAt @1 :Int64 $instant;
  type @2 :Text;               # query.history, refused, started ...
  actor @3 :Text;              # none: the server itself
  source @4 :Text;             # address of the connection
  ledgerPosition @5 :Int64 = .none;  # of the ledger, when it was answered
  outcome @6 :Text;            # answered, refused, failed, unanswered
  reason @7 :Text;             # of a refusal or an error
  items @8 :Int64 = .none;     # how many the answer held
  requestBytes @9 :Int64 = .none;
  request @10 :Request;        # none: too large to be kept, or not well-formed
  command @11 :Text;           # of what was refused, from here on
  resource @12 :Text;
  key @13 :Text;
  requestId @14 :Text;
  path @15 :Text;              # of what is closed, blocked or at its limit
  blocker @16 :Text;           # key of the first claim in the way
  inTheWay @17 :Int64 = .none;  # of the ledger: the last event of what stood in the way
  step @18 :Int64 = .none;     # which of a transaction's commands, from 1
  kind @19 :Text;              # of what was dropped: query, refused ...
  minute @20 :Int64 = .none $instant;
  count @21 :Int64 = .none;
  version @22 :Text;           # of a server that was started
  ledgerId @23 :Data;
  settings @24 :Text;
  subject @25 :Text;           # of a change of configuration
  detail @26 :Text;
}

# -- Operators

struct Admin {
  union {
    sweep @0 :Sweep $about("record lapsed holds now");
    rebuild @1 :Rebuild $about("rebuild the projections from the log and compare");
    confirmClock @2 :ConfirmClock $about("trust the wall clock again after a leap");
    reloadTokens @3 :ReloadTokens $about("read the server's token file again");
  }
}

struct Sweep {
  limit @0 :UInt32 = 1000 $about("at most so many");
}

struct Rebuild {}

struct ConfirmClock {}

struct ReloadTokens {}

struct SweepAnswer {
  recorded @0 :UInt64;
  left @1 :UInt64;
}

struct RebuildAnswer {
  position @0 :UInt64;             # rebuilt and live were compared at this position
  differences @1 :List(Text);      # none: equal, and the rebuilt ones are now in use
}

# -- Import

struct ImportBegin {
  file @0 :Data;  # SHA-256 of the file
}

struct ImportAnswer {
  line @0 :UInt64;  # last line already judged: go on after it
}

struct ImportLine {
  line @0 :UInt64;
  at @1 :Int64 = .none $instant $about("the command's instant, not before the previous line's");
  command @2 :Command;
}

struct ImportEnd {
  more @0 :Bool;  # another file follows: stay in import mode
}
