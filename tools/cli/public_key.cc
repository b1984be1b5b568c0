#include "tools/cli/public_key.h"

#include <fstream>

namespace holdfast::cli {

tl::expected<proof::VerifierKey, std::string> read_public_key(const std::string& given) {
  if (const auto key = proof::parse_verifier_key(given)) return *key;
  std::ifstream file(given, std::ios::binary);
  std::string line;
  if (!std::getline(file, line)) {
    return tl::unexpected("'" + given +
                          "' is neither a public key, as `holdfast head` prints it, nor a file");
  }
  const auto key = proof::parse_verifier_key(line);
  if (!key) return tl::unexpected(given + " does not begin with a public key");
  return *key;
}

}  // namespace holdfast::cli
