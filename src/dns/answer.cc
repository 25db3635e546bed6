#include "dns/answer.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace fairlead::dns {
namespace {

// No answer has more addresses: the largest one, over TCP, holds fewer.
constexpr size_t kMostAddresses = 4096;

// Each address once, in random order, as clients take the first one.
void WriteAddresses(std::string_view all, size_t size, Dice* dice, AnswerWriter* writer) {
  const auto count = static_cast<uint32_t>(std::min(all.size() / size, kMostAddresses));
  if (count == 1) return writer->AddAddress(all);
  // Kept between answers, for its memory.
  thread_local std::vector<uint32_t> order;
  order.resize(count);
  std::iota(order.begin(), order.end(), 0);
  for (uint32_t left = count; left > 0; --left) {
    std::swap(order[left - 1], order[dice->Roll(left)]);
    writer->AddAddress(all.substr(size * order[left - 1], size));
  }
}

}  // namespace

uint32_t Dice::Roll(uint32_t below) {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  const uint64_t number = (state_ * 0x2545f4914f6cdd1d) >> 32;
  return static_cast<uint32_t>(number * below >> 32);
}

size_t LimitOf(DnsTransport transport, const Query& query) {
  return transport == DnsTransport::kTcp ? kMostTcp : query.udp_size;
}

TableAnswer AnswerFromTable(std::string_view message, const NameTable* table, bool forwards_all,
                            DnsTransport transport, Dice* dice, Query* query, std::string* out) {
  switch (ReadQuery(message, query)) {
    case QueryKind::kIgnored:
      return TableAnswer::kIgnored;
    case QueryKind::kFormatError:
      *out = ErrorAnswer(message.substr(0, 12), kRcodeFormatError);
      return TableAnswer::kAnswered;
    case QueryKind::kNotImplemented:
      *out = ErrorAnswer(message.substr(0, 12), kRcodeNotImplemented);
      return TableAnswer::kAnswered;
    case QueryKind::kQuery:
      break;
  }
  if (table == nullptr) {
    if (forwards_all) return TableAnswer::kForward;
    *out = ErrorAnswer(message, kRcodeServerFailure);
    return TableAnswer::kAnswered;
  }
  const bool v4 = query->type == kTypeA;
  NameTable::Found found;
  if ((!v4 && query->type != kTypeAaaa) || query->dns_class != kClassIn ||
      !table->Find(query->name(), &found))
    return TableAnswer::kForward;
  AnswerWriter writer(message, *query, LimitOf(transport, *query), out);
  const std::string_view addresses = v4 ? found.v4 : found.v6;
  if (!addresses.empty()) {
    if (!found.target.empty()) writer.Alias(found.target);
    WriteAddresses(addresses, v4 ? 4 : 16, dice, &writer);
  }
  writer.Finish();
  return TableAnswer::kAnswered;
}

}  // namespace fairlead::dns
