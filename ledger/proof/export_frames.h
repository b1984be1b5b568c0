#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/domain/ids.h"
#include "ledger/store/ledger_id.h"

// Stored bytes of events as a file: a header that names the ledger and the range, then each
// record behind its length. docs/EXPORT.md has the bytes.
namespace holdfast::proof {

inline constexpr std::size_t kFramesHeaderBytes = 40;
inline constexpr std::size_t kFrameLengthBytes = 4;
// Longer than any event.
inline constexpr std::size_t kMaxFrameBytes = 1 << 20;

struct FramesHeader {
  store::LedgerId ledger{};
  Position from;
  Position until;
  bool operator==(const FramesHeader&) const = default;
};

void append_header(const FramesHeader& header, std::string& out);
// Requires at most kMaxFrameBytes.
void append_frame(std::string_view record, std::string& out);

// Nothing where the bytes, kFramesHeaderBytes of them, are none.
std::optional<FramesHeader> read_header(std::string_view bytes);
// The length in the first kFrameLengthBytes; nothing where no record has it.
std::optional<std::size_t> read_length(std::string_view bytes);

}  // namespace holdfast::proof
