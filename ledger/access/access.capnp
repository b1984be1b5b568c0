@0xd1b7f0a35ce84962;
# One record of the access log, as it is stored: one message, canonical form, no segment table.
# Numbers are never reused and fields never change their type: stored bytes are never rewritten.
# ledger/store/FORMAT.md has the bytes; tests/golden/access keeps an example of every type.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("holdfast::access::wire");

struct Record {
  position @0 :UInt64;            # in the access log
  recordedAt @1 :Int64;           # Unix milliseconds, UTC, as every instant here
  ledgerPosition @2 :UInt64;      # of the ledger, when it was answered; 0: not said
  actor @3 :Text;                 # absent: the server itself
  source @4 :Text;                # address of the connection

  what :union {
    asked :group {
      kind @5 :Text;              # query.history: its member of the request, then of that
      outcome @6 :Outcome;
      reason @7 :Text;            # of a refusal or an error, by name
      items @8 :Int64 = -1;       # how many the answer's list held; -1: it has none
      requestBytes @9 :UInt32;
      request @10 :Data;          # api/holdfast.capnp Request, canonical; absent: too large
    }
    refused :group {              # a command
      command @11 :Text;          # hold
      resource @12 :Text;
      key @13 :Text;
      requestId @14 :Text;
      reason @15 :Text;
      path @16 :Text;             # of what is closed, blocked or at its limit
      blocker @17 :Text;          # key of the first claim in the way
      inTheWay @18 :UInt64;       # of the ledger: the last event of what stood in the way; 0: unknown
      step @19 :UInt32;           # which of a transaction's commands, from 1; 0: no transaction
    }
    dropped :group {              # records that were one too many in a minute
      kind @20 :Text;             # query: the first part of theirs
      minute @21 :Int64;          # its begin
      count @22 :UInt64;
    }
    started :group {
      version @23 :Text;
      ledgerId @24 :Data;
      settings @25 :Text;
    }
    stopped @26 :Void;
    configurationChanged :group {
      subject @27 :Text;          # tokens
      detail @28 :Text;
    }
  }
}

enum Outcome {
  answered @0;
  refused @1;
  failed @2;
  unanswered @3;                  # malformed, or the connection was gone before
}
