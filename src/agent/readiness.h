#ifndef FAIRLEAD_AGENT_READINESS_H_
#define FAIRLEAD_AGENT_READINESS_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

// Why an Envoy that runs does not serve yet, for the people who wait for it.
namespace fairlead::agent {

// The things that Envoy waits for, from its administration pages: /stats of control_plane.connected_state,
// and /init_dump. `discovery`: where the control plane is. "" where they do not say. Pure. Source: Envoy's
// operations/admin; envoy.admin.v3.UnreadyTargetsDumps.
std::string WaitingFor(std::string_view stats, std::string_view init_dump, std::string_view discovery);

// Watches whether an Envoy has become ready. It reports the reason for waiting after 1.5 seconds, after 30,
// and then every 5 minutes. After a report it also reports readiness. One thread at a time.
class Readiness {
 public:
  // `Get` asks Envoy's administration interface for a page. Thread-safe.
  using Get = std::function<absl::StatusOr<std::string>(const std::string& path)>;
  // `Reasons` reports the agent's own problems: a missing file, a refusing authority. Thread-safe.
  using Reasons = std::function<std::vector<std::string>()>;
  Readiness(Get get, std::string discovery, Reasons reasons)
      : get_(std::move(get)), discovery_(std::move(discovery)), reasons_(std::move(reasons)) {}

  // To be called about twice a second while it is not ready(); `ran`: since Envoy was started. Gives what is
  // to be said, "" for nothing.
  std::string Look(std::chrono::milliseconds ran);
  bool ready() const { return ready_; }

 private:
  const Get get_;
  const std::string discovery_;
  const Reasons reasons_;
  bool ready_ = false, told_ = false;
  std::chrono::milliseconds next_{1'500};  // when it is time to tell
};

// The reasons of an unready Envoy, and the agent's own problems; sentences.
std::string WhyNotReady(const Readiness::Get& get, const std::string& discovery,
                        const Readiness::Reasons& reasons);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_READINESS_H_
