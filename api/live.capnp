@0xfb01f2fc5aa75971;

# The part of the wire that is about live events: what a subscription asks for, and the marks among
# its events.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("holdfast::wire");

using import "holdfast.capnp".about;
using import "holdfast.capnp".duration;
using import "holdfast.capnp".none;
using import "holdfast.capnp".positional;
using import "holdfast.capnp".word;

# Everything about a subscription comes under the id of the request that subscribed: the mark
# `begun` (or `refused`, and nothing else), then events and marks, the mark `ended` last. With
# `position` P it has been sent every event up to P that its filter lets through: to go on elsewhere
# is to subscribe from P + 1.
struct Subscription {
  union {
    subscribe @0 :Subscribe;
    unsubscribe @1 :UInt64;  # id of the request that subscribed; `done`, and `ended` soon
    heard @2 :UInt64;        # the same id: says that a heartbeat has come; not answered
  }
}

struct Subscribe {  # every filter that is given must let an event through
  resource @0 :Text $positional $about("events on this path and below (default: all)");
  fromPosition @1 :Int64 = .none $word("from") $about("first position to see (default: from now on)");
  holder @2 :Text $about("events of claims of this holder");
  type @3 :Text $about("events of this type: held, committed, closed ...");
}

struct Mark {
  union {
    begun @0 :Begun;
    caughtUp @1 :Void;   # once: all that had happened when it subscribed is sent; live from here on
    heartbeat @2 :Void;  # now and then, to be answered with `heard`
    ended @3 :SubscriptionEnd;
  }
}

struct Begun {
  heartbeat @0 :Int64 $duration;  # time between two; after three of silence the other end is gone
}

enum SubscriptionEnd {
  unsubscribed @0;
  slow @1;         # more was waiting to be sent to it than the server keeps
  stopping @2;     # the connection's end, or the server's
  unavailable @3;  # the log cannot be read
}
