#ifndef FAIRLEAD_DNS_MESSAGE_H_
#define FAIRLEAD_DNS_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Messages of DNS, read and written by glibc's resolver library (docs/adr/0018). A name in wire form consists
// of labels with their lengths and ends with the root's zero; here it is in lower case. All functions are
// pure. Source: RFC 1035, RFC 6891; miekg/dns, which pilot-agent uses, for what is refused.
namespace fairlead::dns {

inline constexpr uint16_t kTypeA = 1, kTypeAaaa = 28, kClassIn = 1;
inline constexpr size_t kLeastUdp = 512, kMostUdp = 65'507, kMostTcp = 65'535;

// A name in wire form; nothing where the text is none: a label of over 63 bytes, a name of over 255.
std::optional<std::string> WireName(std::string_view text);

struct Query {
  std::string_view name() const { return {name_bytes.data(), name_size}; }

  uint16_t id = 0, type = 0, dns_class = 0;
  std::array<char, 256> name_bytes;
  size_t name_size = 0;
  size_t question_end = 0;  // bytes of header and question
  bool edns = false;
  size_t udp_size = kLeastUdp;  // of the largest answer over UDP
};

enum class QueryKind {
  kQuery,
  kIgnored,         // an answer, or no message at all
  kFormatError,     // to be refused with kRcodeFormatError
  kNotImplemented,  // to be refused with kRcodeNotImplemented
};
inline constexpr int kRcodeFormatError = 1, kRcodeServerFailure = 2, kRcodeNotImplemented = 4;

// `query` is filled for kQuery alone.
QueryKind ReadQuery(std::string_view message, Query* query);

// An answer to a client's message, which has at least a header: its question, if there is one that can be
// read, and the error.
std::string ErrorAnswer(std::string_view message, int rcode);

// Writes an answer of the table, in which nothing is longer than `limit`: records beyond it are left out, and
// the answer is marked as truncated.
class AnswerWriter {
 public:
  // `out` is overwritten. `message` is the one that `query` was read from.
  AnswerWriter(std::string_view message, const Query& query, size_t limit, std::string* out);
  // The question's name is an alias; addresses that follow belong to `target`, in wire form.
  void Alias(std::string_view target);
  // A record of type A (4 bytes) or AAAA (16 bytes).
  void AddAddress(std::string_view bytes);
  void Finish();

 private:
  bool Fits(size_t bytes);
  void Begin(uint16_t type, size_t data_size);

  const Query& query_;
  const size_t limit_;
  std::string* const out_;
  uint16_t owner_;  // a compressed name: where the owner of addresses is
  int records_ = 0;
  bool truncated_ = false;
};

// Whether this is an answer to a query of that id and question, whole and well-formed.
bool Answers(std::string_view reply, std::string_view query, uint16_t id);
void SetId(uint16_t id, std::string* message);
// Leaves out records of an answer that is longer than `limit`, and marks it as truncated. False: it cannot be
// read.
bool Truncate(size_t limit, std::string* message);

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_MESSAGE_H_
