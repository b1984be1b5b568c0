#pragma once

#include <capnp/list.h>
#include <algorithm>
#include <string_view>

#include "ledger/proof/path_proof.h"

// Records and digests of an answer.
namespace holdfast::cli {

inline std::string_view view(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

// What is no digest proves nothing.
inline proof::MerklePath path_of(capnp::List<capnp::Data>::Reader list) {
  proof::MerklePath path;
  for (const auto data : list) {
    Digest digest{};
    std::copy_n(data.begin(), std::min(data.size(), digest.size()),
                reinterpret_cast<kj::byte*>(digest.data()));
    path.push_back(digest);
  }
  return path;
}

}  // namespace holdfast::cli
