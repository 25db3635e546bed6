#ifndef FAIRLEAD_AGENT_READINESS_H_
#define FAIRLEAD_AGENT_READINESS_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Why an Envoy that runs does not serve yet, for the people who wait for it.
namespace fairlead::agent {

// What Envoy waits for, from its administration pages: /stats of control_plane.connected_state, and
// /init_dump. `discovery`: where the control plane is. "" where they do not say. Pure.
// Source: Envoy's operations/admin; envoy.admin.v3.UnreadyTargetsDumps.
std::string WaitingFor(std::string_view stats, std::string_view init_dump, std::string_view discovery);

// Looks whether an Envoy has become ready, and tells what it waits for after 5 seconds, after 30, and then
// every 5 minutes; and that it is ready, where it was told of before. One thread at a time.
class Readiness {
 public:
  // `get` asks Envoy's administration interface for a page.
  using Get = std::function<absl::StatusOr<std::string>(const std::string& path)>;
  Readiness(Get get, std::string discovery) : get_(std::move(get)), discovery_(std::move(discovery)) {}

  // To be called about every second while it is not ready(); `ran`: since Envoy was started. Gives what is to
  // be said, "" for nothing.
  std::string Look(std::chrono::milliseconds ran);
  bool ready() const { return ready_; }

 private:
  const Get get_;
  const std::string discovery_;
  bool ready_ = false, told_ = false;
  std::chrono::milliseconds next_ = std::chrono::seconds(5);  // when it is time to tell
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_READINESS_H_
