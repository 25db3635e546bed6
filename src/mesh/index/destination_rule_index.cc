#include "mesh/index/destination_rule_index.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "mesh/index/destination_rule_merge.h"
#include "mesh/index/export_to.h"
#include "model/host_name.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using config::ConfigPtr;
using ExportTo = std::set<std::string, std::less<>>;

const api::DestinationRule& SpecOf(const ConfigPtr& object) { return object->Spec<api::DestinationRule>(); }

// Rules with a workloadSelector come before others, as they are looked at first; older ones before younger.
void SortForMerging(std::vector<ConfigPtr>* objects) {
  std::sort(objects->begin(), objects->end(),
            [](const ConfigPtr& a, const ConfigPtr& b) { return config::OlderFirst(*a, *b); });
  std::stable_partition(objects->begin(), objects->end(),
                        [](const ConfigPtr& object) { return SpecOf(object).has_workload_selector(); });
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
                                        const ExportTo& export_to) const {
  std::vector<Group>& of_host = (*groups)[host];
  const api::DestinationRule& rule = SpecOf(object);
  // Istio's outcome, odd cases included: whether the rule also stands alone is what the last candidate says.
  bool alone = true;
  for (Group& group : of_host) {
    const api::DestinationRule& first = SpecOf(group.objects.front());
    const bool same_export = export_to == group.export_to;
    if (by_exports_) alone = !same_export;
    const bool wider_export =
        !group.export_to.empty() &&
        std::includes(export_to.begin(), export_to.end(), group.export_to.begin(), group.export_to.end());
    if (by_exports_ && !same_export && !wider_export) continue;
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
    const config::ObjectStore& store, const config::ObjectStore& before, const model::Settings& settings,
    std::vector<config::Diagnostic>* diagnostics) {
  const bool anew = ApplySettings(settings);
  if (anew) {
    namespaces_ = {};
    problems_ = {};
    last_ = nullptr;
  }
  auto index = last_ == nullptr ? std::make_shared<DestinationRuleIndex>()
                                : std::make_shared<DestinationRuleIndex>(*last_);
  index->root_namespace_ = root_namespace_;
  absl::flat_hash_set<Interned> changed;
  const auto& all = store.All(config::Kind::kDestinationRule);
  all.ForEachDifference(
      anew ? config::ObjectStore::ByName() : before.All(config::Kind::kDestinationRule),
      [&changed](const auto& name, const ConfigPtr*, const ConfigPtr*) { changed.insert(name.first); });
  for (const Interned& ns : changed) UpdateNamespace(ns, store, index.get());
  for (const auto& [ns, problems] : problems_)
    diagnostics->insert(diagnostics->end(), problems.begin(), problems.end());
  if (last_ != nullptr && changed.empty()) return last_;
  last_ = index;
  return index;
}

void DestinationRuleIndexBuilder::UpdateNamespace(const Interned& ns, const config::ObjectStore& store,
                                                  DestinationRuleIndex* index) {
  std::vector<ConfigPtr> objects;
  const auto& all = store.All(config::Kind::kDestinationRule);
  for (auto it = all.LowerBound({ns, {}}); it != all.end() && it->first.first == ns; ++it)
    objects.push_back(it->second);
  problems_.Erase(ns);
  if (objects.empty()) {
    namespaces_.Erase(ns);
    index->namespaces_.Erase(ns);
    return;
  }
  const NamespacePtr* before = namespaces_.Find(ns);
  NamespacePtr now = MakeNamespace(ns, std::move(objects), before == nullptr ? nullptr : before->get());
  std::vector<config::Diagnostic> problems;
  for (const auto& [from, made] : now->merged)
    problems.insert(problems.end(), made.problems.begin(), made.problems.end());
  if (!problems.empty()) problems_.Set(ns, std::move(problems));
  index->namespaces_[ns] = now->rules;
  namespaces_[ns] = std::move(now);
}

bool DestinationRuleIndexBuilder::ApplySettings(const model::Settings& settings) {
  const auto& default_export_to = settings.mesh->default_destination_rule_export_to();
  const bool private_by_default =
      std::find(default_export_to.begin(), default_export_to.end(), ".") != default_export_to.end();
  const bool same = domain_ == settings.domain && root_namespace_ == settings.root_namespace &&
                    private_by_default_ == private_by_default &&
                    by_exports_ == settings.features.merge_rules_of_exports;
  domain_ = settings.domain;
  root_namespace_ = settings.root_namespace;
  private_by_default_ = private_by_default;
  by_exports_ = settings.features.merge_rules_of_exports;
  return !same;
}

DestinationRuleIndexBuilder::NamespacePtr DestinationRuleIndexBuilder::MakeNamespace(
    const Interned& ns, std::vector<ConfigPtr> objects, const Namespace* before) const {
  SortForMerging(&objects);
  Groups local, exported, root_private;
  for (const ConfigPtr& object : objects) {
    const std::string host = model::QualifyHost(SpecOf(object).host(), ns, domain_);
    const ExportTo export_to = ExportToOf(object);
    if (AppliesAtHome(export_to, ns)) AddTo(&local, host, object, export_to);
    if (!StaysAtHome(export_to, ns, private_by_default_)) {
      AddTo(&exported, host, object, export_to);
    } else if (ns == root_namespace_) {
      AddTo(&root_private, host, object, export_to);
    }
  }
  auto out = std::make_shared<Namespace>();
  const auto make_all = [&](const Groups& groups) { return MakeAll(groups, before, out.get()); };
  out->rules = std::make_shared<const NamespaceRules>(
      NamespaceRules{make_all(local), make_all(exported), make_all(root_private)});
  return out;
}

NamespaceRules::ByHost DestinationRuleIndexBuilder::MakeAll(const Groups& groups, const Namespace* before,
                                                            Namespace* of) const {
  NamespaceRules::ByHost rules;
  groups.ForEach([&](std::string_view host, const std::vector<Group>& of_host) {
    DestinationRuleIndex::List& list = rules[host];
    list.reserve(of_host.size());
    for (const Group& group : of_host) list.push_back(Find(group, before, of));
  });
  return rules;
}

const DestinationRulePtr& DestinationRuleIndexBuilder::Find(const Group& group, const Namespace* before,
                                                            Namespace* of) const {
  std::vector<const config::ConfigObject*> key;
  key.reserve(group.objects.size());
  for (const ConfigPtr& object : group.objects) key.push_back(object.get());
  const auto [it, is_new] = of->merged.try_emplace(key);
  if (is_new) {
    const MergedRule* known = nullptr;
    if (before != nullptr) {
      if (const auto old = before->merged.find(key); old != before->merged.end()) known = &old->second;
    }
    it->second = known == nullptr ? Make(group) : *known;
  }
  return it->second.rule;
}

DestinationRuleIndexBuilder::MergedRule DestinationRuleIndexBuilder::Make(const Group& group) const {
  MergedRule made;
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
      for (const std::string& subset : MergeDestinationRule(
               younger.Spec<api::DestinationRule>(), OriginOf(younger), OriginOf(*first), merged.get())) {
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
  return made;
}

NamespaceRulesPtr DestinationRuleIndex::Namespace(std::string_view ns) const {
  const NamespaceRulesPtr* rules = namespaces_.Find(ns);
  return rules == nullptr ? nullptr : *rules;
}

DestinationRuleIndex::List DestinationRuleIndex::Lookup(std::string_view client_ns,
                                                        const model::Service& service) const {
  return LookupIn(Namespace(client_ns).get(), Namespace(service.ns).get(), Namespace(root_namespace_).get(),
                  root_namespace_ == client_ns, client_ns, service.hostname);
}

DestinationRuleIndex::List DestinationRuleIndex::LookupIn(const NamespaceRules* client,
                                                          const NamespaceRules* service,
                                                          const NamespaceRules* root, bool client_is_root,
                                                          std::string_view client_ns,
                                                          std::string_view hostname) {
  // A client in the root namespace goes to the service's namespace first: the root's rules are everybody's
  // last resort and would hide all others. Only what the root namespace keeps to itself is surely meant for
  // it.
  if (client != nullptr) {
    const NamespaceRules::ByHost& own = client_is_root ? client->root_private : client->local;
    if (const List* rules = own.FindMostSpecific(hostname)) return *rules;
  }
  List visible;
  for (const NamespaceRules* of : {service, root}) {
    const List* all = of == nullptr ? nullptr : of->exported.FindMostSpecific(hostname);
    if (all == nullptr) continue;
    std::copy_if(
        all->begin(), all->end(), std::back_inserter(visible),
        [client_ns](const DestinationRulePtr& rule) { return rule->visibility.VisibleIn(client_ns); });
    if (!visible.empty()) break;
  }
  return visible;
}

}  // namespace fairlead::mesh
