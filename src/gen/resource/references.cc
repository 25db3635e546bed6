#include "gen/resource/references.h"

#include <google/protobuf/any.pb.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol.pb.h"
#include "envoy/extensions/transport_sockets/quic/v3/quic_transport.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "proto/field_reader.h"

namespace fairlead::gen {
namespace {

namespace hcm = envoy::extensions::filters::network::http_connection_manager::v3;
namespace tls = envoy::extensions::transport_sockets::tls::v3;
using cache::TypeId;
using envoy::config::cluster::v3::Cluster;
using envoy::config::core::v3::ConfigSource;
using envoy::config::core::v3::TransportSocket;
using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::extensions::transport_sockets::proxy_protocol::v3::ProxyProtocolUpstreamTransport;
using envoy::extensions::transport_sockets::quic::v3::QuicDownstreamTransport;
using google::protobuf::Any;
using proto::FieldReader;

// The content of a message field; "" where there is none. Of several the last, as for protobuf.
std::string_view FieldOf(std::string_view message, int number) {
  std::string_view found;
  for (FieldReader field(message); field.Next();) {
    if (static_cast<int>(field.number()) == number) found = field.bytes();
  }
  return found;
}

bool HasField(std::string_view message, int number) {
  for (FieldReader field(message); field.Next();) {
    if (static_cast<int>(field.number()) == number) return true;
  }
  return false;
}

template <typename T>
bool Holds(std::string_view type_url) {
  static const auto* const name = new std::string(T::descriptor()->full_name());
  return type_url.ends_with(*name) && type_url.substr(0, type_url.size() - name->size()).ends_with('/');
}

class Collector {
 public:
  std::vector<cache::Reference> Take() {
    std::sort(references_.begin(), references_.end());
    references_.erase(std::unique(references_.begin(), references_.end()), references_.end());
    references_.shrink_to_fit();
    return std::move(references_);
  }

  void Add(const Cluster& cluster) {
    if (cluster.type() == Cluster::EDS) {
      const std::string& service = cluster.eds_cluster_config().service_name();
      Add(TypeId::kEndpoint, service.empty() ? cluster.name() : service);
    }
    AddSocket(cluster.transport_socket());
    for (const auto& match : cluster.transport_socket_matches()) AddSocket(match.transport_socket());
  }

  void Add(const Listener& listener) {
    // What gRPC reads.
    AddNetworkFilter(listener.api_listener().api_listener());
    for (const auto& filter : listener.listener_filters()) {
      if (filter.has_config_discovery()) Add(TypeId::kExtension, filter.name());
    }
    for (const FilterChain& chain : listener.filter_chains()) AddChain(chain);
    if (listener.has_default_filter_chain()) AddChain(listener.default_filter_chain());
  }

 private:
  void Add(TypeId type, std::string_view name) { references_.push_back({type, Interned(name)}); }

  void AddChain(const FilterChain& chain) {
    for (const auto& filter : chain.filters()) {
      if (filter.has_config_discovery()) Add(TypeId::kExtension, filter.name());
      AddNetworkFilter(filter.typed_config());
    }
    if (chain.has_transport_socket()) AddSocket(chain.transport_socket());
  }

  void AddNetworkFilter(const Any& config) {
    if (Holds<hcm::HttpConnectionManager>(config.type_url())) AddConnectionManager(config.value());
  }

  void AddConnectionManager(std::string_view manager) {
    using Manager = hcm::HttpConnectionManager;
    for (FieldReader field(manager); field.Next();) {
      if (field.number() == Manager::kRdsFieldNumber)
        Add(TypeId::kRoute, FieldOf(field.bytes(), hcm::Rds::kRouteConfigNameFieldNumber));
      if (field.number() == Manager::kScopedRoutesFieldNumber) AddScopedRoutes(field.bytes());
      if (field.number() == Manager::kHttpFiltersFieldNumber) AddHttpFilter(field.bytes());
    }
  }

