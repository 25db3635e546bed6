#include "agent/proxy_subscriptions.h"

#include <algorithm>

#include "agent/xds_fields.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "proto/field_reader.h"
#include "proto/wire.h"

namespace fairlead::agent {
namespace {

namespace discovery = envoy::service::discovery::v3;

constexpr size_t kMostTypes = 64, kMostGiven = 64;
constexpr char kAll[] = "*";

// Fields of envoy.service.discovery.v3.DeltaDiscoveryResponse and Resource.
constexpr int kResources = 2, kNonce = 5, kRemoved = 6;
constexpr int kVersionOfResource = 1, kNameOfResource = 3;

template <typename Request>
bool Parse(std::string_view bytes, Request* request) {
  return request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

template <typename Request>
void TakeNode(Request* request, std::string* node) {
  if (!request->has_node()) return;
  if (node->empty()) *node = request->node().SerializeAsString();
  request->clear_node();
}

}  // namespace

ProxySubscriptions::OfType* ProxySubscriptions::Find(std::string_view type) {
  for (OfType& of : types_) {
    if (of.type == type) return &of;
  }
  return nullptr;
}

absl::StatusOr<ProxySubscriptions::OfType*> ProxySubscriptions::FindOrAdd(const std::string& type) {
  if (OfType* of = Find(type)) return of;
  if (types_.size() == kMostTypes)
    return absl::ResourceExhaustedError(StrCat("more than ", kMostTypes, " types on one stream"));
  types_.emplace_back().type = type;
  return &types_.back();
}

bool ProxySubscriptions::AsksFor(std::string_view type) const {
  return std::any_of(types_.begin(), types_.end(), [type](const OfType& of) { return of.type == type; });
}

std::string ProxySubscriptions::LastRequest(std::string_view type) const {
  for (const OfType& of : types_) {
    if (of.type == type) return of.request;
  }
  return "";
}

ProxySubscriptions::Given* ProxySubscriptions::Answered(const std::string& nonce, OfType* of) {
  if (nonce.empty()) return nullptr;
  // Two control planes may have one nonce; the proxy answers responses in their order, each at least once.
  auto found = of->given.end();
  for (auto given = of->given.begin(); given != of->given.end(); ++given) {
    if (given->nonce != nonce) continue;
    found = given;
    if (!given->answered) break;
  }
  if (found == of->given.end()) return nullptr;
  found->answered = true;
  of->given.erase(of->given.begin(), found);
  return &of->given.front();
}

void ProxySubscriptions::Accept(Given* given, OfType* of) {
  for (auto& [name, version] : given->added) {
    if (of->everything || of->names.contains(name)) of->held[name] = std::move(version);
  }
  for (const std::string& name : given->removed) of->held.erase(name);
}

// A nonce that is not known may be one of many that were forgotten.
bool ProxySubscriptions::IsStale(const std::string& nonce, const Given* given) const {
  if (nonce.empty()) return false;
  return given == nullptr ? control_plane_ > 1 : given->control_plane != control_plane_;
}

absl::StatusOr<std::string> ProxySubscriptions::OnRequest(std::string_view request) {
  return delta_ ? OnDelta(request) : OnWhole(request);
}

absl::StatusOr<std::string> ProxySubscriptions::OnWhole(std::string_view bytes) {
  discovery::DiscoveryRequest request;
  if (!Parse(bytes, &request)) return absl::InvalidArgumentError("a request is no DiscoveryRequest");
  const auto found = FindOrAdd(request.type_url());
  if (!found.ok()) return found.status();
  OfType& of = **found;
  TakeNode(&request, &node_);
  const bool stale = IsStale(request.response_nonce(), Answered(request.response_nonce(), &of));
  request.clear_response_nonce();
  request.clear_error_detail();
  std::set<std::string> names(request.resource_names().begin(), request.resource_names().end());
  const bool same = !of.request.empty() && names == of.names;
  of.names = std::move(names);
  of.request = request.SerializeAsString();
  if (!stale) return std::string(bytes);
  return same ? "" : of.request;
}

absl::StatusOr<std::string> ProxySubscriptions::OnDelta(std::string_view bytes) {
  discovery::DeltaDiscoveryRequest request;
  if (!Parse(bytes, &request)) return absl::InvalidArgumentError("a request is no DeltaDiscoveryRequest");
  const bool is_first = Find(request.type_url()) == nullptr;
  const auto found = FindOrAdd(request.type_url());
  if (!found.ok()) return found.status();
  OfType& of = **found;
  TakeNode(&request, &node_);
  if (is_first) {
    // Source: the protocol's "legacy" wildcard.
    of.everything = request.resource_names_subscribe().empty();
    of.held = {request.initial_resource_versions().begin(), request.initial_resource_versions().end()};
  }
  Given* given = Answered(request.response_nonce(), &of);
  const bool stale = IsStale(request.response_nonce(), given);
  if (given != nullptr) {
    if (!request.has_error_detail()) Accept(given, &of);
    given->added.clear();
    given->removed.clear();
  }
  for (const std::string& name : request.resource_names_unsubscribe()) {
    if (name == kAll) of.everything = false;
    of.names.erase(name);
  }
  for (const std::string& name : request.resource_names_subscribe()) {
    if (name == kAll) of.everything = true;
    of.names.insert(name);
  }
  if (!of.everything)
    std::erase_if(of.held, [&of](const auto& held) { return !of.names.contains(held.first); });
  request.clear_response_nonce();
  request.clear_error_detail();
  const bool news =
      !request.resource_names_subscribe().empty() || !request.resource_names_unsubscribe().empty();
  const std::string without_answer = stale && news ? request.SerializeAsString() : "";
  if (is_first) {
    request.clear_resource_names_subscribe();
    request.clear_resource_names_unsubscribe();
    request.clear_initial_resource_versions();
    of.request = request.SerializeAsString();
  }
  return stale ? without_answer : std::string(bytes);
}

void ProxySubscriptions::OnResponse(std::string_view response) {
  OfType* of = Find(FieldOf(response, kTypeOfResponse));
  if (of == nullptr) return;
  Given given;
  given.nonce = FieldOf(response, kNonce);
  given.control_plane = control_plane_;
  if (given.nonce.empty()) return;
  if (delta_) {
    for (proto::FieldReader fields(response); fields.Next();) {
      if (fields.number() == kRemoved) given.removed.emplace_back(fields.bytes());
      if (fields.number() != kResources) continue;
      given.added.emplace_back(FieldOf(fields.bytes(), kNameOfResource),
                               FieldOf(fields.bytes(), kVersionOfResource));
    }
  }
  if (of->given.size() == kMostGiven) of->given.pop_front();
  of->given.push_back(std::move(given));
}

std::vector<std::string> ProxySubscriptions::Restore() {
  ++control_plane_;
  std::vector<std::string> requests;
  for (const OfType& of : types_) {
    // No name at all would mean everything.
    if (delta_ && !of.everything && of.names.empty()) continue;
    std::string request = delta_ ? RestoreDelta(of) : of.request;
    if (requests.empty() && !node_.empty()) proto::AppendField(delta_ ? 1 : 2, node_, &request);
    requests.push_back(std::move(request));
  }
  return requests;
}

std::string ProxySubscriptions::RestoreDelta(const OfType& of) const {
  discovery::DeltaDiscoveryRequest request;
  request.ParseFromString(of.request);
  request.set_type_url(of.type);
  // No name at all means everything, which "*" says where there are names, too.
  const bool implied = of.everything && of.names.empty();
  if (of.everything && !implied && !of.names.contains(kAll)) request.add_resource_names_subscribe(kAll);
  for (const std::string& name : of.names) request.add_resource_names_subscribe(name);
  for (const auto& [name, version] : of.held) (*request.mutable_initial_resource_versions())[name] = version;
  return request.SerializeAsString();
}

}  // namespace fairlead::agent
