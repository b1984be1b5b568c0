@0xe2a94c7d5b1f8036;

# Proofs of what the log holds, for those who need not trust the server: docs/EVIDENCE.md. Digests
# are SHA-256, 32 bytes.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("holdfast::wire");

struct Proof {
  union {
    records @0 :Records;
    inclusion @1 :Inclusion;
    consistency @2 :Consistency;
    paths @3 :Paths;
    chain @4 :Chain;
  }
}

struct Records {  # the events as they are stored
  from @0 :UInt64;   # first position
  until @1 :UInt64;  # last position
}

struct Inclusion {
  positions @0 :List(UInt64);  # 1 to 1,000
  size @1 :UInt64;             # of the tree they are proved to be in
}

struct Chain {  # the events on a path, newest first, each naming the one before it
  path @0 :Text;
  last @1 :UInt64;  # position of the newest; nothing is answered unless it is on the path
  size @2 :UInt64;  # of the tree they are proved to be in
}

struct Consistency {
  first @0 :UInt64;  # sizes of two trees
  size @1 :UInt64;
}

struct Paths {  # a signed head with a root over the last positions of all paths
  paths @0 :List(Text);  # whose last positions are to be proved: at most 100
}

struct Record {
  position @0 :UInt64;
  bytes @1 :Data;         # ledger/event.capnp
  audit @2 :List(Data);   # of inclusion: RFC 6962, 2.1.1
}

struct SignedHead {
  note @0 :Text;
  publicKey @1 :Text;
  paths @2 :List(PathProof);  # in the order of the request
}

struct PathProof {
  path @0 :Text;
  entries @1 :List(PathEntry);  # its own; of a path without events, those it would lie between
}

struct PathEntry {
  path @0 :Text;
  last @1 :UInt64;        # position of the last event on it
  index @2 :UInt64;       # its place among all paths, in order of their bytes
  audit @3 :List(Data);
}
