#include "gen/endpoint/assignment_list.h"

#include <numeric>
#include <utility>

namespace fairlead::gen {

// REQUIRES: mutex_ held.
void AssignmentList::MoveTo(const EndpointsPtr& endpoints, const std::vector<std::string>& names,
                            const Answer& answer) {
  if (endpoints_ == endpoints) return;
  std::vector<uint32_t> due;
  if (endpoints_ == nullptr) {
    resources_.resize(names.size());
    due.resize(names.size());
    std::iota(due.begin(), due.end(), 0);
  }
  for (auto& [service, seen] : services_) {
    model::ServiceEndpointsPtr now = endpoints->Find(service->hostname, service->ns);
    if (now == seen.endpoints) continue;
    seen.endpoints = std::move(now);
    due.insert(due.end(), seen.positions.begin(), seen.positions.end());
  }
  std::vector<std::string> wanted;
  wanted.reserve(due.size());
  for (uint32_t position : due) wanted.push_back(names[position]);
  const std::vector<AssignmentTable::Answer> answers = answer(wanted);
  for (size_t i = 0; i < due.size(); ++i) {
    resources_[due[i]] = answers[i].client_reads == 0 ? answers[i].resource : nullptr;
    if (endpoints_ != nullptr || answers[i].service == nullptr) continue;
    const model::ServicePtr& service = answers[i].service;
    Seen& seen = services_[service];
    if (seen.positions.empty()) seen.endpoints = endpoints->Find(service->hostname, service->ns);
    seen.positions.push_back(due[i]);
  }
  endpoints_ = endpoints;
}

std::vector<cache::ResourcePtr> AssignmentList::Shared(const EndpointsPtr& endpoints,
                                                       const std::vector<std::string>& names,
                                                       const Answer& answer) {
  std::lock_guard lock(mutex_);
  MoveTo(endpoints, names, answer);
  std::vector<cache::ResourcePtr> shared;
  shared.reserve(resources_.size());
  for (const cache::ResourcePtr& resource : resources_) {
    if (resource != nullptr) shared.push_back(resource);
  }
  return shared;
}

std::vector<std::string> AssignmentList::PerClient(const EndpointsPtr& endpoints,
                                                   const std::vector<std::string>& names,
                                                   const Answer& answer) {
  std::lock_guard lock(mutex_);
  MoveTo(endpoints, names, answer);
  std::vector<std::string> differing;
  for (size_t i = 0; i < resources_.size(); ++i) {
    if (resources_[i] == nullptr) differing.push_back(names[i]);
  }
  return differing;
}

}  // namespace fairlead::gen
