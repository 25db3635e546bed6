#include "gen/generator.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cache/byte_cache.h"
#include "cache/memo.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "gen/endpoint/build.h"
#include "gen/endpoint/client_class.h"
#include "gen/endpoint/collect.h"

namespace fairlead::gen {
namespace {

// The assignments of one class of clients by cluster name, filled as they are asked for. Thread-safe.
class AssignmentTable {
 public:
  struct Answer {
    bool known = false;
    bool per_client = false;  // differs from client to client: `resource` is not kept
    cache::ResourcePtr resource;
  };

  // The answers for all names at once: one lock, as a proxy asks for a thousand.
  std::vector<Answer> Find(const std::vector<std::string>& names) const {
    std::vector<Answer> answers(names.size());
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < names.size(); ++i) {
      if (auto it = answers_.find(names[i]); it != answers_.end()) answers[i] = it->second;
    }
    return answers;
  }
  void Add(const std::string& name, const Answer& answer) const {
    std::lock_guard lock(mutex_);
    answers_.try_emplace(name, answer);
  }

 private:
  mutable std::mutex mutex_;
  mutable StringMap<Answer> answers_;
};

// EDS. Names are those of EDS clusters; a name of nothing that the proxy sees gets an empty assignment, as
// Envoy waits for one. There is no wildcard.
class EndpointGenerator : public Generator {
 public:
  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    if (request.names == nullptr) return {};
    const std::vector<std::string>& names = *request.names;
    const auto table = tables_.Get(ClientClass(request.snapshot, request.scope),
                                   [](const ClientClass&) { return std::make_shared<AssignmentTable>(); });
    std::vector<AssignmentTable::Answer> answers = (*table)->Find(names);
    std::vector<cache::ResourcePtr> resources;
    resources.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      if (answers[i].known && !answers[i].per_client) {
        resources.push_back(std::move(answers[i].resource));
        continue;
      }
      const EndpointInputs inputs = CollectEndpoints(request.snapshot, request.scope, names[i]);
      resources.push_back(cache_.GetOrBuild(
          inputs, [](const EndpointInputs& in) { return Encode(in.cluster_name, BuildLoadAssignment(in)); }));
      if (answers[i].known) continue;
      (*table)->Add(names[i], {true, inputs.per_client, inputs.per_client ? nullptr : resources.back()});
    }
    return resources;
  }

  void Sweep() override {
    tables_.Clear();
    cache_.Sweep();
  }

 private:
  cache::Memo<ClientClass, std::shared_ptr<AssignmentTable>> tables_;  // of the current snapshot
  cache::ByteCache<EndpointInputs> cache_;
};

}  // namespace

std::unique_ptr<Generator> NewEndpointGenerator() { return std::make_unique<EndpointGenerator>(); }

}  // namespace fairlead::gen
