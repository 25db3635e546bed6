#include "push/stream/rejection_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/strings.h"

namespace fairlead::push {
namespace {

using config::Diagnostic;
using config::Kind;

constexpr size_t kNamed = 5;  // proxies, resources and objects that a diagnostic names

// "a, b and 7 more"
std::string Some(const std::set<std::string>& names) {
  std::string text;
  size_t count = 0;
  for (const std::string& name : names) {
    if (count++ == kNamed) break;
    StrAppend(&text, text.empty() ? "" : ", ", name);
  }
  if (names.size() > kNamed) StrAppend(&text, " and ", names.size() - kNamed, " more");
  return text;
}

// How likely an object of the kind is to give what a proxy does not take: what is handed through to proxies
// as it is written comes first.
int Suspicion(Kind kind) {
  switch (kind) {
    case Kind::kEnvoyFilter:
      return 0;
    case Kind::kTrafficExtension:
    case Kind::kWasmPlugin:
      return 1;
    case Kind::kTelemetry:
      return 2;
    case Kind::kAuthorizationPolicy:
    case Kind::kRequestAuthentication:
    case Kind::kPeerAuthentication:
      return 4;
    default:
      return 3;
  }
}

// The one of those that changed that is taken for the one at fault; nothing where none changed.
const cache::ResourceOrigin* AtFault(const RejectedResource& resource) {
  const cache::ResourceOrigin* worst = nullptr;
  int suspicion = 0;
  for (const cache::ResourceOrigin& origin : resource.changed) {
    const auto key = KeyOf(origin);
    const int now = key ? Suspicion(key->kind) : 5;
    if (worst == nullptr || now < suspicion) std::tie(worst, suspicion) = std::pair(&origin, now);
  }
  return worst;
}

void SetPlace(const cache::ResourceOrigin& origin, FindObject find, Diagnostic* out) {
  out->object = KeyOf(origin);
  if (!out->object) return;
  const config::ConfigPtr object = find(*out->object);
  if (object == nullptr) return;
  out->file = object->origin().file.str();
  out->line = object->origin().line;
}

// What is the same for many proxies and resources.
struct Fault {
  xds::TypeId type = xds::TypeId::kCluster;
  std::string object, reason;
  friend auto operator<=>(const Fault&, const Fault&) = default;
};
struct Extent {
  std::set<std::string> proxies, resources, origins;
  std::optional<cache::ResourceOrigin> at_fault;
  WallTime since = WallTime::max();
  bool others_changed = false, unnamed = false;

  std::string Proxies(std::string_view preposition) const {
    return StrCat(preposition, " ", proxies.size(),
                  proxies.size() == 1 ? " proxy: " : " proxies: ", Some(proxies), "; since ",
                  config::UtcText(std::chrono::system_clock::to_time_t(since)));
  }
};

Diagnostic Rejected(const Fault& fault, const Extent& extent, FindObject find) {
  Diagnostic out;
  out.code = kRejectedCode;
  if (extent.at_fault) SetPlace(*extent.at_fault, find, &out);
  const std::string_view word = WordFor(fault.type);
  if (extent.resources.empty()) {
    out.message = StrCat("proxies reject what they are sent of ", xds::InfoOf(fault.type).name);
  } else {
    const bool one = extent.resources.size() == 1;
    out.message = StrCat("proxies reject the ", word, one ? " " : "s like ", *extent.resources.begin());
  }
  StrAppend(&out.message, ": ", fault.reason.empty() ? "no reason is given" : fault.reason);
  out.details = extent.Proxies("by");
  if (extent.resources.size() > 1) StrAppend(&out.details, "; ", word, "s: ", Some(extent.resources));
  if (extent.unnamed) StrAppend(&out.details, "; the reason does not say which of them is wrong");
  if (!extent.at_fault) {
    StrAppend(&out.details,
              "; no object behind it has changed: the mesh's settings, or the proxies' machines, have");
  } else if (extent.others_changed) {
    StrAppend(&out.details, "; others changed too, and may be at fault");
  }
  if (!extent.origins.empty()) StrAppend(&out.details, "; made from ", Some(extent.origins));
  return out;
}

// Of one policy.
struct Absence {
  cache::ResourceOrigin policy;
  bool gone = false, unknown = false;
  std::string resource, because;
  Extent extent;
};

Diagnostic NotInForce(const Absence& absence, FindObject find) {
  Diagnostic out;
  out.code = kNotInForceCode;
  SetPlace(absence.policy, find, &out);
  const std::string_view what = absence.gone      ? "is gone, but still in force at some proxies: "
                                : absence.unknown ? "may not be in force at some proxies: "
                                                  : "is not in force at some proxies: ";
  out.message = StrCat(absence.gone ? "the policy " : "this version of the policy ", what,
                       "they go on with an older ", absence.resource, ", as they reject the newest");
  if (!absence.because.empty()) StrAppend(&out.message, " because of ", absence.because);
  out.details = absence.extent.Proxies("at");
  return out;
}

// Of more than kMostReported, the rest as one.
void Bound(std::string_view code, std::vector<Diagnostic>* all, std::vector<Diagnostic>* out) {
  const size_t more = all->size() > kMostReported ? all->size() - kMostReported : 0;
  all->resize(all->size() - more);
  std::move(all->begin(), all->end(), std::back_inserter(*out));
  if (more == 0) return;
  Diagnostic rest;
  rest.code = code;
  rest.message = StrCat("more than ", kMostReported, " of these; /debug/rejectz has them all");
  rest.details = StrCat(more, " more");
  out->push_back(std::move(rest));
}

// Rejections as they come, gathered by what they have in common.
class Gatherer {
 public:
  explicit Gatherer(FindObject find) : find_(find) {}

