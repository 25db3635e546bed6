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

// What Envoy waits for, from its administration pages: /stats of control_plane.connected_state, and
// /init_dump. `discovery`: where the control plane is. "" where they do not say. Pure.
// Source: Envoy's operations/admin; envoy.admin.v3.UnreadyTargetsDumps.
std::string WaitingFor(std::string_view stats, std::string_view init_dump, std::string_view discovery);

// Looks whether an Envoy has become ready, and tells what it waits for after 1.5 seconds, after 30, and then
// every 5 minutes; and that it is ready, where it was told of before. One thread at a time.
class Readiness {
 public:
  // `Get` asks Envoy's administration interface for a page. Thread-safe.
  using Get = std::function<absl::StatusOr<std::string>(const std::string& path)>;
  // `Reasons` says what the agent itself knows to be wrong: a file that is not there, an authority that
  // refuses. Thread-safe.
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

// What an Envoy that is not ready waits for, and what the agent knows to be wrong; sentences.
std::string WhyNotReady(const Readiness::Get& get, const std::string& discovery,
                        const Readiness::Reasons& reasons);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_READINESS_H_
