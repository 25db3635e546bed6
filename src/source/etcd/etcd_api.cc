#include "source/etcd/etcd_api.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "config/read/tree_json.h"
#include "config/read/yaml.h"
#include "source/etcd/etcd_objects.h"
#include "source/etcd/sealed_text.h"

namespace fairlead::source {
namespace {

using kube::ApiRequest;
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using Verb = ApiRequest::Verb;

// Marks an entry that a proxy registered. Source: Istio's AutoRegistrationGroupAnnotation.
constexpr char kGroupAnnotation[] = "istio.io/autoRegistrationGroup";

absl::Status Absent() { return absl::NotFoundError("etcd has no such object"); }
absl::Status Conflict() { return absl::AbortedError("the object in etcd is not as it was"); }
absl::Status Senseless() { return absl::InvalidArgumentError("the request is no JSON that is known here"); }

int64_t Number(std::string_view text) {
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size() ? number : -1;
}

const Json& Below(const Json& object, const char* key) {
  static const auto* none = new Json(Json::object());
  const auto it = object.is_object() ? object.find(key) : object.end();
  return !object.is_object() || it == object.end() || !it->is_object() ? *none : *it;
}

int64_t NumberIn(const Json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  return it != object.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

// -1: it has none.
int64_t VersionIn(const Json& object) {
  const std::string text = JsonString(Below(object, "metadata"), "resourceVersion");
  return text.empty() ? -1 : Number(text);
}

std::string WithVersion(Json document, int64_t revision) {
  document["metadata"]["resourceVersion"] = StrCat(revision);
  return JsonText(document);
}

std::string UtcNow() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

const config::KindInfo* KindOf(std::string_view group, std::string_view plural) {
  for (const config::KindInfo& kind : config::AllKinds()) {
    if (kind.group == group && kind.plural == plural) return &kind;
  }
  return nullptr;
}

absl::StatusOr<std::optional<EtcdKey>> ReadKey(EtcdClient& client, const std::string& key) {
  auto range = client.Read({key});
  if (!range.ok()) return range.status();
  if (range->keys.empty()) return std::optional<EtcdKey>();
  return std::optional<EtcdKey>(std::move(range->keys.front()));
}

// The revision of the write; `lost` where something is not as it was expected to be.
absl::StatusOr<int64_t> WriteAll(EtcdClient& client, const std::vector<EtcdWrite>& writes,
                                 const absl::Status& lost) {
  const auto outcome = client.Write(writes);
  if (!outcome.ok()) return outcome.status();
  if (!outcome->succeeded) return lost;
  return outcome->revision;
}

bool IsRegistered(const Json& entry) {
  return Below(Below(entry, "metadata"), "annotations").contains(kGroupAnnotation);
}

}  // namespace

struct EtcdApi::Place {
  std::string group, plural, ns, name;  // name "": a collection
  bool status = false;
  const config::KindInfo* kind = nullptr;  // null: none of the mesh's
  config::ObjectKey Object() const { return {kind->kind, Interned(ns), Interned(name)}; }
};

std::string EtcdStatusKeyOf(const config::ObjectKey& object, std::string_view control_prefix) {
  return EtcdKeyOf(object, StrCat(control_prefix, "status/"));
}

std::optional<EtcdStatus> ReadEtcdStatus(std::string_view value) {
  auto document = ParseOrderedJson(value);
  if (!document || !document->is_object() || !document->contains("status")) return std::nullopt;
  EtcdStatus status;
  status.status = std::move((*document)["status"]);
  const auto revision = document->find("revision");
  if (revision != document->end() && revision->is_number_integer())
    status.revision = revision->get<int64_t>();
  return status;
}

EtcdApi::EtcdApi(const EtcdOptions& options, std::string sealing_key, int64_t entry_seconds)
    : prefix_(options.Prefix()),
      control_(options.ControlPrefix()),
      sealing_key_(std::move(sealing_key)),
      entry_seconds_(entry_seconds) {}

// "/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL/NAME/status", shorter for what has no namespace or group.
std::optional<EtcdApi::Place> EtcdApi::PlaceOf(const ApiRequest& request) {
  std::vector<std::string_view> pieces =
      Split(std::string_view(request.path).substr(0, request.path.find('?')), '/');
  Place place;
  size_t at = 3;  // "", "api", "v1"
  if (pieces.size() > 4 && pieces[1] == "apis") {
    place.group = pieces[2];
    at = 4;
  }
  if (pieces.size() > at + 2 && pieces[at] == "namespaces") {
    place.ns = pieces[at + 1];
    at += 2;
  }
  if (pieces.size() <= at) return std::nullopt;
  place.plural = pieces[at];
  if (pieces.size() > at + 1) place.name = pieces[at + 1];
  place.status = pieces.size() > at + 2 && pieces[at + 2] == "status";
  place.kind = KindOf(place.group, place.plural);
  return place;
}

absl::StatusOr<std::string> EtcdApi::Answer(EtcdClient& client, const ApiRequest& request) {
  std::optional<Place> place = PlaceOf(request);
  if (!place) return Absent();
  if (request.verb == Verb::kCreate) {
    const auto body = ParseJson(request.body);
    if (!body || !body->is_object()) return Senseless();
    place->name = JsonString(Below(*body, "metadata"), "name");
  }
  if (place->name.empty() || place->name.find('/') != std::string::npos) return Absent();
  if (place->plural == "leases") return AnswerLock(client, request, *place);
  if (place->kind == nullptr) return Absent();
  if (place->kind->kind == config::Kind::kSecret) return AnswerSecret(client, request, *place);
  if (place->kind->kind == config::Kind::kWorkloadEntry) return AnswerEntry(client, request, *place);
  return AnswerStatus(client, request, *place);
}

// The lease is alive when this returns, or was a moment ago; a new one where the last one is over.
absl::StatusOr<int64_t> EtcdApi::Lease(EtcdClient& client, LeaseSlot* slot, int64_t seconds) {
  std::lock_guard lock(slot->mutex);
  if (slot->id != 0 && Clock::now() < slot->kept + std::chrono::seconds(seconds) / 10) return slot->id;
  for (const bool keeps : {true, false}) {
    if (keeps && slot->id == 0) continue;
    const Clock::time_point now = Clock::now();
    const auto answer =
        client.Call(keeps ? "/etcdserverpb.Lease/LeaseKeepAlive" : "/etcdserverpb.Lease/LeaseGrant",
                    keeps ? EncodeLeaseId(slot->id) : EncodeLease(seconds, 0));
    if (!answer.ok()) return answer.status();
    const auto read = DecodeLease(*answer);
    if (!read) return absl::UnavailableError("etcd's answer is malformed");
    if (keeps && read->seconds <= 0) continue;
    if (!keeps && (read->id == 0 || !read->error.empty()))
      return absl::UnavailableError(ToAbsl(StrCat("etcd gives no lease: ", read->error)));
    slot->id = read->id;
    slot->kept = now;
    return read->id;
  }
  return absl::UnavailableError("etcd gives no lease");
}

absl::StatusOr<int64_t> EtcdApi::WriteLeased(EtcdClient& client, EtcdWrite write, LeaseSlot* slot,
                                             int64_t seconds, const absl::Status& lost) {
  for (const bool again : {false, true}) {
    const auto lease = Lease(client, slot, seconds);
    if (!lease.ok()) return lease.status();
    write.lease = *lease;
    auto revision = WriteAll(client, {write}, lost);
    // etcd says so of a lease that is over.
    if (again || !absl::IsNotFound(revision.status())) return revision;
    std::lock_guard lock(slot->mutex);
    if (slot->id == *lease) slot->id = 0;
  }
  return absl::UnavailableError("etcd gives no lease");
}

// One that is over is not asked for again: its entries are gone, and are made anew by whoever needs them.
void EtcdApi::KeepEntries(EtcdClient& client) {
  std::lock_guard lock(entry_lease_.mutex);
  if (entry_lease_.id == 0) return;
  const Clock::time_point now = Clock::now();
  const auto answer = client.Call("/etcdserverpb.Lease/LeaseKeepAlive", EncodeLeaseId(entry_lease_.id));
  const auto read = answer.ok() ? DecodeLease(*answer) : std::nullopt;
  if (!read) return;
  entry_lease_.kept = now;
  if (read->seconds <= 0) entry_lease_.id = 0;
}

absl::StatusOr<std::string> EtcdApi::AnswerLock(EtcdClient& client, const ApiRequest& request,
                                                const Place& place) {
  const std::string key = StrCat(control_, "leader/", place.name);
  if (request.verb == Verb::kGet) {
    const auto found = ReadKey(client, key);
    if (!found.ok()) return found.status();
    if (!*found) return Absent();
    auto lock = ParseJson((*found)->value);
    return WithVersion(lock && lock->is_object() ? *std::move(lock) : Json::object(), (*found)->mod_revision);
  }
  auto body = ParseJson(request.body);
  if (!body || !body->is_object()) return Senseless();
  const bool creates = request.verb == Verb::kCreate;
  EtcdWrite write{key};
  write.expected = creates ? 0 : VersionIn(*body);
  if (*write.expected < 0) return Senseless();
  const absl::Status lost = creates ? absl::AlreadyExistsError("somebody holds it") : Conflict();
  const Json& spec = Below(*body, "spec");
  const bool held = !JsonString(spec, "holderIdentity").empty();
  const int64_t seconds = std::max<int64_t>(NumberIn(spec, "leaseDurationSeconds"), 1);
  if (held) {
    (*body)["metadata"].erase("resourceVersion");
    write.value = JsonText(*body);
  }
  const auto revision = held ? WriteLeased(client, std::move(write), &lock_lease_, seconds, lost)
                             : WriteAll(client, {write}, lost);
  if (!revision.ok()) return revision.status();
  return WithVersion(*std::move(body), *revision);
}

absl::StatusOr<std::string> EtcdApi::WriteSecret(EtcdClient& client, const std::string& key,
                                                 const Json& texts, int64_t expected) {
  absl::StatusOr<std::string> sealed = Seal(sealing_key_, key, JsonText(texts));
  if (!sealed.ok()) return sealed.status();
  EtcdWrite write{key, *std::move(sealed), expected};
  const auto revision = WriteAll(
      client, {write}, expected == 0 ? absl::AlreadyExistsError("there is such a Secret") : Conflict());
  if (!revision.ok()) return revision.status();
  return WithVersion(Json::object(), *revision);
}

absl::StatusOr<std::string> EtcdApi::AnswerSecret(EtcdClient& client, const ApiRequest& request,
                                                  const Place& place) {
  if (sealing_key_.empty()) return Absent();
  const std::string key = StrCat(control_, "secrets/", place.ns, "/", place.name);
  const auto body = ParseJson(request.body);
  if (request.verb == Verb::kCreate) return WriteSecret(client, key, Below(*body, "stringData"), 0);
  const auto found = ReadKey(client, key);
  if (!found.ok()) return found.status();
  if (!*found) return Absent();
  const auto opened = Unseal(sealing_key_, key, (*found)->value);
  if (!opened.ok())
    return absl::FailedPreconditionError(ToAbsl(StrCat(key, " ", FromAbsl(opened.status().message()))));
  Json texts = ParseJson(*opened).value_or(Json::object());
  if (request.verb == Verb::kMergePatch) {
    if (!body || !body->is_object()) return Senseless();
    texts.merge_patch(Below(*body, "stringData"));
    return VersionIn(*body) == (*found)->mod_revision
               ? WriteSecret(client, key, texts, (*found)->mod_revision)
               : Conflict();
  }
  if (request.verb != Verb::kGet) return Absent();
  Json secret = {{"data", Json::object()}};
  for (const auto& [name, text] : texts.items()) {
    if (text.is_string()) secret["data"][name] = EncodeBase64(text.get<std::string>());
  }
  return WithVersion(std::move(secret), (*found)->mod_revision);
}

absl::StatusOr<std::string> EtcdApi::PatchEntry(EtcdClient& client, const Json& patch, const Place& place,
                                                Found found) {
  const int64_t expected = VersionIn(patch);
  if (expected >= 0 && expected != found.key.mod_revision) return Conflict();
  found.document.merge_patch(patch);
  found.document["metadata"].erase("resourceVersion");
  EtcdWrite write{EtcdKeyOf(place.Object(), prefix_), JsonText(found.document), found.key.mod_revision};
  write.lease = found.key.lease;
  // Whoever writes it last has the proxy, and keeps the entry alive.
  const auto revision = IsRegistered(found.document)
                            ? WriteLeased(client, std::move(write), &entry_lease_, entry_seconds_, Conflict())
                            : WriteAll(client, {write}, Conflict());
  if (!revision.ok()) return revision.status();
  return WithVersion(std::move(found.document), *revision);
}

absl::StatusOr<std::string> EtcdApi::AnswerEntry(EtcdClient& client, const ApiRequest& request,
                                                 const Place& place) {
  const std::string key = EtcdKeyOf(place.Object(), prefix_);
  auto body = ParseJson(request.body);
  if (request.verb == Verb::kCreate) {
    (*body)["metadata"]["creationTimestamp"] = UtcNow();
    const auto revision = WriteLeased(client, {key, JsonText(*body), 0}, &entry_lease_, entry_seconds_,
                                      absl::AlreadyExistsError("there is such a WorkloadEntry"));
    if (!revision.ok()) return revision.status();
    return WithVersion(*std::move(body), *revision);
  }
  const auto found = ReadKey(client, key);
  if (!found.ok()) return found.status();
  if (!*found) return Absent();
  const EtcdKey& known = **found;
  Json document = config::ToJson(config::ParseYamlDocument(known.value).tree.root());
  if (!document.is_object()) return absl::FailedPreconditionError(ToAbsl(StrCat(key, " has no object")));
  if (request.verb == Verb::kGet) return WithVersion(std::move(document), known.mod_revision);
  if (request.verb == Verb::kMergePatch)
    return body && body->is_object() ? PatchEntry(client, *body, place, {known, std::move(document)})
                                     : Senseless();
  if (request.verb != Verb::kDelete) return Absent();
  EtcdWrite deletion{key, std::nullopt, known.mod_revision};
  if (body) {
    const std::string version = JsonString(Below(*body, "preconditions"), "resourceVersion");
    if (!version.empty() && Number(version) != known.mod_revision) return Conflict();
  }
  const auto revision = WriteAll(client, {deletion}, Conflict());
  if (!revision.ok()) return revision.status();
  return JsonText(Json{{"kind", "Status"}});
}

absl::StatusOr<std::string> EtcdApi::AnswerStatus(EtcdClient& client, const ApiRequest& request,
                                                  const Place& place) {
  const std::string key = EtcdStatusKeyOf(place.Object(), control_);
  const auto object = ReadKey(client, EtcdKeyOf(place.Object(), prefix_));
  if (!object.ok()) return object.status();
  if (!*object) return Absent();
  const auto status = ReadKey(client, key);
  if (!status.ok()) return status.status();
  if (request.verb == Verb::kMergePatch || request.verb == Verb::kJsonPatch)
    return place.status ? WriteStatus(client, request, **object, key, *status ? &**status : nullptr)
                        : Absent();
  if (request.verb != Verb::kGet) return Absent();
  OrderedJson answer;
  answer["metadata"] = {{"resourceVersion", StrCat((*object)->mod_revision)},
                        {"generation", (*object)->version}};
  if (*status) {
    if (auto read = ReadEtcdStatus((*status)->value); read) answer["status"] = std::move(read->status);
  }
  return JsonText(answer);
}

namespace {

struct StatusChange {
  int64_t version = -1;
  OrderedJson status;  // null: none
};

// Both forms of StatusWriter's patches.
std::optional<StatusChange> ReadChange(const ApiRequest& request, const OrderedJson& before) {
  const auto body = ParseOrderedJson(request.body);
  StatusChange change;
  if (!body) return std::nullopt;
  if (request.verb == Verb::kMergePatch) {
    if (!body->is_object() || !body->contains("status")) return std::nullopt;
    change.version = VersionIn(Json(*body));
    change.status = before.is_object() ? before : OrderedJson::object();
    change.status.merge_patch((*body)["status"]);
    return change;
  }
  for (const OrderedJson& one : *body) {
    if (!one.is_object() || !one.contains("value")) return std::nullopt;
    const std::string path = JsonString(Json(one), "path");
    if (path == "/metadata/resourceVersion") change.version = Number(JsonString(Json(one), "value"));
    if (path == "/status") change.status = one["value"];
  }
  return change;
}

}  // namespace

// Only while the object is the one that the status was made of, and the status the one that was read.
absl::StatusOr<std::string> EtcdApi::WriteStatus(EtcdClient& client, const ApiRequest& request,
                                                 const EtcdKey& object, const std::string& key,
                                                 const EtcdKey* known) {
  std::optional<EtcdStatus> before = known == nullptr ? std::nullopt : ReadEtcdStatus(known->value);
  std::optional<StatusChange> change = ReadChange(request, before ? before->status : OrderedJson());
  if (!change) return Senseless();
  if (change->version != object.mod_revision) return Conflict();
  EtcdWrite held{object.key, std::nullopt, object.mod_revision};
  held.only_checked = true;
  EtcdWrite write{key};
  write.expected = known == nullptr ? 0 : known->mod_revision;
  OrderedJson document;
  document["revision"] = object.mod_revision;
  document["status"] = std::move(change->status);
  write.value = JsonText(document);
  const auto revision = WriteAll(client, {held, write}, Conflict());
  if (!revision.ok()) return revision.status();
  return WithVersion(Json::object(), object.mod_revision);
}

}  // namespace fairlead::source
