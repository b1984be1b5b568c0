#include "ledger/proof/export_frames.h"

#include "ledger/domain/invariant.h"
#include "ledger/store/fixed_bytes.h"

namespace holdfast::proof {
namespace {

constexpr std::string_view kMagic = "HLFEXPT1";

}  // namespace

void append_header(const FramesHeader& header, std::string& out) {
  out += kMagic;
  store::BytesOut fields(out);
  fields.bytes(header.ledger);
  fields.number(header.from.value);
  fields.number(header.until.value);
}

void append_frame(std::string_view record, std::string& out) {
  HOLDFAST_INVARIANT(record.size() <= kMaxFrameBytes, "an event is shorter than a frame can be");
  const auto size = static_cast<std::uint32_t>(record.size());
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(size >> shift);
  out += record;
}

std::optional<FramesHeader> read_header(std::string_view bytes) {
  if (bytes.size() != kFramesHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  store::BytesIn fields(bytes.substr(kMagic.size()));
  FramesHeader header;
  header.ledger = fields.bytes<16>();
  header.from = {fields.number()};
  header.until = {fields.number()};
  return header;
}

std::optional<std::size_t> read_length(std::string_view bytes) {
  if (bytes.size() < kFrameLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = kFrameLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (length == 0 || length > kMaxFrameBytes) return std::nullopt;
  return length;
}

}  // namespace holdfast::proof
