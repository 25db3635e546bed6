#ifndef FAIRLEAD_DNS_ANSWER_H_
#define FAIRLEAD_DNS_ANSWER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "dns/message.h"
#include "dns/name_table.h"

namespace fairlead::dns {

// A small source of numbers for the order of addresses; not for secrets (xorshift64*). One thread at a time.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed | 1) {}
  // From 0 to `below` - 1.
  uint32_t Roll(uint32_t below);

 private:
  uint64_t state_;
};

enum class DnsTransport { kUdp, kTcp };

enum class TableAnswer {
  kIgnored,   // no answer at all
  kAnswered,  // by the table, or with an error
  kForward,   // the table does not decide: a resolver does
};

// The table's answer to a client's message, in `out`. `table`: null, as long as none has come; then every
// name is forwarded, or refused, by `forwards_all`. A known name without an address of the asked family has
// an empty answer; types besides A and AAAA are forwarded. `query` is filled unless the outcome is kIgnored
// or an error. Addresses have another order each time. Source: pilot-agent.
TableAnswer AnswerFromTable(std::string_view message, const NameTable* table, bool forwards_all,
                            DnsTransport transport, Dice* dice, Query* query, std::string* out);

// Bytes of the longest answer.
size_t LimitOf(DnsTransport transport, const Query& query);

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_ANSWER_H_
