#include "dns/message.h"

#include <arpa/nameser.h>

#include <algorithm>
#include <cstring>

namespace fairlead::dns {
namespace {

constexpr uint32_t kTtl = 30;  // seconds, as pilot-agent: a changed table is soon seen
constexpr size_t kFixedPart = NS_RRFIXEDSZ, kOptSize = 1 + NS_RRFIXEDSZ;
constexpr uint16_t kTypeOpt = 41, kOwnUdpSize = 4096;
constexpr uint16_t kPointer = 0xc000;  // the first bits of a compressed name

// The header's flags, of its bytes 2 and 3.
constexpr uint16_t kResponse = 0x8000, kOpcodes = 0x7800, kAuthoritative = 0x0400, kTruncated = 0x0200,
                   kRecursionDesired = 0x0100, kCheckingDisabled = 0x0010;
constexpr int kOpcodeQuery = 0, kOpcodeNotify = 4;
constexpr size_t kFlagsAt = 2, kCountsAt = 4;

const u_char* Bytes(std::string_view text) { return reinterpret_cast<const u_char*>(text.data()); }

uint16_t Get16(std::string_view message, size_t at) {
  return static_cast<uint16_t>(ns_get16(Bytes(message) + at));
}

void Set16(uint16_t value, size_t at, std::string* message) {
  ns_put16(value, reinterpret_cast<u_char*>(message->data()) + at);
}

void Append16(uint16_t value, std::string* out) {
  out->append(2, '\0');
  Set16(value, out->size() - 2, out);
}

void Append32(uint32_t value, std::string* out) {
  out->append(4, '\0');
  ns_put32(value, reinterpret_cast<u_char*>(out->data()) + out->size() - 4);
}

void Lower(std::span<char> name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
}

bool Parse(std::string_view message, ns_msg* handle) {
  return message.size() <= kMostTcp &&
         ns_initparse(Bytes(message), static_cast<int>(message.size()), handle) == 0;
}

// The question of a message that has one, as Parse found. False: its name is longer than names may be, or is
// compressed, though nothing comes before it.
bool ReadQuestion(std::string_view message, Query* query) {
  auto* name = reinterpret_cast<u_char*>(query->name_bytes.data());
  const int taken = ns_name_unpack(Bytes(message), Bytes(message) + message.size(),
                                   Bytes(message) + NS_HFIXEDSZ, name, query->name_bytes.size());
  if (taken < 0) return false;
  // Labels end with the root's zero.
  size_t size = 0;
  while (name[size] != 0) size += 1 + name[size];
  query->name_size = size + 1;
  if (query->name_size != static_cast<size_t>(taken)) return false;
  // A label's length is under 64, no letter.
  Lower({query->name_bytes.data(), query->name_size});
  const size_t end = NS_HFIXEDSZ + static_cast<size_t>(taken);
  query->type = Get16(message, end);
  query->dns_class = Get16(message, end + 2);
  query->question_end = end + NS_QFIXEDSZ;
  return true;
}

// False: a record cannot be read.
bool ReadEdns(ns_msg* handle, Query* query) {
  for (int i = 0; i < ns_msg_count(*handle, ns_s_ar); ++i) {
    ns_rr record;
    if (ns_parserr(handle, ns_s_ar, i, &record) != 0) return false;
    if (ns_rr_type(record) != kTypeOpt) continue;
    query->edns = true;
    query->udp_size = std::clamp<size_t>(ns_rr_class(record), kLeastUdp, kMostUdp);
  }
  return true;
}

// What an answer has of its query's flags.
uint16_t AnswerFlags(std::string_view message) {
  return kResponse | (Get16(message, kFlagsAt) & (kOpcodes | kRecursionDesired | kCheckingDisabled));
}

}  // namespace

std::optional<std::string> WireName(std::string_view text) {
  std::array<u_char, NS_MAXCDNAME + 1> bytes;
  const std::string terminated(text);
  if (terminated.find('\0') != std::string::npos) return std::nullopt;
  if (ns_name_pton(terminated.c_str(), bytes.data(), bytes.size()) < 0) return std::nullopt;
  size_t size = 0;
  while (bytes[size] != 0) size += 1 + bytes[size];
  std::string name(reinterpret_cast<const char*>(bytes.data()), size + 1);
  Lower(name);
  return name;
}

QueryKind ReadQuery(std::string_view message, Query* query) {
  if (message.size() < NS_HFIXEDSZ) return QueryKind::kIgnored;
  const uint16_t flags = Get16(message, kFlagsAt);
  if (flags & kResponse) return QueryKind::kIgnored;
  const int opcode = (flags & kOpcodes) >> 11;
  if (opcode != kOpcodeQuery && opcode != kOpcodeNotify) return QueryKind::kNotImplemented;
  ns_msg handle;
  if (!Parse(message, &handle)) return QueryKind::kFormatError;
  // A notification has a record as answer, a transfer one as authority; a signature is a second additional
  // one.
  if (ns_msg_count(handle, ns_s_qd) != 1 || ns_msg_count(handle, ns_s_an) > 1 ||
      ns_msg_count(handle, ns_s_ns) > 1 || ns_msg_count(handle, ns_s_ar) > 2)
    return QueryKind::kFormatError;
  query->id = ns_msg_id(handle);
  query->edns = false;
  query->udp_size = kLeastUdp;
  return ReadQuestion(message, query) && ReadEdns(&handle, query) ? QueryKind::kQuery
                                                                  : QueryKind::kFormatError;
}

std::string ErrorAnswer(std::string_view message, int rcode) {
  Query query;
  ns_msg handle;
  const bool has_question =
      Parse(message, &handle) && ns_msg_count(handle, ns_s_qd) == 1 && ReadQuestion(message, &query);
  std::string answer(message.substr(0, has_question ? query.question_end : size_t{NS_HFIXEDSZ}));
  Set16(static_cast<uint16_t>(AnswerFlags(message) | rcode), kFlagsAt, &answer);
  std::fill(answer.begin() + kCountsAt, answer.begin() + NS_HFIXEDSZ, '\0');
  Set16(has_question ? 1 : 0, kCountsAt, &answer);
  return answer;
}

AnswerWriter::AnswerWriter(std::string_view message, const Query& query, size_t limit, std::string* out)
    : query_(query), limit_(limit - (query.edns ? kOptSize : 0)), out_(out), owner_(kPointer | NS_HFIXEDSZ) {
  out_->assign(message.substr(0, query.question_end));
  Set16(AnswerFlags(message) | kAuthoritative, kFlagsAt, out_);
}

bool AnswerWriter::Fits(size_t bytes) {
  truncated_ = truncated_ || out_->size() + bytes > limit_;
  return !truncated_;
}

void AnswerWriter::Begin(uint16_t type, size_t data_size) {
  Append16(owner_, out_);
  Append16(type, out_);
  Append16(kClassIn, out_);
  Append32(kTtl, out_);
  Append16(static_cast<uint16_t>(data_size), out_);
  ++records_;
}

void AnswerWriter::Alias(std::string_view target) {
  if (!Fits(2 + kFixedPart + target.size())) return;
  Begin(ns_t_cname, 0);
  const size_t at = out_->size();
  out_->resize(at + target.size());
  auto* const start = reinterpret_cast<u_char*>(out_->data());
  // The question's name is the one that parts of the target may be in already.
  std::array<const u_char*, 4> names = {start, start + NS_HFIXEDSZ, nullptr, nullptr};
  const int size = ns_name_pack(Bytes(target), start + at, static_cast<int>(target.size()), names.data(),
                                names.data() + names.size());
  out_->resize(at + static_cast<size_t>(std::max(size, 0)));
  Set16(static_cast<uint16_t>(out_->size() - at), at - 2, out_);
  owner_ = static_cast<uint16_t>(kPointer | at);
}

void AnswerWriter::AddAddress(std::string_view bytes) {
  if (!Fits(2 + kFixedPart + bytes.size())) return;
  Begin(bytes.size() == 4 ? kTypeA : kTypeAaaa, bytes.size());
  out_->append(bytes);
}

void AnswerWriter::Finish() {
  if (query_.edns) {
    out_->push_back('\0');  // the root
    Append16(kTypeOpt, out_);
    Append16(kOwnUdpSize, out_);
    Append32(0, out_);
    Append16(0, out_);
  }
  if (truncated_) Set16(Get16(*out_, kFlagsAt) | kTruncated, kFlagsAt, out_);
  Set16(1, kCountsAt, out_);
  Set16(static_cast<uint16_t>(records_), kCountsAt + 2, out_);
  Set16(0, kCountsAt + 4, out_);
  Set16(query_.edns ? 1 : 0, kCountsAt + 6, out_);
}

bool Answers(std::string_view reply, std::string_view query, uint16_t id) {
  ns_msg handle;
  if (!Parse(reply, &handle) || ns_msg_id(handle) != id || !ns_msg_getflag(handle, ns_f_qr)) return false;
  // A server that cannot read the question may refuse it without one.
  if (ns_msg_count(handle, ns_s_qd) == 0) return ns_msg_getflag(handle, ns_f_rcode) != 0;
  Query asked, answered;
  return ns_msg_count(handle, ns_s_qd) == 1 && ReadQuestion(query, &asked) &&
         ReadQuestion(reply, &answered) && asked.name() == answered.name() && asked.type == answered.type &&
         asked.dns_class == answered.dns_class;
}

void SetId(uint16_t id, std::string* message) { Set16(id, 0, message); }

bool Truncate(size_t limit, std::string* message) {
  if (message->size() <= limit) return true;
  ns_msg handle;
  if (!Parse(*message, &handle)) return false;
  // The OPT record has no compressed name: it may stand anywhere.
  std::string opt;
  std::array<uint16_t, 2> counts{};
  size_t end = NS_HFIXEDSZ;
  Query query;
  if (ns_msg_count(handle, ns_s_qd) > 0) {
    if (ns_msg_count(handle, ns_s_qd) > 1 || !ReadQuestion(*message, &query)) return false;
    end = query.question_end;
  }
  const auto end_of = [&](const ns_rr& record) {
    return static_cast<size_t>(ns_rr_rdata(record) + ns_rr_rdlen(record) - Bytes(*message));
  };
  for (int i = 0; i < ns_msg_count(handle, ns_s_ar); ++i) {
    ns_rr record;
    if (ns_parserr(&handle, ns_s_ar, i, &record) != 0) return false;
    const size_t size = kOptSize + ns_rr_rdlen(record), begin = end_of(record) - size;
    if (ns_rr_type(record) == kTypeOpt && opt.empty() && (*message)[begin] == '\0' && end + size <= limit)
      opt = message->substr(begin, size);
  }
  bool fits = true;
  for (size_t section = 0; section < 2 && fits; ++section) {
    const auto which = section == 0 ? ns_s_an : ns_s_ns;
    for (int i = 0; i < ns_msg_count(handle, which) && fits; ++i) {
      ns_rr record;
      if (ns_parserr(&handle, which, i, &record) != 0) return false;
      fits = end_of(record) + opt.size() <= limit;
      if (!fits) break;
      end = end_of(record);
      ++counts[section];
    }
  }
  message->resize(end);
  message->append(opt);
  Set16(Get16(*message, kFlagsAt) | kTruncated, kFlagsAt, message);
  Set16(counts[0], kCountsAt + 2, message);
  Set16(counts[1], kCountsAt + 4, message);
  Set16(opt.empty() ? 0 : 1, kCountsAt + 6, message);
  return true;
}

}  // namespace fairlead::dns
