#include "simulate/simulate.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/filters/network/sni_cluster/v3/sni_cluster.pb.h"
#include "envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "simulate/access.h"
#include "simulate/connection.h"
#include "simulate/destinations.h"
#include "simulate/http_serving.h"
#include "simulate/objects.h"

namespace fairlead::simulate {
namespace {

using envoy::config::listener::v3::Filter;
using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using envoy::extensions::filters::network::sni_cluster::v3::SniCluster;
using envoy::extensions::filters::network::tcp_proxy::v3::TcpProxy;
using envoy::extensions::transport_sockets::tls::v3::DownstreamTlsContext;

// Network filters that let every connection pass.
constexpr std::array kPassive = {std::string_view("istio.metadata_exchange"), std::string_view("istio.stats"),
                                 std::string_view("envoy.filters.network.mongo_proxy"),
                                 std::string_view("envoy.filters.network.mysql_proxy"),
                                 std::string_view("envoy.filters.network.set_filter_state")};

void Close(std::string reason, SimulationOutcome* outcome) {
  outcome->verdict = CallVerdict::kClosed;
  outcome->reason = std::move(reason);
}

bool TerminatesTls(const FilterChain& chain) {
  return chain.transport_socket().typed_config().Is<DownstreamTlsContext>();
}

// What a client encrypts itself stays so behind a proxy that does not end its TLS.
void PassTls(const SimulatedRequest& request, SimulationOutcome* outcome) {
  for (Destination& destination : outcome->destinations) {
    for (Candidate& candidate : destination.candidates) {
      candidate.transport.passes_tls = true;
      if (!candidate.transport.tls) candidate.transport.server_name = request.tls->server_name;
    }
  }
}

// A gateway's chains have no names: the servers' names stand for them.
std::string TitleOf(const FilterChain& chain) {
  const auto& servers = chain.filter_chain_match().server_names();
  return chain.name().empty() ? Join(std::vector<std::string>(servers.begin(), servers.end()), ", ")
                              : chain.name();
}

// The TLS handshake, where the filter chain has one; false where it fails. `request` is then what is inside.
bool Handshake(const FilterChain& chain, SimulatedRequest* request, SimulationOutcome* outcome) {
  DownstreamTlsContext tls;
  const bool terminates = TerminatesTls(chain) && chain.transport_socket().typed_config().UnpackTo(&tls);
  if (!terminates) {
    // What comes is ciphertext for everybody behind.
    if (request->tls) request->application = Application::kTcp;
    request->identity.clear();
    return true;
  }
  if (!request->tls) {
    Close(StrCat("filter chain ", TitleOf(chain), " expects TLS, the connection is plaintext"), outcome);
    return false;
  }
  if (tls.require_client_certificate().value() && !request->tls->client_certificate) {
    Close(StrCat("filter chain ", TitleOf(chain), " requires a client certificate",
                 request->direction == CallDirection::kGateway ? "" : " of the mesh"),
          outcome);
    return false;
  }
  if (!tls.require_client_certificate().value() || !request->tls->client_certificate)
    request->identity.clear();
  request->scheme = "https";
  return true;
}

void ProxyTcp(const TcpProxy& proxy, const std::string& cluster_of_sni, const ProxyResources& resources,
              const SimulatedRequest& request, SimulationOutcome* outcome) {
  if (!cluster_of_sni.empty()) {
    outcome->destinations.push_back(DestinationOf(resources, cluster_of_sni, request));
  } else if (proxy.has_weighted_clusters()) {
    double total = 0;
    for (const auto& one : proxy.weighted_clusters().clusters()) total += one.weight();
    for (const auto& one : proxy.weighted_clusters().clusters()) {
      if (one.weight() == 0) continue;
      outcome->destinations.push_back(DestinationOf(resources, one.name(), request));
      outcome->destinations.back().percent = 100 * one.weight() / total;
    }
  } else {
    outcome->destinations.push_back(DestinationOf(resources, proxy.cluster(), request));
  }
  SettleDestinations(CallVerdict::kTcp, outcome);
}

void ManageHttp(const HttpConnectionManager& manager, const ProxyResources& resources,
                const SimulatedRequest& request, SimulationOutcome* outcome) {
  if (request.is_http()) {
    ServeHttp(manager, resources, request, outcome);
  } else {
    Close("HTTP is expected, something else comes", outcome);
  }
}

void RunFilters(const FilterChain& chain, const ProxyResources& resources, SimulatedRequest request,
                SimulationOutcome* outcome) {
  std::string cluster_of_sni;
  for (const Filter& filter : chain.filters()) {
    HttpConnectionManager manager;
    TcpProxy proxy;
    const auto& config = filter.typed_config();
    if (config.Is<HttpConnectionManager>() && config.UnpackTo(&manager)) {
      ManageHttp(manager, resources, request, outcome);
      return;
    }
    if (config.Is<TcpProxy>() && config.UnpackTo(&proxy)) {
      ProxyTcp(proxy, cluster_of_sni, resources, request, outcome);
      return;
    }
    if (DecidesAccess(filter.name())) {
      if (RefusedByAccess(filter, &request, outcome)) return;
    } else if (config.Is<SniCluster>()) {
      if (request.tls) cluster_of_sni = request.tls->server_name;
    } else if (std::find(kPassive.begin(), kPassive.end(), filter.name()) == kPassive.end()) {
      outcome->notes.push_back(StrCat("network filter ", filter.name(), " is not simulated: it may close"));
    }
  }
  Close(StrCat("filter chain ", chain.name(), " has no HTTP or TCP proxy"), outcome);
}

void AddClusterObjects(const ProxyResources& resources, SimulationOutcome* outcome) {
  for (const Destination& one : outcome->destinations) {
    const auto found = resources.clusters.find(one.cluster);
    if (found != resources.clusters.end()) AddObjects(found->second.metadata(), outcome);
  }
}

}  // namespace

absl::StatusOr<SimulationOutcome> Simulate(const ProxyResources& resources, const SimulatedRequest& request) {
  SimulatedRequest now = request;
  if (now.source_address.empty()) {
    // The proxy's own workload, or for inbound traffic somebody else.
    now.source_address =
        now.destination_address.find(':') == std::string::npos ? "192.0.2.10" : "2001:db8::10";
  }
  absl::StatusOr<SimulatedConnection> connection = ConnectionOf(now);
  if (!connection.ok()) return connection.status();
  SimulationOutcome outcome;
  const ChosenListener chosen = ChooseListener(resources.listeners, now.direction, *connection);
  if (chosen.served_by == nullptr) {
    Close("no listener takes the connection", &outcome);
    return outcome;
  }
  const Listener& listener = *chosen.served_by;
  if (chosen.accepted_by != chosen.served_by)
    outcome.steps.push_back({"accepted by", chosen.accepted_by->name()});
  outcome.steps.push_back({"listener", listener.name()});
  AddObjects(listener.metadata(), &outcome);
  Inspect(listener, now, &*connection);
  const FilterChain* chain = ChooseFilterChain(listener, *connection);
  if (chain == nullptr) {
    Close(StrCat("no filter chain of listener ", listener.name(), " matches"), &outcome);
    return outcome;
  }
  outcome.steps.push_back({"filter chain", chain->name()});
  if (chain->name().empty() && chain->filter_chain_match().server_names_size() > 0)
    outcome.steps.push_back({"server names", TitleOf(*chain)});
  AddObjects(chain->metadata(), &outcome);
  if (Handshake(*chain, &now, &outcome)) RunFilters(*chain, resources, now, &outcome);
  if (request.tls && !TerminatesTls(*chain)) PassTls(request, &outcome);
  AddClusterObjects(resources, &outcome);
  return outcome;
}

}  // namespace fairlead::simulate
