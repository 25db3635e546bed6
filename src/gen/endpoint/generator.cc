#include "gen/generator.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cache/byte_cache.h"
#include "cache/memo.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "gen/endpoint/assignment_list.h"
#include "gen/endpoint/assignment_table.h"
#include "gen/endpoint/build.h"
#include "gen/endpoint/client_class.h"
#include "gen/endpoint/collect.h"
#include "gen/naming/unknown_answer.h"

namespace fairlead::gen {
namespace {

// EDS. Names are those of EDS clusters; a name of nothing that the proxy sees gets an empty assignment, as
// Envoy waits for one. There is no wildcard. Of the two parts one is the same for all clients of a class, the
// other holds what depends on more of the client.
class EndpointGenerator : public Generator {
 public:
  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    return request.names == nullptr ? std::vector<cache::ResourcePtr>()
                                    : ResourcesOf(Answers(request, *request.names));
  }

  size_t PartCount() const override { return 2; }

  PartStamp Stamp(const Request& request, size_t /*part*/) const override {
    const mesh::InputRevisions revisions = request.snapshot.RevisionsFor(*request.scope.sidecar);
    return {request.scope.own_id, request.scope.sidecar->imports_id,
            std::max(TableStamp(revisions), revisions.endpoints)};
  }

  std::optional<std::string> PartKey(const Request& request, size_t part) override {
    const TablePtr table = TableOf(request);
    const mesh::SidecarScope& sidecar = *request.scope.sidecar;
    const uint64_t imports = sidecar.imports_id != 0 ? sidecar.imports_id : sidecar.id;
    if (part == kShared) return StrCat(table->id(), "|", imports);
    const uint8_t reads = table->client_reads();  // whole, as the first part was made before
    std::string key = StrCat(table->id(), "|", imports, "|", reads);
    if (reads & kReadsLocality) StrAppend(&key, "|", request.scope.locality.ToString());
    if (reads & kReadsSelf) StrAppend(&key, "|", request.scope.own_id);
    if (reads & kReadsLabels) {
      for (const auto& [name, value] : request.scope.labels) StrAppend(&key, "|", name, "=", value);
    }
    // Without a number of its own, a client is like no other.
    return (reads & kReadsSelf) != 0 && request.scope.own_id == 0 ? std::nullopt : std::optional(key);
  }

  std::vector<cache::ResourcePtr> GeneratePart(const Request& request, size_t part) override {
    if (request.names == nullptr) return {};
    const AssignmentList::Answer answer = [&](const std::vector<std::string>& names) {
      return Answers(request, names);
    };
    const ListKey key{ClientClass(request.scope), request.names_id};
    const auto list = request.names_id == 0
                          ? std::make_shared<AssignmentList>()
                          : *lists_.Get(key, TableStamp(request.snapshot.revisions),
                                        [](const ListKey&) { return std::make_shared<AssignmentList>(); });
    if (part == kShared) return list->Shared(request.snapshot.endpoints, *request.names, answer);
    return ResourcesOf(Answers(request, list->PerClient(request.snapshot.endpoints, *request.names, answer)));
  }

  void Sweep() override {
    tables_.Sweep();
    lists_.Sweep();
    cache_.Sweep();
  }

 private:
  enum Part : size_t { kShared, kPerClient };
  using TablePtr = std::shared_ptr<AssignmentTable>;

  // Of what assignments are made from besides endpoints and what the client sees.
  static uint64_t TableStamp(const mesh::InputRevisions& revisions) {
    return std::max({revisions.settings, revisions.networks, revisions.peer_authentications});
  }

  TablePtr TableOf(const Request& request) {
    return *tables_.Get(ClientKind(*request.scope.proxy), TableStamp(request.snapshot.revisions),
                        [](const ClientKind&) { return std::make_shared<AssignmentTable>(); });
  }

  // Of all names, with their resources.
  std::vector<AssignmentTable::Answer> Answers(const Request& request,
                                               const std::vector<std::string>& names) {
    if (names.empty()) return {};
    const TablePtr table = TableOf(request);
    std::vector<AssignmentTable::Answer> answers =
        table->Find(request.snapshot.endpoints, *request.scope.sidecar, names);
    for (size_t i = 0; i < names.size(); ++i) {
      if (answers[i].resource == nullptr) Make(request, names[i], table.get(), &answers[i]);
    }
    return answers;
  }

  static std::vector<cache::ResourcePtr> ResourcesOf(std::vector<AssignmentTable::Answer> answers) {
    std::vector<cache::ResourcePtr> resources;
    resources.reserve(answers.size());
    for (AssignmentTable::Answer& answer : answers) resources.push_back(std::move(answer.resource));
    return resources;
  }

  void Make(const Request& request, const std::string& name, AssignmentTable* table,
            AssignmentTable::Answer* answer) {
    const EndpointInputs inputs = CollectEndpoints(request.snapshot, request.scope, name);
    if (inputs.service == nullptr) {
      const auto build = [&] { return Encode(name, BuildLoadAssignment(inputs)); };
      answer->resource = UnknownAnswer(cache::TypeId::kEndpoint, name, build);
      return;
    }
    answer->resource = cache_.GetOrBuild(
        inputs, [](const EndpointInputs& in) { return Encode(in.cluster_name, BuildLoadAssignment(in)); });
    answer->client_reads = inputs.client_reads;
    answer->service = inputs.service;
    if (!answer->known) table->Add(request.snapshot.endpoints, inputs, answer->resource);
  }

  struct ListKey {
    ClientClass clients;
    uint64_t names_id;
    friend bool operator==(const ListKey&, const ListKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const ListKey& key) {
      return H::combine(std::move(h), key.clients, key.names_id);
    }
  };

  cache::Memo<ClientKind, TablePtr> tables_;
  cache::Memo<ListKey, std::shared_ptr<AssignmentList>> lists_;
  cache::ByteCache<EndpointInputs> cache_;
};

}  // namespace

std::unique_ptr<Generator> NewEndpointGenerator() { return std::make_unique<EndpointGenerator>(); }

}  // namespace fairlead::gen
