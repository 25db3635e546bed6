#include "gen/endpoint/assignment_table.h"

#include <utility>

namespace fairlead::gen {

// REQUIRES: mutex_ held.
void AssignmentTable::MoveTo(const EndpointsPtr& endpoints) {
  if (endpoints_ == endpoints) return;
  absl::erase_if(services_, [&](const auto& entry) {
    const auto& [service, seen] = entry;
    const model::ServiceEndpointsPtr now = endpoints->Find(service.first, service.second);
    // A service that is gone has none either.
    if (now != nullptr && now == seen.endpoints) return false;
    for (const Interned& name : seen.names) answers_.erase(std::string_view(name));
    return true;
  });
  endpoints_ = endpoints;
}

// The answer if it holds for the scope, too: if its name stands for the same service and the same rule holds
// there.
AssignmentTable::Answer AssignmentTable::Check(const Entry& entry, const mesh::SidecarScope& scope) {
  static const auto* const kNoLabels = new LabelMap;
  const model::ServicePtr& known = entry.answer.service;
  const std::string_view host = known->hostname;
  const auto service = scope.services_by_host.find(host);
  if (service == scope.services_by_host.end() || service->second != known) return {};
  if (scope.RuleDependsOnLabels(host)) return {true, kReadsLabels, nullptr, known};
  if (scope.FindDestinationRule(host, known->ns, *kNoLabels) != entry.rule) return {};
  return entry.answer;
}

std::vector<AssignmentTable::Answer> AssignmentTable::Find(const EndpointsPtr& endpoints,
                                                           const mesh::SidecarScope& scope,
                                                           const std::vector<std::string>& names) {
  std::vector<Answer> answers(names.size());
  std::lock_guard lock(mutex_);
  MoveTo(endpoints);
  for (size_t i = 0; i < names.size(); ++i) {
    if (auto it = answers_.find(names[i]); it != answers_.end()) answers[i] = Check(it->second, scope);
  }
  return answers;
}

void AssignmentTable::Add(const EndpointsPtr& endpoints, const EndpointInputs& inputs,
                          const cache::ResourcePtr& resource) {
  std::lock_guard lock(mutex_);
  client_reads_ |= inputs.client_reads;
  // Somebody may have asked as of another snapshot meanwhile.
  if (endpoints_ != endpoints || inputs.service == nullptr) return;
  const Answer answer{true, inputs.client_reads, inputs.client_reads == 0 ? resource : nullptr,
                      inputs.service};
  Entry entry{resource->name, answer, inputs.rule};
  const std::string_view key = entry.name;
  answers_.insert_or_assign(key, std::move(entry));
  services_.try_emplace({inputs.service->hostname, inputs.service->ns}, Seen{inputs.endpoints, {}})
      .first->second.names.insert(resource->name);
}

uint8_t AssignmentTable::client_reads() const {
  std::lock_guard lock(mutex_);
  return client_reads_;
}

}  // namespace fairlead::gen
