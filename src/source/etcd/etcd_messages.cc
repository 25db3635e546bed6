#include "source/etcd/etcd_messages.h"

#include "proto/field_reader.h"
#include "proto/wire.h"

namespace fairlead::source {
namespace {

using proto::FieldReader;

// Zero is left out, as proto3 does.
void AppendNumber(int field, int64_t value, std::string* out) {
  if (value == 0) return;
  proto::AppendVarint(static_cast<uint64_t>(field) << 3, out);
  proto::AppendVarint(static_cast<uint64_t>(value), out);
}

void AppendText(int field, std::string_view value, std::string* out) {
  if (!value.empty()) proto::AppendField(field, value, out);
}

int64_t Signed(const FieldReader& reader) { return static_cast<int64_t>(reader.varint()); }

int64_t RevisionOf(std::string_view header) {
  FieldReader reader(header);
  int64_t revision = 0;
  while (reader.Next()) {
    if (reader.number() == 3) revision = Signed(reader);
  }
  return revision;
}

bool DecodeKey(std::string_view bytes, EtcdKey* key) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == 1) key->key = reader.bytes();
    if (reader.number() == 2) key->create_revision = Signed(reader);
    if (reader.number() == 3) key->mod_revision = Signed(reader);
    if (reader.number() == 4) key->version = Signed(reader);
    if (reader.number() == 5) key->value = reader.bytes();
    if (reader.number() == 6) key->lease = Signed(reader);
  }
  return reader.ok();
}

bool DecodeEvent(std::string_view bytes, EtcdNews::Event* event) {
  FieldReader reader(bytes);
  bool good = true;
  while (reader.Next()) {
    if (reader.number() == 1) event->deleted = reader.varint() == 1;
    if (reader.number() == 2) good = good && DecodeKey(reader.bytes(), &event->key);
  }
  return good && reader.ok();
}

// RequestOp and Compare.
std::string EncodeWrite(const EtcdWrite& write) {
  std::string request, operation;
  AppendText(1, write.key, &request);
  if (write.value) {
    AppendText(2, *write.value, &request);
    AppendNumber(3, write.lease, &request);
  }
  proto::AppendField(write.value ? 2 : 3, request, &operation);
  return operation;
}

std::string EncodeCompare(const EtcdWrite& write) {
  constexpr int64_t kMod = 2;
  std::string compare;
  AppendNumber(2, kMod, &compare);
  AppendText(3, write.key, &compare);
  // Of a oneof zero is written, too.
  proto::AppendVarint(6 << 3, &compare);
  proto::AppendVarint(static_cast<uint64_t>(*write.expected), &compare);
  return compare;
}

}  // namespace

std::string Encode(const EtcdRangeRequest& request) {
  std::string out;
  AppendText(1, request.key, &out);
  AppendText(2, request.range_end, &out);
  AppendNumber(3, request.limit, &out);
  AppendNumber(4, request.revision, &out);
  return out;
}

std::optional<EtcdRange> DecodeRange(std::string_view bytes) {
  EtcdRange range;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == 1) range.revision = RevisionOf(reader.bytes());
    if (reader.number() == 2 && !DecodeKey(reader.bytes(), &range.keys.emplace_back())) return std::nullopt;
    if (reader.number() == 3) range.more = reader.varint() != 0;
  }
  if (!reader.ok()) return std::nullopt;
  return range;
}

std::string EncodeWrites(const std::vector<EtcdWrite>& writes) {
  std::string out;
  for (const EtcdWrite& write : writes) {
    if (write.expected) proto::AppendField(1, EncodeCompare(write), &out);
  }
  for (const EtcdWrite& write : writes) {
    if (!write.only_checked) proto::AppendField(2, EncodeWrite(write), &out);
  }
  for (const EtcdWrite& write : writes) {
    if (!write.expected) continue;
    std::string operation;
    proto::AppendField(1, Encode(EtcdRangeRequest{write.key}), &operation);
    proto::AppendField(3, operation, &out);
  }
  return out;
}

std::optional<EtcdOutcome> DecodeOutcome(std::string_view bytes) {
  EtcdOutcome outcome;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == 1) outcome.revision = RevisionOf(reader.bytes());
    if (reader.number() == 2) outcome.succeeded = reader.varint() != 0;
    if (reader.number() != 3) continue;
    FieldReader response(reader.bytes());
    while (response.Next()) {
      if (response.number() != 1) continue;
      auto range = DecodeRange(response.bytes());
      if (!range) return std::nullopt;
      for (EtcdKey& key : range->keys) outcome.keys.push_back(std::move(key));
    }
    if (!response.ok()) return std::nullopt;
  }
  if (!reader.ok()) return std::nullopt;
  return outcome;
}

std::string Encode(const EtcdWatchRequest& request) {
  std::string create, out;
  AppendText(1, request.key, &create);
  AppendText(2, request.range_end, &create);
  AppendNumber(3, request.start_revision, &create);
  proto::AppendBool(4, true, &create);  // progress_notify
  proto::AppendBool(8, true, &create);  // fragment
  proto::AppendField(1, create, &out);
  return out;
}

std::string EncodeProgressRequest() {
  std::string out;
  proto::AppendField(3, "", &out);
  return out;
}

std::optional<EtcdNews> DecodeNews(std::string_view bytes) {
  EtcdNews news;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == 1) news.revision = RevisionOf(reader.bytes());
    if (reader.number() == 3) news.created = reader.varint() != 0;
    if (reader.number() == 4) news.canceled = reader.varint() != 0;
    if (reader.number() == 5) news.compact_revision = Signed(reader);
    if (reader.number() == 6) news.cancel_reason = reader.bytes();
    if (reader.number() == 7) news.fragment = reader.varint() != 0;
    if (reader.number() == 11 && !DecodeEvent(reader.bytes(), &news.events.emplace_back()))
      return std::nullopt;
  }
  if (!reader.ok()) return std::nullopt;
  return news;
}

std::string EncodeLogin(std::string_view user, std::string_view password) {
  std::string out;
  AppendText(1, user, &out);
  AppendText(2, password, &out);
  return out;
}

std::optional<std::string> DecodeToken(std::string_view bytes) {
  std::string token;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == 2) token = reader.bytes();
  }
  if (!reader.ok() || token.empty()) return std::nullopt;
  return token;
}

std::string EncodeCompaction(int64_t revision) {
  std::string out;
  AppendNumber(1, revision, &out);
  return out;
}

std::string EncodeLease(int64_t seconds, int64_t id) {
  std::string out;
  AppendNumber(1, seconds, &out);
  AppendNumber(2, id, &out);
  return out;
}

std::string EncodeLeaseId(int64_t id) {
  std::string out;
  AppendNumber(1, id, &out);
  return out;
}

std::optional<EtcdLeaseAnswer> DecodeLease(std::string_view bytes) {
  EtcdLeaseAnswer answer;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == 2) answer.id = Signed(reader);
    if (reader.number() == 3) answer.seconds = Signed(reader);
    if (reader.number() == 4) answer.error = reader.bytes();
  }
  if (!reader.ok()) return std::nullopt;
  return answer;
}

std::string EndOfPrefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return std::string(1, '\0');  // all keys from there on
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

}  // namespace fairlead::source
