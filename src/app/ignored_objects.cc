#include "app/ignored_objects.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace fairlead::app {
namespace {

bool IsNamed(std::string_view name, std::string_view list) {
  const std::vector<std::string_view> patterns = Split(list, ',');
  return std::any_of(patterns.begin(), patterns.end(), [name](std::string_view written) {
    const std::string_view pattern = Trim(written);
    return pattern.starts_with("*.") ? name.ends_with(pattern.substr(2)) : name == pattern;
  });
}

// Kubernetes' own kinds are in groups without a dot or in a few of k8s.io; the Gateway API's are in
// sub-groups.
bool HasDefinition(const config::KindInfo& info) {
  constexpr std::string_view kDefined[] = {"istio.io", "gateway.networking.k8s.io",
                                           "gateway.networking.x-k8s.io", "inference.networking.k8s.io"};
  return std::any_of(std::begin(kDefined), std::end(kDefined),
                     [&info](std::string_view group) { return info.group.ends_with(group); });
}

class ObjectFilter : public source::Sink {
 public:
  ObjectFilter(IgnoredObjects ignored, source::Sink* next) : ignored_(std::move(ignored)), next_(next) {}

  void OnChanges(std::vector<config::ObjectChange> changes) override {
    std::erase_if(changes, [this](const config::ObjectChange& change) { return ignored_.Has(change.key); });
    next_->OnChanges(std::move(changes));
  }
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override {
    std::erase_if(objects,
                  [this](const config::ConfigPtr& object) { return ignored_.Has(config::KeyOf(*object)); });
    next_->Replace(kind, std::move(objects));
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    std::erase_if(diagnostics, [this](const config::Diagnostic& diagnostic) {
      return diagnostic.object && ignored_.Has(*diagnostic.object);
    });
    next_->OnDiagnostics(std::move(diagnostics));
  }
  void Synced(config::Kind kind) override { next_->Synced(kind); }
  void OnSynced() override { next_->OnSynced(); }

 private:
  const IgnoredObjects ignored_;
  source::Sink* const next_;
};

}  // namespace

std::set<config::Kind> IgnoredKinds(std::string_view ignored, std::string_view included) {
  std::set<config::Kind> kinds;
  for (const config::KindInfo& info : config::AllKinds()) {
    if (!HasDefinition(info)) continue;
    const std::string name = StrCat(info.plural, ".", info.group);
    if (IsNamed(name, ignored) && !IsNamed(name, included)) kinds.insert(info.kind);
  }
  return kinds;
}

bool IgnoredObjects::Has(const config::ObjectKey& key) const {
  if (kinds.contains(key.kind)) return true;
  if (only_namespace.empty()) return false;
  const config::KindInfo& info = config::InfoOf(key.kind);
  return info.namespaced && !info.group.ends_with("istio.io") && key.ns != only_namespace;
}

IgnoredObjects IgnoredBy(const Environment& environment) {
  return {IgnoredKinds(environment.ignored_resources, environment.included_resources),
          environment.only_namespace};
}

std::unique_ptr<source::Sink> MakeObjectFilter(IgnoredObjects ignored, source::Sink* next) {
  return std::make_unique<ObjectFilter>(std::move(ignored), next);
}

}  // namespace fairlead::app
