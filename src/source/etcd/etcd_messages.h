#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_MESSAGES_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// As much of etcd's API v3 as the source and the commands speak, in protobuf's wire format: requests are
// encoded, answers decoded. Pure. Unknown fields are passed over; malformed bytes give nothing. Source:
// etcd.io/docs/v3.5/dev-guide/api_reference_v3
namespace fairlead::source {

struct EtcdKey {
  std::string key, value;
  int64_t create_revision = 0, mod_revision = 0, version = 0, lease = 0;
};

// KV.Range. `range_end`: "" for the key alone. `revision`: 0 for now. `limit`: 0 for all.
struct EtcdRangeRequest {
  std::string key, range_end = {};
  int64_t limit = 0, revision = 0;
};
std::string Encode(const EtcdRangeRequest& request);

struct EtcdRange {
  int64_t revision = 0;  // of the store when it was answered
  std::vector<EtcdKey> keys;
  bool more = false;
};
std::optional<EtcdRange> DecodeRange(std::string_view bytes);

// KV.Txn: all of the writes, if each key is as it is expected to be, else none of them; then the keys are
// read.
struct EtcdWrite {
  std::string key;
  std::optional<std::string> value = {};  // nothing: the key is deleted
  std::optional<int64_t> expected = {};   // its mod_revision; 0: it is not there; nothing: whatever it is
  int64_t lease = 0;
  bool only_checked = false;  // nothing is written: the others are, if the key is as expected
};
std::string EncodeWrites(const std::vector<EtcdWrite>& writes);

struct EtcdOutcome {
  bool succeeded = false;
  int64_t revision = 0;
  std::vector<EtcdKey> keys;  // where it did not succeed: those of the keys that are there
};
std::optional<EtcdOutcome> DecodeOutcome(std::string_view bytes);

// Watch.Watch.
struct EtcdWatchRequest {
  std::string key, range_end;
  int64_t start_revision = 0;
};
std::string Encode(const EtcdWatchRequest& request);
std::string EncodeProgressRequest();

struct EtcdNews {
  struct Event {
    bool deleted = false;
    EtcdKey key;
  };
  int64_t revision = 0;  // everything up to that was told
  bool created = false, canceled = false;
  bool fragment = false;         // the rest of the revision follows
  int64_t compact_revision = 0;  // what was asked for is compacted; 0: not so
  std::string cancel_reason;
  std::vector<Event> events;
};
std::optional<EtcdNews> DecodeNews(std::string_view bytes);

// Auth.Authenticate.
std::string EncodeLogin(std::string_view user, std::string_view password);
std::optional<std::string> DecodeToken(std::string_view bytes);

// Lease.LeaseGrant, with an id of one's own or 0; Lease.LeaseKeepAlive, and LeaseRevoke, which is the same.
std::string EncodeLease(int64_t seconds, int64_t id);
std::string EncodeLeaseId(int64_t id);
struct EtcdLeaseAnswer {
  int64_t id = 0, seconds = 0;  // that are left; 0: there is no such lease any more
  std::string error = {};
};
std::optional<EtcdLeaseAnswer> DecodeLease(std::string_view bytes);

// Maintenance of tests: KV.Compact.
std::string EncodeCompaction(int64_t revision);

// The end of the range of all keys that begin with this: "a0" of "a/".
std::string EndOfPrefix(std::string prefix);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_MESSAGES_H_
