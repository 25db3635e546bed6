#include <google/protobuf/any.pb.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "envoy/config/route/v3/route.pb.h"
#include "gen/generator.h"

namespace fairlead::gen {
namespace route {
namespace {

using envoy::config::route::v3::RouteConfiguration;
using envoy::config::route::v3::VirtualHost;

// "9080/reviews" names the host "reviews" of the route configuration "9080". A host has no slash, a route
// configuration may have. Source: Envoy, "VHDS: virtual host resource naming convention".
struct HostName {
  std::string configuration, host;  // no host: the configuration as such
};

HostName ParseHostName(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {std::string(name), ""};
  return {std::string(name.substr(0, slash)), AsciiLower(name.substr(slash + 1))};
}

// How well a domain fits a host by Envoy's rules: exact, then the longest "*.suffix", then the longest
// "prefix.*", then "*". 0: not at all.
size_t Fit(std::string_view domain, std::string_view host) {
  constexpr size_t kExact = 1u << 20, kSuffix = 1u << 18, kPrefix = 1u << 16;
  if (domain == host) return kExact;
  if (domain == "*") return 1;
  if (domain.size() > host.size()) return 0;
  if (domain.starts_with('*') && host.ends_with(domain.substr(1))) return kSuffix + domain.size();
  if (domain.ends_with('*') && host.starts_with(domain.substr(0, domain.size() - 1)))
    return kPrefix + domain.size();
  return 0;
}

bool IsWildcard(std::string_view domain) { return domain.starts_with('*') || domain.ends_with('*'); }

// "a.com" of "a.com:80", "[::1]" of "[::1]:80".
std::string_view WithoutPort(std::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.ends_with(']')) return host;
  const bool address = host.find(':') != colon && !host.starts_with('[');
  return address ? host : host.substr(0, colon);
}

// The virtual host that requests for `host` go to; null where there is none.
const VirtualHost* Find(const RouteConfiguration& routes, std::string_view host) {
  if (routes.ignore_port_in_host_matching()) host = WithoutPort(host);
  const VirtualHost* best = nullptr;
  size_t best_fit = 0;
  for (const VirtualHost& candidate : routes.virtual_hosts()) {
    for (const std::string& domain : candidate.domains()) {
      const size_t fit = Fit(AsciiLower(domain), host);
      if (fit <= best_fit) continue;
      best_fit = fit;
      best = &candidate;
    }
  }
  return best;
}

// A proxy asks only for what none of its virtual hosts matches. One with a wildcard would from then on take
// the requests for hosts that have not been asked for yet: it goes out for the one host alone. So does one
// that was found without the port, which the proxy may not know to ignore.
VirtualHost Narrow(const VirtualHost& found, const std::string& host) {
  VirtualHost narrow = found;
  narrow.clear_domains();
  bool exact = false;
  for (const std::string& domain : found.domains()) {
    if (IsWildcard(domain)) continue;
    exact |= EqualsIgnoreCase(domain, host);
    narrow.add_domains(domain);
  }
  if (exact) return narrow;
  narrow.clear_domains();
  narrow.add_domains(host);
  narrow.set_name(StrCat(found.name(), "|", host));
  return narrow;
}

cache::ResourcePtr Nothing(const std::string& name) {
  auto resource = std::make_shared<cache::Resource>();
  resource->name = Interned(name);
  return resource;
}

// Every name is answered, one that stands for nothing with a resource without content: the proxy holds a
// request until it hears of the host. Source: Envoy, "VHDS: using the on-demand filter".
class VirtualHostGenerator final : public Generator {
 public:
  explicit VirtualHostGenerator(Generator* routes) : routes_(routes) {}

  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    std::vector<cache::ResourcePtr> out;
    if (request.names == nullptr) return out;
    std::map<std::string, RouteConfiguration> known;
    for (const std::string& name : *request.names) {
      const HostName wanted = ParseHostName(name);
      const auto [at, fresh] = known.try_emplace(wanted.configuration);
      if (fresh) at->second = Routes(request, wanted.configuration);
      const VirtualHost* found = wanted.host.empty() ? nullptr : Find(at->second, wanted.host);
      out.push_back(found == nullptr ? Nothing(name) : Encode(name, Narrow(*found, wanted.host)));
    }
    return out;
  }

  PartStamp Stamp(const Request& request, size_t part) const override {
    return routes_->Stamp(request, part);
  }

  std::optional<std::string> PartKey(const Request& request, size_t part) override {
    return routes_->PartKey(request, part);
  }

  void Sweep() override {}

 private:
  RouteConfiguration Routes(const Request& request, const std::string& configuration) {
    const std::vector<std::string> names = {configuration};
    RouteConfiguration routes;
    for (const cache::ResourcePtr& resource : routes_->Generate({request.snapshot, request.scope, &names})) {
      google::protobuf::Any any;
      if (resource->name == configuration && any.ParseFromString(resource->any.Unpacked()))
        any.UnpackTo(&routes);
    }
    return routes;
  }

  Generator* const routes_;
};

}  // namespace
}  // namespace route

std::unique_ptr<Generator> NewVirtualHostGenerator(Generator* routes) {
  return std::make_unique<route::VirtualHostGenerator>(routes);
}

}  // namespace fairlead::gen
