#include "app/register_command.h"

#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "agent/announcer.h"
#include "agent/running_mark.h"
#include "agent/supervisor.h"
#include "agent/workload_health.h"
#include "app/register_options.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

constexpr int kFailed = 1, kWrongCall = 2;

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

// A line for whoever started the command; the same one is not repeated.
class Teller {
 public:
  void Say(const std::string& text) {
    std::lock_guard lock(mutex_);
    if (text == last_) return;
    last_ = text;
    std::cerr << StrCat("fairlead register: ", text, "\n") << std::flush;
  }

 private:
  std::mutex mutex_;
  std::string last_;
};

int WrongCall(const char* command, const absl::Status& status) {
  if (status.code() == absl::StatusCode::kUnavailable) {
    std::cout << Message(status);
    return 0;
  }
  std::cerr << "fairlead " << command << ": " << Message(status) << std::endl;
  return kWrongCall;
}

agent::AnnouncerOptions OptionsOf(const RegisterOptions& options, Teller* teller) {
  agent::AnnouncerOptions announcer;
  announcer.control_plane = options.control_plane;
  announcer.node = JsonText(RegisterNode(options));
  announcer.progress = [&options, teller](const absl::Status& status) {
    const std::string what = StrCat(options.address, " of group ", options.ns, "/", options.group, " at ",
                                    options.control_plane.address);
    teller->Say(status.ok() ? StrCat("registered ", what)
                            : StrCat("not registered: ", what, ": ", Message(status)));
  };
  return announcer;
}

}  // namespace

int RunRegister(const std::vector<std::string>& arguments) {
  const auto options = ReadRegisterOptions(arguments);
  if (!options.ok()) return WrongCall("register", options.status());
  const auto probe = agent::ReadWorkloadProbe({{"readinessProbe", options->probe}});
  if (!probe.ok()) return WrongCall("register", absl::InvalidArgumentError(probe.status().message()));
  agent::BlockSignals();
  Teller teller;
  auto mark = agent::RunningMark::Set(
      StrCat(options->run_folder, "/", RegisterMark(options->ns, options->group, options->address)));
  if (!mark.ok()) {
    teller.Say(Message(mark.status()));
    return kFailed;
  }
  agent::Announcer announcer(OptionsOf(*options, &teller));
  std::optional<agent::WorkloadHealth> health;
  if (*probe) {
    agent::ProbeWay way;
    way.host = options->address;
    health.emplace(**probe, way, agent::WorkloadHealth::Check(), [&](const absl::Status& why) {
      teller.Say(why.ok() ? "the workload is healthy"
                          : StrCat("the workload is not healthy: ", Message(why)));
      announcer.SetHealth(why);
    });
    health->Start();
  } else {
    announcer.SetHealth(absl::OkStatus());
  }
  announcer.Start();
  agent::WaitForStop();
  health.reset();
  // Clients stop sending before the workload is gone.
  announcer.SetHealth(absl::UnavailableError("the workload is being deregistered"));
  if (options->drain.count() > 0) {
    teller.Say(StrCat("the workload goes in ", options->drain.count(), " ms"));
    std::this_thread::sleep_for(options->drain);
  }
  announcer.Stop();
  teller.Say("deregistered");
  return 0;
}

int RunDeregister(const std::vector<std::string>& arguments) {
  const auto options = ReadDeregisterOptions(arguments);
  if (!options.ok()) return WrongCall("deregister", options.status());
  const auto fail = [](const std::string& why) {
    std::cerr << "fairlead deregister: " << why << std::endl;
    return kFailed;
  };
  const std::string wanted = RegisterMark(options->ns, options->group, options->address);
  std::vector<std::string> marks;
  if (const auto names = ListFolder(options->run_folder); names.ok()) {
    for (const std::string& name : *names) {
      if (name.starts_with(wanted)) marks.push_back(name);
    }
  }
  const std::string what = StrCat(options->ns, "/", options->group);
  if (marks.empty()) return fail(StrCat("no workload of group ", what, " is registered from here"));
  if (marks.size() > 1)
    return fail(StrCat("several workloads of group ", what,
                       " are registered from here: --address says which; ", Join(marks, ", ")));
  const absl::Status status =
      agent::EndMarked(StrCat(options->run_folder, "/", marks.front()), options->patience);
  if (!status.ok()) return fail(StrCat(marks.front(), ": ", Message(status)));
  std::cout << "deregistered " << what << std::endl;
  return 0;
}

}  // namespace fairlead::app
