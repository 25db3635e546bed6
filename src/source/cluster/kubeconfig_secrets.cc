#include "source/cluster/kubeconfig_secrets.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "config/kubernetes_types.h"

namespace fairlead::source {
namespace {

using config::ConfigPtr;
using config::ObjectKey;
using config::Severity;

// A key of a Secret that may count.
struct Candidate {
  ConfigPtr secret;
  std::string cluster;
  const std::string* text;
  bool held;  // by the Secret of this candidate
};

bool Before(const Candidate& a, const Candidate& b) {
  if (a.held != b.held) return a.held;
  if (a.secret != b.secret) return config::OlderFirst(*a.secret, *b.secret);
  return a.cluster < b.cluster;
}

// "" where the key may count.
std::string WhyNot(const std::string& cluster, const std::string& text, const KubeconfigRules& rules) {
  if (text.empty()) return "the kubeconfig is empty";
  if (text.size() > rules.most_bytes)
    return StrCat("the kubeconfig has ", text.size(), " bytes, more than ", rules.most_bytes);
  if (cluster.empty()) return "a cluster needs a name";
  return "";
}

}  // namespace

config::Diagnostic KubeconfigProblem(const ObjectKey& secret, std::string_view cluster, Severity severity,
                                     std::string message) {
  config::Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.code = "remote-cluster";
  diagnostic.object = secret;
  diagnostic.path = StrCat("data.", cluster);
  diagnostic.message = std::move(message);
  return diagnostic;
}

NamedKubeconfigs ChooseKubeconfigs(const std::map<ObjectKey, ConfigPtr>& secrets,
                                   const std::map<std::string, ObjectKey, std::less<>>& holders,
                                   const KubeconfigRules& rules, std::vector<config::Diagnostic>* problems) {
  std::vector<Candidate> candidates;
  for (const auto& [key, secret] : secrets) {
    for (const auto& [cluster, text] : secret->Spec<config::SecretSpec>().data) {
      if (cluster == rules.own_cluster) {
        problems->push_back(KubeconfigProblem(key, cluster, Severity::kWarning,
                                              "this is the control plane's own cluster, which is read "
                                              "already"));
      } else if (std::string why = WhyNot(cluster, text, rules); !why.empty()) {
        problems->push_back(KubeconfigProblem(key, cluster, Severity::kError, std::move(why)));
      } else {
        const auto holder = holders.find(cluster);
        candidates.push_back({secret, cluster, &text, holder != holders.end() && holder->second == key});
      }
    }
  }
  std::sort(candidates.begin(), candidates.end(), Before);
  NamedKubeconfigs chosen;
  for (const Candidate& candidate : candidates) {
    const ObjectKey key = config::KeyOf(*candidate.secret);
    if (const auto other = chosen.find(candidate.cluster); other != chosen.end()) {
      problems->push_back(KubeconfigProblem(
          key, candidate.cluster, Severity::kWarning,
          StrCat("the cluster is that of ", Describe(other->second.secret), ", which counts")));
    } else if (chosen.size() >= rules.most_clusters) {
      problems->push_back(KubeconfigProblem(
          key, candidate.cluster, Severity::kError,
          StrCat("there are more than ", rules.most_clusters, " clusters (FAIRLEAD_REMOTE_CLUSTERS)")));
    } else {
      chosen.emplace(candidate.cluster, NamedKubeconfig{key, *candidate.text});
    }
  }
  return chosen;
}

}  // namespace fairlead::source
