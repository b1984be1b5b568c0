#include "ledger/store/sha256.h"

#include <openssl/evp.h>
#include <memory>

#include "ledger/domain/invariant.h"

namespace holdfast::store {
namespace {

struct FreeAlgorithm {
  void operator()(EVP_MD* md) const { EVP_MD_free(md); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Fetched once and a context a thread: EVP_sha256() looks the algorithm up anew at every init,
// which costs more than hashing an event.
const EVP_MD* algorithm() {
  static const std::unique_ptr<EVP_MD, FreeAlgorithm> kSha256(
      EVP_MD_fetch(nullptr, "SHA256", nullptr));
  return kSha256.get();
}

}  // namespace

Digest sha256(std::span<const std::string_view> pieces) {
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> kContext(EVP_MD_CTX_new());
  const auto require = [](bool done) { HOLDFAST_INVARIANT(done, "OpenSSL computes SHA-256"); };
  require(kContext && EVP_DigestInit_ex2(kContext.get(), algorithm(), nullptr) == 1);
  for (const std::string_view piece : pieces) {
    require(EVP_DigestUpdate(kContext.get(), piece.data(), piece.size()) == 1);
  }
  Digest digest;
  auto* out = reinterpret_cast<unsigned char*>(digest.data());
  require(EVP_DigestFinal_ex(kContext.get(), out, nullptr) == 1);
  return digest;
}

}  // namespace holdfast::store
