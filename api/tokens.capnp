@0xd8a3f06b1c7e4952;

# A line of the token file, in JSON: docs/TOKENS.md.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("holdfast::wire");

struct TokenLine {
  sha256 @0 :Data;        # of the token
  actor @1 :Text;
  role @2 :Role;
  paths @3 :List(Text);   # of an app: what it sees and acts on lies at and below these
  allPaths @4 :Bool;      # instead of paths
}

enum Role {
  none @0;
  app @1;
  auditor @2;
  operator @3;
}
