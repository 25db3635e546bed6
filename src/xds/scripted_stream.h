#ifndef FAIRLEAD_XDS_SCRIPTED_STREAM_H_
#define FAIRLEAD_XDS_SCRIPTED_STREAM_H_

// For tests: scripts of what a client says and sees on one stream. Not safe for use by several threads.

#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "xds/stream_core.h"

namespace fairlead::xds {

using Names = std::vector<std::string>;

// A cluster that takes its endpoints from EDS, a listener that asks for the routes `children`, or what refers
// to nothing; `content` makes the difference between two of one name.
inline ResourcePtr MakeResource(TypeId type, const std::string& name, const std::string& content,
                                const Names& children = {}) {
  auto resource = std::make_shared<cache::Resource>();
  resource->name = name;
  google::protobuf::Any any;
  any.set_type_url("type.googleapis.com/text");
  any.set_value(StrCat(name, "=", content, " ", Join(children, ",")));
  resource->any = any.SerializeAsString();
  resource->hash = StableHash(resource->any.plain());
  if (type == TypeId::kCluster) resource->references = {{TypeId::kEndpoint, resource->name}};
  if (type == TypeId::kListener) {
    for (const std::string& child : children) resource->references.push_back({TypeId::kRoute, child});
    std::sort(resource->references.begin(), resource->references.end());
  }
  return resource;
}

// One stream with its client and a mesh of resources by type and name.
class Script {
 public:
  explicit Script(Framing framing, const std::string& prefix = "n",
                  AnswerWhen answers = AnswerWhen::kWhatDiffers, const RequestLimits& limits = {})
      : core_(framing, ~0u, prefix, answers, limits) {}

  std::map<TypeId, std::map<std::string, ResourcePtr>> mesh;
  void Put(TypeId type, const std::string& name, const std::string& content, const Names& children = {}) {
    mesh[type][name] = MakeResource(type, name, content, children);
  }

  // What the client says.
  RequestVerdict::Kind Say(TypeId type, const Names& subscribe, const std::string& nonce = "",
                           const Names& unsubscribe = {},
                           const std::map<std::string, std::string>& initial = {},
                           const std::string& error = "") {
    const auto take = [&](auto request) {
      request.set_type_url(std::string(InfoOf(type).url));
      request.set_response_nonce(nonce);
      if (!error.empty()) request.mutable_error_detail()->set_message(error);
      const std::string bytes = request.SerializeAsString();
      const RequestVerdict verdict = core_.OnRequest(*core_.Decode(bytes));
      excess_ = verdict.excess;
      return verdict.kind;
    };
    if (core_.framing() == Framing::kStateOfTheWorld) {
      envoy::service::discovery::v3::DiscoveryRequest request;
      for (const auto& name : subscribe) request.add_resource_names(name);
      return take(request);
    }
    envoy::service::discovery::v3::DeltaDiscoveryRequest request;
    for (const auto& name : subscribe) request.add_resource_names_subscribe(name);
    for (const auto& name : unsubscribe) request.add_resource_names_unsubscribe(name);
    for (const auto& [name, version] : initial)
      (*request.mutable_initial_resource_versions())[name] = version;
    return take(request);
  }
  RequestVerdict::Kind Ack(TypeId type, const Names& names = {}) { return Say(type, names, LastNonce(type)); }
  RequestVerdict::Kind Nack(TypeId type, const Names& names = {}) {
    return Say(type, names, LastNonce(type), {}, {}, "bad");
  }
  void Change(uint32_t types = ~0u) { core_.OnChange(types); }
  void Quiet() { core_.OnQuiet(); }

  // Lets the server send all it wants to: one line a response, "CDS a b -gone".
  Names Sent() {
    Names lines;
    while (auto wanted = core_.Next()) {
      auto response = core_.Offer(wanted->type, Make(*wanted));
      if (!response) continue;
      EXPECT_FALSE(response->version.empty());
      EXPECT_TRUE(nonces_.insert(response->nonce).second) << "a nonce came twice";
      last_nonce_[response->type] = response->nonce;
      last_version_[response->type] = response->version;
      std::set<std::string> names;
      for (const auto& list : response->lists) {
        for (const auto& resource : list->resources()) names.insert(resource->name.str());
      }
      for (const auto& resource : response->resources) names.insert(resource->name.str());
      std::string line(InfoOf(response->type).name);
      for (const auto& name : names) StrAppend(&line, " ", name);
      for (const auto& name : response->removed) StrAppend(&line, " -", name.str());
      lines.push_back(line);
    }
    return lines;
  }
  std::string LastNonce(TypeId type) { return last_nonce_[type]; }
  std::string LastVersion(TypeId type) { return last_version_[type]; }
  std::string VersionOf(TypeId type, const std::string& name) { return ToHex(mesh[type][name]->hash); }
  StreamCore& core() { return core_; }
  const std::string& Excess() const { return excess_; }  // as the last verdict says
  size_t MadeNames() const { return made_names_; }       // how often a resource was made by name

 private:
  ResourceSetPtr Make(const StreamCore::Wanted& wanted) {
    std::vector<ResourcePtr> made;
    const auto& all = mesh[wanted.type];
    if (wanted.names == nullptr) {
      for (const auto& [name, resource] : all) made.push_back(resource);
    } else {
      made_names_ += wanted.names->size();
      for (const std::string& name : wanted.names->names()) {
        if (const auto at = all.find(name); at != all.end()) made.push_back(at->second);
      }
    }
    return ResourceSet::Of(std::move(made));
  }

  StreamCore core_;
  std::string excess_;
  size_t made_names_ = 0;
  std::set<std::string> nonces_;
  std::map<TypeId, std::string> last_nonce_, last_version_;
};

// A mesh of two clusters with endpoints, and a listener with a route.
inline void PutSmallMesh(Script* script) {
  for (const char* name : {"a", "b"}) {
    script->Put(TypeId::kCluster, name, "1");
    script->Put(TypeId::kEndpoint, name, "1");
  }
  script->Put(TypeId::kListener, "l", "1", {"r"});
  script->Put(TypeId::kRoute, "r", "1");
}

// Asks for all of that mesh and ACKs it, as Envoy does.
inline void ConnectToSmallMesh(Script* script, const Names& routes = {"r"}) {
  const std::pair<TypeId, Names> asks[] = {{TypeId::kCluster, {}},
                                           {TypeId::kEndpoint, {"a", "b"}},
                                           {TypeId::kListener, {}},
                                           {TypeId::kRoute, routes}};
  for (const auto& [type, names] : asks) {
    script->Say(type, names);
    script->Sent();
    script->Ack(type, script->core().framing() == Framing::kDelta ? Names() : names);
  }
}

inline constexpr TypeId kC = TypeId::kCluster, kE = TypeId::kEndpoint, kL = TypeId::kListener,
                        kR = TypeId::kRoute;

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_SCRIPTED_STREAM_H_