  void Add(const Rejection& rejection) {
    proxies_.insert(rejection.proxy->id);
    if (rejection.resources.empty()) {
      Extent& extent = faults_[{rejection.type, "", rejection.error}];
      extent.proxies.insert(rejection.proxy->id);
      extent.since = std::min(extent.since, rejection.since);
    }
    for (const RejectedResource& resource : rejection.resources) Add(rejection, resource);
  }

  RejectionReport Report() const {
    RejectionReport report;
    report.proxies = proxies_.size();
    std::vector<Diagnostic> rejected, absent;
    for (const auto& [fault, extent] : faults_) rejected.push_back(Rejected(fault, extent, find_));
    for (const auto& [key, absence] : absences_) absent.push_back(NotInForce(absence, find_));
    report.policies_not_in_force = absent.size();
    Bound(kRejectedCode, &rejected, &report.diagnostics);
    Bound(kNotInForceCode, &absent, &report.diagnostics);
    return report;
  }

 private:
  void Add(const Rejection& rejection, const RejectedResource& resource) {
    const cache::ResourceOrigin* const at_fault = AtFault(resource);
    Extent& extent =
        faults_[{rejection.type, at_fault == nullptr ? "" : at_fault->key.str(), resource.reason}];
    if (at_fault != nullptr) extent.at_fault = *at_fault;
    extent.others_changed |= resource.changed.size() > 1;
    extent.unnamed |= resource.unnamed && rejection.resources.size() > 1;
    extent.resources.insert(resource.name);
    extent.proxies.insert(rejection.proxy->id);
    extent.since = std::min(extent.since, resource.since);
    for (const cache::ResourceOrigin& origin : resource.origins)
      extent.origins.insert(DescribeOrigin(origin, find_));
    for (const OutdatedPolicy& policy : OutdatedPolicies(resource)) {
      Absence& absence = absences_[{policy.policy.key.str(), policy.gone}];
      absence.policy = policy.policy;
      absence.gone = policy.gone;
      absence.unknown |= resource.running == RejectedResource::Running::kUnknown;
      if (absence.resource.empty()) absence.resource = StrCat(WordFor(rejection.type), " ", resource.name);
      if (absence.because.empty() && at_fault != nullptr && at_fault->key != policy.policy.key)
        absence.because = DescribeOrigin(*at_fault, find_);
      absence.extent.proxies.insert(rejection.proxy->id);
      absence.extent.since = std::min(absence.extent.since, resource.since);
    }
  }

  const FindObject find_;
  std::set<std::string> proxies_;
  std::map<Fault, Extent> faults_;
  std::map<std::pair<std::string, bool>, Absence> absences_;
};

}  // namespace

RejectionReport ReportOf(const std::vector<Rejection>& rejections, FindObject find) {
  Gatherer gatherer(find);
  for (const Rejection& rejection : rejections) gatherer.Add(rejection);
  return gatherer.Report();
}

std::vector<OutdatedPolicy> OutdatedPolicies(const RejectedResource& resource) {
  std::vector<OutdatedPolicy> policies;
  // Without any version it lets nobody in.
  if (resource.running == RejectedResource::Running::kNothing) return policies;
  const auto add = [&](const cache::Origins& origins, bool gone) {
    for (const cache::ResourceOrigin& origin : origins) {
      const auto key = KeyOf(origin);
      const bool decides =
          key && (key->kind == Kind::kAuthorizationPolicy || key->kind == Kind::kRequestAuthentication ||
                  key->kind == Kind::kPeerAuthentication);
      if (decides) policies.push_back({origin, gone});
    }
  };
  add(resource.missing, false);
  add(resource.lingering, true);
  return policies;
}

std::optional<config::ObjectKey> KeyOf(const cache::ResourceOrigin& origin) {
  const std::vector<std::string_view> parts = Split(origin.key.str(), '/');
  if (parts.size() != 3) return std::nullopt;
  for (const config::KindInfo& kind : config::AllKinds()) {
    // Of the kinds of one name the one that resources are made from is Istio's, which comes first.
    if (kind.name == parts[0]) return config::ObjectKey{kind.kind, parts[1], parts[2]};
  }
  return std::nullopt;
}

std::string DescribeOrigin(const cache::ResourceOrigin& origin, FindObject find) {
  const auto key = KeyOf(origin);
  if (!key) return origin.str();
  std::string text = config::Describe(*key);
  const config::ConfigPtr object = find(*key);
  if (object != nullptr && !object->origin().file.empty())
    StrAppend(&text, " (", object->origin().file.str(), ":", object->origin().line, ")");
  return text;
}

std::string_view WordFor(xds::TypeId type) {
  switch (type) {
    case xds::TypeId::kCluster:
      return "cluster";
    case xds::TypeId::kEndpoint:
      return "endpoint assignment";
    case xds::TypeId::kListener:
      return "listener";
    case xds::TypeId::kRoute:
      return "route configuration";
    case xds::TypeId::kSecret:
      return "secret";
    case xds::TypeId::kExtension:
      return "extension configuration";
    case xds::TypeId::kNameTable:
      return "name table";
    case xds::TypeId::kVirtualHost:
      return "virtual host";
    case xds::TypeId::kProxyConfig:
      return "proxy configuration";
  }
  return "resource";
}

}  // namespace fairlead::push
