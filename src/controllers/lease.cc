#include "controllers/lease.h"

#include <cstdio>
#include <ctime>

#include "base/json.h"

namespace fairlead::controllers {
namespace {

using Json = nlohmann::json;

// Under this the holder's revision is noted. Source: Istio's LeaseHolderKey.
constexpr char kHolderKey[] = "leader.istio.io/holder-key";

const Json& Member(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

int64_t Number(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

}  // namespace

LeaseRecord RecordOf(const Json& lease) {
  const Json& spec = Member(lease, "spec");
  LeaseRecord record;
  record.holder = JsonString(spec, "holderIdentity");
  record.key = JsonString(Member(Member(lease, "metadata"), "annotations"), kHolderKey);
  record.acquired = JsonString(spec, "acquireTime");
  record.renewed = JsonString(spec, "renewTime");
  record.seconds = Number(spec, "leaseDurationSeconds");
  record.transitions = Number(spec, "leaseTransitions");
  return record;
}

void SetRecord(const LeaseRecord& record, Json* lease) {
  Json& spec = (*lease)["spec"];
  spec["holderIdentity"] = record.holder;
  spec["acquireTime"] = record.acquired;
  spec["renewTime"] = record.renewed;
  spec["leaseDurationSeconds"] = record.seconds;
  spec["leaseTransitions"] = record.transitions;
  Json& metadata = (*lease)["metadata"];
  if (!record.key.empty()) {
    metadata["annotations"][kHolderKey] = record.key;
  } else if (metadata.contains("annotations")) {
    metadata["annotations"].erase(kHolderKey);
  }
}

Json NewLease(const std::string& ns, const std::string& name) {
  return {{"apiVersion", "coordination.k8s.io/v1"},
          {"kind", "Lease"},
          {"metadata", {{"namespace", ns}, {"name", name}}},
          {"spec", Json::object()}};
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
