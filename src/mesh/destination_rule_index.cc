#include "mesh/destination_rule_index.h"

#include <algorithm>
#include <utility>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "mesh/destination_rule_merge.h"
#include "mesh/export_to.h"
#include "mesh/object_index.h"
#include "model/host_name.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using config::ConfigPtr;
using ExportTo = std::set<std::string, std::less<>>;

const api::DestinationRule& SpecOf(const ConfigPtr& object) { return object->Spec<api::DestinationRule>(); }

// Rules with a workloadSelector come before others, as they are looked at first; older ones before younger.
std::vector<ConfigPtr> InMergeOrder(const config::ObjectStore& store) {
  std::vector<ConfigPtr> objects = OldestFirst(store, config::Kind::kDestinationRule);
  std::stable_partition(objects.begin(), objects.end(),
                        [](const ConfigPtr& object) { return SpecOf(object).has_workload_selector(); });
  return objects;
}

// As written; a rule with a workloadSelector stays in its namespace whatever it says.
ExportTo ExportToOf(const ConfigPtr& object) {
  const api::DestinationRule& spec = SpecOf(object);
  if (spec.has_workload_selector()) return {"."};
  return {spec.export_to().begin(), spec.export_to().end()};
}

bool AppliesAtHome(const ExportTo& export_to, std::string_view home) {
  return export_to.empty() || export_to.contains("*") || export_to.contains(".") || export_to.contains(home);
}

// Of the mesh's default only "." counts.
bool StaysAtHome(const ExportTo& export_to, std::string_view home, bool private_by_default) {
  if (export_to.empty()) return private_by_default;
  return export_to.size() == 1 && (export_to.contains(".") || export_to.contains(home));
}

}  // namespace

void DestinationRuleIndexBuilder::AddTo(Groups* groups, std::string_view host, const ConfigPtr& object,
                                        const ExportTo& export_to) {
  std::vector<Group>& of_host = (*groups)[host];
  const api::DestinationRule& rule = SpecOf(object);
  // Istio's outcome, odd cases included: whether the rule also stands alone is what the last candidate says.
  bool alone = true;
  for (Group& group : of_host) {
    const api::DestinationRule& first = SpecOf(group.objects.front());
    const bool same_export = export_to == group.export_to;
    alone = !same_export;
    const bool wider_export =
        !group.export_to.empty() &&
        std::includes(export_to.begin(), export_to.end(), group.export_to.begin(), group.export_to.end());
    if (!same_export && !wider_export) continue;
    if (SelectSameWorkloads(first, rule)) {
      alone = false;
    } else if (first.has_workload_selector() && rule.has_workload_selector()) {
      alone = true;
      continue;
    }
    group.objects.push_back(object);
  }
  if (alone) of_host.push_back({{object}, export_to});
}

std::shared_ptr<const DestinationRuleIndex> DestinationRuleIndexBuilder::Build(
    const config::ObjectStore& store, const model::Settings& settings,
    std::vector<config::Diagnostic>* diagnostics) {
  if (domain_ != settings.domain) made_.clear();
  domain_ = settings.domain;
  const auto& default_export_to = settings.mesh->default_destination_rule_export_to();
  const bool private_by_default =
      std::find(default_export_to.begin(), default_export_to.end(), ".") != default_export_to.end();
  StringMap<Groups> local, exported;
  Groups root_private;
  for (const ConfigPtr& object : InMergeOrder(store)) {
    const std::string& ns = object->ns().str();
    const std::string host = model::QualifyHost(SpecOf(object).host(), ns, domain_);
    const ExportTo export_to = ExportToOf(object);
    if (AppliesAtHome(export_to, ns)) AddTo(&local[ns], host, object, export_to);
    if (!StaysAtHome(export_to, ns, private_by_default)) {
      AddTo(&exported[ns], host, object, export_to);
    } else if (ns == settings.root_namespace) {
      AddTo(&root_private, host, object, export_to);
    }
  }
  for (auto& [objects, made] : made_) made.used = false;
  auto index = std::make_shared<DestinationRuleIndex>();
  index->root_namespace_ = settings.root_namespace;
  for (const auto& [ns, groups] : local) index->local_[ns] = MakeAll(groups);
  for (const auto& [ns, groups] : exported) index->exported_[ns] = MakeAll(groups);
  index->root_private_ = MakeAll(root_private);
  absl::erase_if(made_, [](const auto& entry) { return !entry.second.used; });
  for (const auto& [objects, made] : made_) {
    diagnostics->insert(diagnostics->end(), made.problems.begin(), made.problems.end());
  }
  return index;
}

