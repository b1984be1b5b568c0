@0xb8a3d7c1438c036d;
# One event of the log, as it is stored: one message, canonical form, no segment table.
# Numbers are never reused and fields never change their type: stored bytes are never rewritten.
# ledger/store/FORMAT.md has the bytes; tests/golden keeps an example of every type.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("holdfast::store::wire");

struct Event {
  position @0 :UInt64;
  recordedAt @1 :Int64;                 # Unix milliseconds, UTC, as every instant here
  previousOnResource @2 :UInt64;        # 0: none
  previousOfClaim @3 :UInt64;           # 0: none
  transactionIndex @4 :UInt32;          # position less the first position of its transaction
  transactionCount @5 :UInt32;          # events in the transaction

  hasContent @6 :Bool;
  hasAvailable @7 :Bool;
  available @8 :Int64;                  # free units its command's answer gave

  content :group {                      # SHA-256 of the command's content, in order of its bytes
    a @9 :UInt64;
    b @10 :UInt64;
    c @11 :UInt64;
    d @12 :UInt64;
  }

  resource @13 :Text;
  key @14 :Text;                        # absent: an event of the resource itself
  actor @15 :Text;
  requestId @16 :Text;

  personal :union {                     # about persons, and nothing outside it is
    plain :group {
      holder @17 :Text;
      source @18 :Text;
      label @19 :Text;
      cart @20 :Text;
      reason @21 :Text;
      onBehalfOf @22 :Text;
    }
    sealed @23 :Data;                   # the same, encrypted
  }

  correlationId @24 :Text;

  step @49 :UInt16;                     # which of a transaction's commands, from 0

  happening :union {
    defined :group {
      definition @25 :Definition;
    }
    changed :group {
      definition @26 :Definition;       # whole, as it is after the change
      hasWindow @50 :Bool;              # or of hours or blocks: one span, added or removed
      windowBlocked @51 :Bool;          # else of the hours
      windowAdded @52 :Bool;            # else removed
      windowFrom @53 :Int64;
      windowUntil @54 :Int64;
    }
    closed @27 :Void;
    opened @28 :Void;
    retired :group {
      forced @29 :Bool;
    }
    held :group {
      hasSpan @30 :Bool;
      hasCapacity @31 :Bool;
      clamped @32 :Bool;
      quantity @33 :UInt32;
      capacity @34 :UInt32;             # vouched for by the caller
      expiresAt @35 :Int64;
      from @36 :Int64;
      until @37 :Int64;
      stolenFrom @38 :Text;
      bound @55 :Bool;                  # to its connection
    }
    extended :group {
      clamped @39 :Bool;
      expiresAt @40 :Int64;
    }
    released :group {
      quantity @41 :UInt32;             # let go by this event
      remaining @42 :UInt32;            # 0: the claim has ended
    }
    committed :group {
      quantity @43 :UInt32;
      letGo @44 :UInt32;
    }
    cancelled :group {
      quantity @45 :UInt32;
      remaining @46 :UInt32;
    }
    stolen :group {
      by @47 :Text;
    }
    expired :group {
      due @48 :Int64;
    }
    moved :group {
      hasSpan @56 :Bool;
      from @57 :Int64;
      until @58 :Int64;
      previousOnTo @59 :UInt64;         # previous event on the resource moved to; 0: none
      to @60 :Text;                     # absent: the claim stays on its resource
    }
  }
}

struct Definition {
  capacity @0 :UInt32;
  hasMaxTtl @1 :Bool;
  hasDefaultTtl @2 :Bool;
  turnaround @3 :Int64;                 # milliseconds
  maxTtl @4 :Int64;                     # milliseconds
  defaultTtl @5 :Int64;                 # milliseconds
  parts @6 :Bool;
  hasHolderLimit @7 :Bool;
  hasExtensionLimit @8 :Bool;
  hasMaxHoldTime @9 :Bool;
  holderLimit @10 :UInt32;
  extensionLimit @11 :UInt32;
  maxHoldTime @12 :Int64;               # milliseconds
  attributes @13 :List(Attribute);      # in order of their names
}

struct Attribute {
  name @0 :Text;
  value @1 :Text;
}
