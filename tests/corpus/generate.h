#ifndef FAIRLEAD_TESTS_CORPUS_GENERATE_H_
#define FAIRLEAD_TESTS_CORPUS_GENERATE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/resource.h"
#include "gen/generator.h"
#include "mesh/index/snapshot.h"
#include "model/proxy.h"
#include "nlohmann/json.hpp"

// What a proxy would hold, without a server: the generators are asked as a proxy asks, roots first, then by
// name.
namespace fairlead::corpus {

// Kind ("clusters", "endpoints", "listeners", "routes", "secrets") -> resources.
using Resources = std::map<std::string, std::vector<cache::ResourcePtr>>;

// The generators of one run; caches live as long as it does.
class Generators {
 public:
  Generators();
  // `golden` (may be null): take the names to ask for from there, not from what our clusters and listeners
  // say. A gRPC client asks by our own names alone.
  Resources For(const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                const nlohmann::json* golden);
  // What the agent's DNS server is told.
  cache::ResourcePtr NameTable(const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy);

 private:
  Resources ForProxyless(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope);

  std::unique_ptr<gen::Generator> clusters_, endpoints_, listeners_, routes_, secrets_, extensions_,
      name_table_;
  std::unique_ptr<gen::Generator> grpc_clusters_, grpc_listeners_, grpc_routes_;
};

// What a proxy that has these resources asks for: kind -> names, from its EDS clusters and RDS connection
// managers.
std::map<std::string, std::vector<std::string>> AskedFor(const Resources& resources);

}  // namespace fairlead::corpus

#endif  // FAIRLEAD_TESTS_CORPUS_GENERATE_H_
