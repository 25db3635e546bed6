#include "controllers/lease.h"

#include <cstdio>
#include <ctime>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::controllers {
namespace {

using Json = nlohmann::json;

// Under this the holder's revision is noted. Source: Istio's LeaseHolderKey.
constexpr char kHolderKey[] = "leader.istio.io/holder-key";
// A ConfigMap has its record here, as JSON. Source: client-go's LeaderElectionRecordAnnotationKey.
constexpr char kRecord[] = "control-plane.alpha.kubernetes.io/leader";

const Json& Member(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

int64_t Number(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

// What both kinds have by the same names.
LeaseRecord ReadFields(const Json& fields) {
  LeaseRecord record;
  record.holder = JsonString(fields, "holderIdentity");
  record.acquired = JsonString(fields, "acquireTime");
  record.renewed = JsonString(fields, "renewTime");
  record.seconds = Number(fields, "leaseDurationSeconds");
  return record;
}

void SetFields(const LeaseRecord& record, Json* fields) {
  (*fields)["holderIdentity"] = record.holder;
  (*fields)["acquireTime"] = record.acquired;
  (*fields)["renewTime"] = record.renewed;
  (*fields)["leaseDurationSeconds"] = record.seconds;
}

LeaseRecord RecordOfConfigMap(const Json& map) {
  const Json& annotations = Member(Member(map, "metadata"), "annotations");
  const std::optional<Json> fields = ParseJson(JsonString(annotations, kRecord));
  if (!fields) return {};
  LeaseRecord record = ReadFields(*fields);
  record.key = JsonString(*fields, "holderKey");
  record.transitions = Number(*fields, "leaderTransitions");
  return record;
}

void SetRecordOfLease(const LeaseRecord& record, Json* lease) {
  Json& spec = (*lease)["spec"];
  SetFields(record, &spec);
  spec["leaseTransitions"] = record.transitions;
  Json& metadata = (*lease)["metadata"];
  if (!record.key.empty()) {
    metadata["annotations"][kHolderKey] = record.key;
  } else if (metadata.contains("annotations")) {
    metadata["annotations"].erase(kHolderKey);
  }
}

}  // namespace

LeaseRecord RecordOf(LockObject kind, const Json& lock) {
  if (kind == LockObject::kConfigMap) return RecordOfConfigMap(lock);
  const Json& spec = Member(lock, "spec");
  LeaseRecord record = ReadFields(spec);
  record.key = JsonString(Member(Member(lock, "metadata"), "annotations"), kHolderKey);
  record.transitions = Number(spec, "leaseTransitions");
  return record;
}

void SetRecord(LockObject kind, const LeaseRecord& record, Json* lock) {
  if (kind == LockObject::kLease) return SetRecordOfLease(record, lock);
  Json fields = {{"holderKey", record.key}, {"leaderTransitions", record.transitions}};
  SetFields(record, &fields);
  (*lock)["metadata"]["annotations"][kRecord] = JsonText(fields);
}

Json NewLock(LockObject kind, const std::string& ns, const std::string& name) {
  Json lock = {{"metadata", {{"namespace", ns}, {"name", name}}}};
  const bool lease = kind == LockObject::kLease;
  lock["apiVersion"] = lease ? "coordination.k8s.io/v1" : "v1";
  lock["kind"] = lease ? "Lease" : "ConfigMap";
  if (lease) lock["spec"] = Json::object();
  return lock;
}

std::string LocksPath(LockObject kind, const std::string& ns) {
  if (kind == LockObject::kConfigMap) return StrCat("/api/v1/namespaces/", ns, "/configmaps");
  return StrCat("/apis/coordination.k8s.io/v1/namespaces/", ns, "/leases");
}

std::string MicroTimeText(std::chrono::system_clock::time_point time) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = micros / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char day[32], text[48];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%06dZ", day, static_cast<int>(micros % 1'000'000));
  return text;
}

}  // namespace fairlead::controllers
