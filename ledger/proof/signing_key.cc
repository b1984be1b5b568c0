#include "ledger/proof/signing_key.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "ledger/domain/invariant.h"

namespace holdfast::proof {

using store::fail;
using store::StorageError;

namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void require(bool done) { HOLDFAST_INVARIANT(done, "OpenSSL knows Ed25519"); }

unsigned char* raw(void* bytes) { return static_cast<unsigned char*>(bytes); }
const unsigned char* raw(const void* bytes) { return static_cast<const unsigned char*>(bytes); }

std::string to_pem(EVP_PKEY* key) {
  const Owned<BIO> memory(BIO_new(BIO_s_mem()));
  require(memory &&
          PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

// A file descriptor that closes itself.
class File {
 public:
  File(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool write(std::string_view text) const {
    return ::write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  bool sync() const { return ::fsync(descriptor_) == 0; }

 private:
  int descriptor_;
};

// Aside and renamed: a key is there whole or not at all.
tl::expected<void, StorageError> keep(const std::string& path, const std::string& pem) {
  const std::string aside = path + ".new";
  ::unlink(aside.c_str());
  {
    const File file(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
    if (!file.is_open() || !file.write(pem) || !file.sync()) {
      return fail("cannot write " + aside + ": " + std::strerror(errno));
    }
  }
  if (::rename(aside.c_str(), path.c_str()) != 0) {
    return fail("cannot rename " + aside + ": " + std::strerror(errno));
  }
  const File folder(std::filesystem::path(path).parent_path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!folder.is_open() || !folder.sync()) {
    return fail("cannot sync the folder of " + path + ": " + std::strerror(errno));
  }
  return {};
}

}  // namespace

struct SigningKey::Key {
  Owned<EVP_PKEY> pkey;
};

SigningKey::SigningKey(std::unique_ptr<Key> key) : key_(std::move(key)) {
  std::size_t size = public_key_.size();
  require(EVP_PKEY_get_raw_public_key(key_->pkey.get(), raw(public_key_.data()), &size) == 1);
}
SigningKey::SigningKey(SigningKey&&) noexcept = default;
SigningKey& SigningKey::operator=(SigningKey&&) noexcept = default;
SigningKey::~SigningKey() = default;

SigningKey SigningKey::generate() {
  auto key =
      std::make_unique<Key>(Key{Owned<EVP_PKEY>(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))});
  require(key->pkey != nullptr);
  return SigningKey(std::move(key));
}

tl::expected<SigningKey, StorageError> SigningKey::open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (error) return fail("cannot look for " + path + ": " + error.message());
    SigningKey fresh = generate();
    if (auto kept = keep(path, to_pem(fresh.key_->pkey.get())); !kept) {
      return tl::unexpected(kept.error());
    }
    return fresh;
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return fail("cannot read " + path);
  const std::string pem = text.str();
  const Owned<BIO> memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  auto key = std::make_unique<Key>(
      Key{Owned<EVP_PKEY>(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr))});
  if (!key->pkey || EVP_PKEY_get_id(key->pkey.get()) != EVP_PKEY_ED25519) {
    return fail(
        path +
        " is not an Ed25519 key in PEM. Restore it from a backup; without it, move it away: "
        "heads are then signed with a new key, which nobody trusts yet");
  }
  return SigningKey(std::move(key));
}

Signature SigningKey::sign(std::string_view text) const {
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  Signature signature;
  std::size_t size = signature.size();
  require(context &&
          EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_->pkey.get()) == 1 &&
          EVP_DigestSign(context.get(), raw(signature.data()), &size, raw(text.data()),
                         text.size()) == 1);
  return signature;
}

bool is_signed(std::string_view text, const Signature& signature, const PublicKey& key) {
  const Owned<EVP_PKEY> pkey(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(key.data()), key.size()));
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  return pkey && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) == 1 &&
         EVP_DigestVerify(context.get(), raw(signature.data()), signature.size(), raw(text.data()),
                          text.size()) == 1;
}

}  // namespace holdfast::proof