  void AddHttpFilter(std::string_view filter) {
    if (HasField(filter, hcm::HttpFilter::kConfigDiscoveryFieldNumber))
      Add(TypeId::kExtension, FieldOf(filter, hcm::HttpFilter::kNameFieldNumber));
  }

  // Scopes that are listed in place name route configurations; those that are discovered are of a type that
  // is not served.
  void AddScopedRoutes(std::string_view scoped) {
    using List = hcm::ScopedRouteConfigurationsList;
    using envoy::config::route::v3::ScopedRouteConfiguration;
    const auto list = FieldOf(scoped, hcm::ScopedRoutes::kScopedRouteConfigurationsListFieldNumber);
    for (FieldReader scope(list); scope.Next();) {
      if (scope.number() != List::kScopedRouteConfigurationsFieldNumber) continue;
      const auto name = FieldOf(scope.bytes(), ScopedRouteConfiguration::kRouteConfigurationNameFieldNumber);
      if (!name.empty()) Add(TypeId::kRoute, name);
    }
  }

  void AddSocket(const TransportSocket& socket) {
    AddSocket(socket.typed_config().type_url(), socket.typed_config().value());
  }

  void AddSocket(std::string_view type_url, std::string_view config) {
    if (Holds<tls::UpstreamTlsContext>(type_url)) {
      AddTls(FieldOf(config, tls::UpstreamTlsContext::kCommonTlsContextFieldNumber));
    } else if (Holds<tls::DownstreamTlsContext>(type_url)) {
      AddTls(FieldOf(config, tls::DownstreamTlsContext::kCommonTlsContextFieldNumber));
    } else if (Holds<QuicDownstreamTransport>(type_url)) {
      AddTls(FieldOf(FieldOf(config, QuicDownstreamTransport::kDownstreamTlsContextFieldNumber),
                     tls::DownstreamTlsContext::kCommonTlsContextFieldNumber));
    } else if (Holds<ProxyProtocolUpstreamTransport>(type_url)) {
      const auto inner = FieldOf(config, ProxyProtocolUpstreamTransport::kTransportSocketFieldNumber);
      const auto any = FieldOf(inner, TransportSocket::kTypedConfigFieldNumber);
      AddSocket(FieldOf(any, Any::kTypeUrlFieldNumber), FieldOf(any, Any::kValueFieldNumber));
    }
  }

  void AddTls(std::string_view common) {
    using Common = tls::CommonTlsContext;
    using Combined = Common::CombinedCertificateValidationContext;
    for (FieldReader field(common); field.Next();) {
      switch (field.number()) {
        case Common::kTlsCertificateSdsSecretConfigsFieldNumber:
        case Common::kValidationContextSdsSecretConfigFieldNumber:
          AddSecret(field.bytes());
          break;
        case Common::kCombinedValidationContextFieldNumber:
          AddSecret(FieldOf(field.bytes(), Combined::kValidationContextSdsSecretConfigFieldNumber));
          break;
        default:
          break;
      }
    }
  }

  // The agent's and other servers' secrets are none of this stream's.
  void AddSecret(std::string_view secret) {
    const auto source = FieldOf(secret, tls::SdsSecretConfig::kSdsConfigFieldNumber);
    if (HasField(source, ConfigSource::kAdsFieldNumber))
      Add(TypeId::kSecret, FieldOf(secret, tls::SdsSecretConfig::kNameFieldNumber));
  }

  std::vector<cache::Reference> references_;
};

}  // namespace

std::vector<cache::Reference> ReferencesOf(const google::protobuf::Message& message) {
  Collector collector;
  if (message.GetDescriptor() == Cluster::descriptor()) {
    collector.Add(static_cast<const Cluster&>(message));
  } else if (message.GetDescriptor() == Listener::descriptor()) {
    collector.Add(static_cast<const Listener&>(message));
  }
  return collector.Take();
}

}  // namespace fairlead::gen
