#ifndef FAIRLEAD_MESH_VIEW_CLIENT_QUESTIONS_H_
#define FAIRLEAD_MESH_VIEW_CLIENT_QUESTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/index/question.h"
#include "mesh/view/proxy_scope.h"

// Questions about the client itself. See question.h.
namespace fairlead::mesh::questions {

struct Class {
  static const model::ProxyClassPtr& Answer(const ProxyScope& client) { return client.proxy->proxy_class; }
};

struct Namespace {
  static const std::string& Answer(const ProxyScope& client) { return client.proxy->ns; }
};

// See ProxyScope.
struct SidecarKey {
  static const Interned& Answer(const ProxyScope& client) { return client.sidecar_key; }
};

// A label by its key; nothing where it is absent.
struct Label {
  static std::optional<std::string_view> Answer(const ProxyScope& client, const Interned& key) {
    const auto it = client.labels.find(std::string_view(key));
    return it == client.labels.end() ? std::nullopt : std::optional<std::string_view>(it->second);
  }
};

// Whether it has any label.
struct IsLabelled {
  static bool Answer(const ProxyScope& client) { return !client.labels.empty(); }
};

struct Locality {
  static const model::Locality& Answer(const ProxyScope& client) { return client.locality; }
};

struct NodeName {
  static const std::string& Answer(const ProxyScope& client) { return client.proxy->metadata.node_name; }
};

struct WorkloadName {
  static const std::string& Answer(const ProxyScope& client) { return client.proxy->metadata.workload_name; }
};

struct MetadataNamespace {
  static const std::string& Answer(const ProxyScope& client) { return client.proxy->metadata.ns; }
};

struct Domain {
  static const std::string& Answer(const ProxyScope& client) { return client.proxy->domain; }
};

// Of its metadata, by its key; "" where it is absent.
struct Annotation {
  static std::string_view Answer(const ProxyScope& client, const Interned& key) {
    return model::RawEntry(client.proxy->metadata, "ANNOTATIONS", key.str()).value_or("");
  }
};

// Of the node's metadata, by its key; nothing where there is no text.
struct Metadata {
  static std::optional<std::string_view> Answer(const ProxyScope& client, const Interned& key) {
    return model::RawText(client.proxy->metadata, key.str());
  }
};

struct NodeCluster {
  static const std::string& Answer(const ProxyScope& client) { return client.proxy->cluster; }
};

struct MeshId {
  static const std::string& Answer(const ProxyScope& client) { return client.proxy->metadata.mesh_id; }
};

// Whether an address is its first.
struct HasAddress {
  static bool Answer(const ProxyScope& client, const Interned& address) {
    return client.proxy->ip_addresses.front() == address.str();
  }
};

// The services that its workload serves.
struct Targets {
  static const std::shared_ptr<const std::vector<ServiceTarget>>& Answer(const ProxyScope& client) {
    return client.targets;
  }
};

// Where their ports lead.
struct TargetPorts {
  static std::vector<GatewayTarget> Answer(const ProxyScope& client);
};

// PeerAuthentication as it holds for the workload.
struct OwnMutualTls {
  static const std::shared_ptr<const PeerAuthentication>& Answer(const ProxyScope& client) {
    return client.peer_authentication;
  }
};

// Who it has proven to be.
struct Identity {
  static const std::optional<model::PeerIdentity>& Answer(const ProxyScope& client) {
    return client.proxy->identity;
  }
};

// All that it says of itself.
struct Proxy {
  static const model::ProxyPtr& Answer(const ProxyScope& client) { return client.proxy; }
};

using OfClient = Rows<Class, Namespace, SidecarKey, Label, IsLabelled, Locality, NodeName, WorkloadName,
                      MetadataNamespace, Domain, Annotation, Metadata, NodeCluster, MeshId, HasAddress,
                      Targets, TargetPorts, OwnMutualTls, Identity, Proxy>;

}  // namespace fairlead::mesh::questions

#endif  // FAIRLEAD_MESH_VIEW_CLIENT_QUESTIONS_H_
