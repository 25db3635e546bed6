#include "agent/readiness.h"

#include <vector>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// "target SdsApi default" is Envoy's subscription of a secret.
std::string Target(std::string_view name) {
  for (const std::string_view prefix : {"target ", "shared target "}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  constexpr std::string_view kSecret = "SdsApi ";
  if (name.starts_with(kSecret)) return StrCat("the secret ", name.substr(kSecret.size()));
  return std::string(name);
}

// "init manager Listener-local-init-manager virtualInbound 127…" is a listener's own: a number follows its
// name.
std::string Manager(std::string_view name) {
  constexpr std::string_view kListener = "init manager Listener-local-init-manager ";
  if (!name.starts_with(kListener)) return std::string(name);
  name.remove_prefix(kListener.size());
  return StrCat("listener ", name.substr(0, name.rfind(' ')));
}

bool Disconnected(std::string_view stats) {
  return stats.find("control_plane.connected_state: 0") != std::string_view::npos;
}

milliseconds After(milliseconds told) {
  return told < seconds(30) ? milliseconds(seconds(30)) : told + seconds(300);
}

}  // namespace

std::string WaitingFor(std::string_view stats, std::string_view init_dump, std::string_view discovery) {
  std::vector<std::string> reasons;
  if (Disconnected(stats)) reasons.push_back(StrCat("a connection to the control plane at ", discovery));
  const nlohmann::json dump = ParseJson(init_dump).value_or(nlohmann::json());
  const auto managers = dump.find("unready_targets_dumps");
  if (!dump.is_object() || managers == dump.end() || !managers->is_array()) return Join(reasons, "; ");
  for (const nlohmann::json& manager : *managers) {
    std::vector<std::string> targets;
    const auto names = manager.find("target_names");
    if (!manager.is_object() || names == manager.end() || !names->is_array()) continue;
    for (const nlohmann::json& name : *names) {
      if (name.is_string()) targets.push_back(Target(name.get<std::string>()));
    }
    if (!targets.empty())
      reasons.push_back(StrCat(Join(targets, ", "), " (", Manager(JsonString(manager, "name")), ")"));
  }
  return Join(reasons, "; ");
}

std::string WhyNotReady(const Readiness::Get& get, const std::string& discovery,
                        const Readiness::Reasons& reasons) {
  const auto stats = get("/stats?filter=control_plane.connected_state");
  const auto dump = get("/init_dump");
  const std::vector<std::string> known = reasons();
  std::string text;
  if (!known.empty()) text = StrCat("The agent's own difficulties: ", Join(known, "; "));
  if (!stats.ok() && !dump.ok())
    return StrCat("Its administration port does not answer", text.empty() ? "" : ". ", text);
  const std::string waits = WaitingFor(stats.value_or(""), dump.value_or(""), discovery);
  if (waits.empty()) return text.empty() ? "It does not say what it waits for; its log may" : text;
  const bool secrets = waits.find("the secret ") != std::string::npos;
  if (secrets && known.empty())
    text =
        "Secrets come from an authority (port 15012, CA_ADDR) or from files; without them a "
        "PeerAuthentication of mode DISABLE lets it serve in plaintext";
  return StrCat("It waits for: ", waits, text.empty() ? "" : ". ", text);
}

std::string Readiness::Look(milliseconds ran) {
  ready_ = get_("/ready").ok();
  if (ready_) return told_ ? StrCat("Envoy is ready after ", ran.count() / 1000, " s") : "";
  if (ran < next_) return "";
  next_ = After(next_);
  told_ = true;
  return StrCat("Envoy is not ready after ", ran.count() / 1000, " s. ",
                WhyNotReady(get_, discovery_, reasons_));
}

}  // namespace fairlead::agent
