#pragma once

#include <string>
#include <tl/expected.hpp>

#include "ledger/proof/signed_head.h"

namespace holdfast::cli {

// As it was given, or the first line of the file that was named. The error is a sentence.
tl::expected<proof::VerifierKey, std::string> read_public_key(const std::string& given);

}  // namespace holdfast::cli