DestinationRuleIndex::ByHost DestinationRuleIndexBuilder::MakeAll(const Groups& groups) {
  DestinationRuleIndex::ByHost rules;
  groups.ForEach([this, &rules](std::string_view host, const std::vector<Group>& of_host) {
    DestinationRuleIndex::List& list = rules[host];
    list.reserve(of_host.size());
    for (const Group& group : of_host) list.push_back(Make(group));
  });
  return rules;
}

const DestinationRulePtr& DestinationRuleIndexBuilder::Make(const Group& group) {
  std::vector<const config::ConfigObject*> key;
  for (const ConfigPtr& object : group.objects) key.push_back(object.get());
  Made& made = made_[key];
  made.used = true;
  if (made.rule != nullptr) return made.rule;
  const ConfigPtr& first = group.objects.front();
  auto rule = std::make_shared<DestinationRule>();
  rule->objects = group.objects;
  rule->ns = first->ns();
  rule->visibility.everywhere = group.export_to.empty() || group.export_to.contains("*");
  if (!rule->visibility.everywhere) rule->visibility.namespaces = group.export_to;
  rule->spec = first->SharedSpec<api::DestinationRule>();
  std::string host = model::QualifyHost(rule->spec->host(), first->ns(), domain_);
  if (group.objects.size() > 1 || host != rule->spec->host()) {
    auto merged = std::make_shared<api::DestinationRule>(*rule->spec);
    merged->set_host(std::move(host));
    for (size_t i = 1; i < group.objects.size(); ++i) {
      const config::ConfigObject& younger = *group.objects[i];
      for (const std::string& subset :
           MergeDestinationRule(younger.Spec<api::DestinationRule>(), merged.get())) {
        made.problems.push_back(
            {.severity = config::Severity::kWarning,
             .code = "duplicate-subset",
             .file = younger.origin().file.str(),
             .line = younger.origin().line,
             .object = config::KeyOf(younger),
             .path = "spec.subsets",
             .message = StrCat("subset ", subset, " is ignored: an older DestinationRule for ",
                               merged->host(), " has one of that name")});
      }
    }
    rule->spec = std::move(merged);
  }
  made.rule = std::move(rule);
  return made.rule;
}

DestinationRuleIndex::List DestinationRuleIndex::Lookup(std::string_view client_ns,
                                                        const model::Service& service) const {
  const std::string_view hostname = service.hostname;
  // A client in the root namespace goes to the service's namespace first: the root's rules are everybody's
  // last resort and would hide all others. Only what the root namespace keeps to itself is surely meant for
  // it.
  const ByHost* own = nullptr;
  if (client_ns == root_namespace_) {
    own = &root_private_;
  } else if (auto it = local_.find(client_ns); it != local_.end()) {
    own = &it->second;
  }
  if (own != nullptr) {
    if (const List* rules = own->FindMostSpecific(hostname)) return *rules;
  }
  List rules = Exported(exported_, service.ns, hostname, client_ns);
  if (rules.empty()) rules = Exported(exported_, root_namespace_, hostname, client_ns);
  return rules;
}

DestinationRuleIndex::List DestinationRuleIndex::Exported(const StringMap<ByHost>& rules,
                                                          std::string_view owner, std::string_view hostname,
                                                          std::string_view client_ns) {
  List visible;
  auto it = rules.find(owner);
  const List* all = it == rules.end() ? nullptr : it->second.FindMostSpecific(hostname);
  if (all == nullptr) return visible;
  std::copy_if(all->begin(), all->end(), std::back_inserter(visible),
               [client_ns](const DestinationRulePtr& rule) { return rule->visibility.VisibleIn(client_ns); });
  return visible;
}

}  // namespace fairlead::mesh
