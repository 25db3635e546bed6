#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "envoy/config/listener/v3/listener_components.pb.h"
#include "envoy/extensions/filters/http/ext_authz/v3/ext_authz.pb.h"
#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/network/ext_authz/v3/ext_authz.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/filters/network/rbac/v3/rbac.pb.h"
#include "gen/security/access_filters.h"
#include "mesh/index/policy_index.h"
#include "mesh/view/proxy_scope.h"
#include "nlohmann/json.hpp"
#include "tests/corpus/case.h"
#include "tests/corpus/mesh_of_objects.h"

// The filters of AuthorizationPolicies, compared with what istiod sent in the conformance cases: the same in
// each kind of chain of a sidecar's inbound listener, and of a router's listeners.
namespace fairlead::gen::security {
namespace {

using nlohmann::json;
using Filters = std::set<std::string>;  // as canonical JSON

std::string CasesFolder() {
  const std::string all = "../shared/conformance";
  return std::filesystem::exists(all) ? all : "tests/conformance";
}

template <typename Filter>
std::string ToJson(const Filter& filter) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(filter, &text, options).ok());
  return json::parse(text).dump();
}

// What a listener has of one kind of chain.
struct Seen {
  bool has_chain = false;
  Filters filters;
};

bool IsAccess(const json& filter, const std::string& kind) {
  const std::string name = filter.value("name", "");
  return name == "envoy.filters." + kind + ".rbac" || name == "envoy.filters." + kind + ".ext_authz";
}

void AddChain(const json& chain, Seen* http, Seen* tcp) {
  for (const json& filter : chain.value("filters", json::array())) {
    const std::string name = filter.value("name", "");
    if (name == "envoy.filters.network.http_connection_manager") {
      http->has_chain = true;
      for (const json& inner : filter["typed_config"].value("http_filters", json::array())) {
        if (IsAccess(inner, "http")) http->filters.insert(inner.dump());
      }
    }
    if (name == "envoy.filters.network.tcp_proxy") tcp->has_chain = true;
    if (IsAccess(filter, "network")) tcp->filters.insert(filter.dump());
  }
}

// Of the golden's listeners that take connections from elsewhere: of a sidecar one, of a router all.
void LookAt(const json& golden, bool sidecar, Seen* http, Seen* tcp) {
  for (const json& listener : golden.value("listeners", json::array())) {
    if (sidecar && listener.value("name", "") != "virtualInbound") continue;
    for (const json& chain : listener.value("filter_chains", json::array())) {
      if (chain.value("name", "") != "virtualInbound-blackhole") AddChain(chain, http, tcp);
    }
  }
}

Authorization AuthorizationOf(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope) {
  // "host" or "namespace/host".
  const auto find = [&](std::string_view service) -> Interned {
    const size_t slash = service.find('/');
    if (slash != std::string_view::npos) {
      const auto found = snapshot.services->Find(service.substr(slash + 1), service.substr(0, slash));
      return found == nullptr ? Interned() : found->hostname;
    }
    const auto& found = snapshot.services->ByHost(service);
    return found.size() == 1 ? found.front()->hostname : Interned();
  };
  return CollectAuthorization(
      snapshot.policies->Select(config::Kind::kAuthorizationPolicy, {scope.proxy->ns, scope.labels}),
      *snapshot.settings, find);
}

template <typename Build>
Filters Made(const Authorization& authorization, Build build) {
  Filters filters;
  for (const bool custom : {true, false}) {
    for (const auto& filter : build(authorization, AccessChain{.custom = custom})) {
      filters.insert(ToJson(filter));
    }
  }
  return filters;
}

bool Has(const corpus::Case& one, config::Kind kind) {
  return std::any_of(one.objects.begin(), one.objects.end(),
                     [kind](const config::ConfigPtr& object) { return object->kind() == kind; });
}

// Returns how many of the case's proxies have filters of that sort.
int CheckCase(const corpus::Case& one) {
  const mesh::SnapshotPtr snapshot = corpus::MeshOfObjects(one.settings).Apply(one.objects);
  int checked = 0;
  for (const corpus::NamedProxy& proxy : one.proxies) {
    if (proxy.proxy->metadata.generator == "grpc") continue;
    Seen http, tcp;
    LookAt(one.Golden(proxy.name), proxy.proxy->type == model::ProxyType::kSidecar, &http, &tcp);
    const auto scope = mesh::ComputeProxyScope(*snapshot, proxy.proxy);
    const Authorization authorization = AuthorizationOf(*snapshot, *scope);
    const std::string where = one.name + " " + proxy.name;
    if (http.has_chain) {
      EXPECT_EQ(Made(authorization, BuildHttpAccess), http.filters) << where;
    }
    if (tcp.has_chain) {
      EXPECT_EQ(Made(authorization, BuildNetworkAccess), tcp.filters) << where;
    }
    checked += http.filters.empty() && tcp.filters.empty() ? 0 : 1;
  }
  return checked;
}

TEST(Authorization, ProxiesGetTheFiltersThatIstiodSends) {
  int checked = 0;
  for (const std::string& name : corpus::FindCases(CasesFolder(), "")) {
    const auto loaded = corpus::LoadCase(CasesFolder(), name);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    // EnvoyFilters may change any filter.
    if (!Has(*loaded, config::Kind::kEnvoyFilter)) checked += CheckCase(*loaded);
  }
  EXPECT_GE(checked, 4) << "the cases are there and have policies";
}

}  // namespace
}  // namespace fairlead::gen::security
