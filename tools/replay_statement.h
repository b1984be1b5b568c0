#pragma once

#include <string>
#include <tl/expected.hpp>

#include "ledger/proof/log_audit.h"
#include "ledger/store/log.h"

// Statements: what a replay of a log comes to, signed, so that another can repeat it on a copy.
namespace holdfast::tools {

// Exit codes of holdfast-replay.
inline constexpr int kEqual = 0;
inline constexpr int kDifferent = 1;
inline constexpr int kFailed = 2;

// Prints why on standard error; gives the code.
int failed(int code, const std::string& what);
int print_flaw(const proof::LogFlaw& flaw);

// The whole log of the folder against its hashes, and against heads that others have stated.
tl::expected<proof::Audited, proof::LogFlaw> audit(const std::string& data,
                                                   std::span<const proof::Head> stated);

// Writes a statement of the log as it is, once it was found to be whole.
int make_statement(const std::string& data, const store::Log& log, const std::string& file);

// Repeats a statement on this log, which may have grown since, and prints what differs. The log is
// the stated ledger's own, or one loaded from it.
int check_statement(const std::string& data, const store::Log& log, const std::string& file,
                    const std::string& public_key);

}  // namespace holdfast::tools
