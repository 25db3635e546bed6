#include "injection/webhook_choice.h"

#include <algorithm>

#include "base/strings.h"
#include "injection/selector.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

bool Names(const Json& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](const Json& one) { return one == "*" || one == name; });
}

bool IsForNewPods(const Json& rule) {
  const Json& resources = Member(rule, "resources");
  const std::string scope = TextOf(rule, "scope");
  return Names(Member(rule, "operations"), "CREATE") && Names(Member(rule, "apiGroups"), "") &&
         Names(Member(rule, "apiVersions"), "v1") &&
         (Names(resources, "pods") ||
          std::find(resources.begin(), resources.end(), "*/*") != resources.end()) &&
         scope != "Cluster";
}

bool Selects(const Json& selector, const LabelMap& labels) {
  const auto read = Selector::Read(selector);
  return read && read->Matches(labels);
}

bool WouldAsk(const Json& webhook, const LabelMap& pod, const LabelMap& ns) {
  const Json& rules = Member(webhook, "rules");
  return std::any_of(rules.begin(), rules.end(), IsForNewPods) &&
         Selects(Member(webhook, "namespaceSelector"), ns) && Selects(Member(webhook, "objectSelector"), pod);
}

}  // namespace

std::vector<std::string> WebhooksFor(const std::vector<Json>& configurations, const LabelMap& pod,
                                     const LabelMap& ns) {
  std::vector<const Json*> sorted;
  for (const Json& one : configurations) sorted.push_back(&one);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Json* a, const Json* b) {
    return TextOf(Member(*a, "metadata"), "name") < TextOf(Member(*b, "metadata"), "name");
  });
  std::vector<std::string> names;
  for (const Json* configuration : sorted) {
    for (const Json& webhook : Member(*configuration, "webhooks")) {
      if (!WouldAsk(webhook, pod, ns)) continue;
      names.push_back(
          StrCat(TextOf(Member(*configuration, "metadata"), "name"), "/", TextOf(webhook, "name")));
    }
  }
  return names;
}

}  // namespace fairlead::injection
