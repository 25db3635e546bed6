#include "cni/plugin.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "cni/pod_namespace.h"
#include "cni/pods_client.h"
#include "redirect/run.h"
#include "redirect/sandbox.h"

namespace fairlead::cni {
namespace {

LogScope cni_log("cni");

constexpr int kMostAttempts = 30;
// Pods of installers, by the beginning of their names.
constexpr std::string_view kOwnPods[] = {"fairlead-cni-", "istio-cni-node-"};

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

PluginFailure FailureOf(CniError code, const PluginCall& call, const absl::Status& status) {
  return {code, StrCat("Pod ", call.pod_namespace, "/", call.pod, ": ", Message(status)), ""};
}

// Why a call concerns nobody; "": it may.
std::string WhyNotConcerned(const PluginConfig& config, const PluginCall& call) {
  if (call.pod.empty() || call.pod_namespace.empty()) return "it is no Pod of Kubernetes";
  if (std::count(config.excluded_namespaces.begin(), config.excluded_namespaces.end(), call.pod_namespace) >
      0)
    return "its namespace is excluded";
  if (!config.own_namespace.empty() && call.pod_namespace == config.own_namespace) {
    for (const std::string_view prefix : kOwnPods) {
      if (call.pod.starts_with(prefix)) return "it is the installer's";
    }
  }
  return "";
}

class Answering {
 public:
  Answering(const PluginConfig& config, const PluginCall& call, const PluginWorld& world)
      : config_(config), call_(call), world_(world) {}

  std::optional<PluginFailure> Do() const {
    if (call_.command == "ADD") return Add();
    if (call_.command == "CHECK") return Verify();
    if (call_.command == "STATUS") return Status();
    // DEL and GC: rules go with their namespace.
    return std::nullopt;
  }

 private:
  std::optional<PluginFailure> Add() const {
    const auto verdict = Judge(kMostAttempts);
    if (!verdict.value) return verdict.failure;
    if (!verdict.value->why_not.empty()) return std::nullopt;
    const absl::Status status = world_.redirect(call_, Options(*verdict.value));
    if (!status.ok()) return FailureOf(CniError::kPlugin, call_, status);
    cni_log.Info("Pod {}/{} is redirected", call_.pod_namespace, call_.pod);
    return std::nullopt;
  }

  std::optional<PluginFailure> Verify() const {
    const auto verdict = Judge(1);
    if (!verdict.value) return verdict.failure;
    if (!verdict.value->why_not.empty()) return std::nullopt;
    const absl::Status status = world_.verify(call_, Options(*verdict.value));
    if (status.ok()) return std::nullopt;
    return FailureOf(absl::IsNotFound(status) ? CniError::kNotThere : CniError::kPlugin, call_, status);
  }

  std::optional<PluginFailure> Status() const {
    const absl::Status status = world_.status(config_);
    if (status.ok()) return std::nullopt;
    return PluginFailure{CniError::kNotAvailable, Message(status), ""};
  }

  redirect::RedirectOptions Options(const PodVerdict& verdict) const {
    redirect::RedirectOptions options = verdict.options;
    options.native_nftables = config_.native_nftables;
    return options;
  }

  // Whether this pod's traffic is to be redirected.
  PluginResult<PodVerdict> Judge(int attempts) const {
    std::string why_not = WhyNotConcerned(config_, call_);
    if (!why_not.empty()) return {Skip(std::move(why_not))};
    absl::StatusOr<PodFacts> pod = world_.find_pod(config_, call_);
    for (int i = 1; i < attempts && !pod.ok(); ++i) {
      cni_log.Warn("Pod {}/{}: {}", call_.pod_namespace, call_.pod, Message(pod.status()));
      world_.pause();
      pod = world_.find_pod(config_, call_);
    }
    if (!pod.ok()) return {std::nullopt, FailureOf(CniError::kTryAgain, call_, pod.status())};
    auto verdict = JudgePod(*pod);
    if (!verdict.ok()) return {std::nullopt, FailureOf(CniError::kPlugin, call_, verdict.status())};
    if (!verdict->why_not.empty()) return {Skip(verdict->why_not)};
    return {*std::move(verdict)};
  }

  PodVerdict Skip(std::string why_not) const {
    cni_log.Info("Pod {}/{} is left alone: {}", call_.pod_namespace, call_.pod, why_not);
    return {std::move(why_not), {}};
  }

  const PluginConfig& config_;
  const PluginCall& call_;
  const PluginWorld& world_;
};

absl::StatusOr<PodFacts> FindPod(const PluginConfig& config, const PluginCall& call) {
  auto access = kube::ReadKubeconfig(config.kubeconfig);
  if (!access.ok()) return access.status();
  return PodsClient(*std::move(access)).Get(call.pod_namespace, call.pod);
}

using Action = absl::Status (*)(const redirect::RedirectOptions& options, const redirect::RunProgram& run);

absl::Status InNamespace(const PluginCall& call, redirect::RedirectOptions options, Action action) {
  auto entered = PodNamespace::Enter(call.network_namespace);
  if (!entered.ok()) return entered.status();
  if (absl::Status status = redirect::FillIn(redirect::CurrentAddresses(), &options); !status.ok())
    return status;
  if (absl::Status status = redirect::Check(options); !status.ok()) return status;
  if (absl::Status status = redirect::EnterSandbox(call.network_namespace); !status.ok())
    cni_log.Warn("without a sandbox: {}", Message(status));
  return action(options, redirect::MakeRunner(entered->Inside()));
}

absl::Status CheckKubeconfig(const PluginConfig& config) {
  return kube::ReadKubeconfig(config.kubeconfig).status();
}

}  // namespace

PluginWorld SystemWorld() {
  return {
      .find_pod = FindPod,
      .redirect =
          [](const PluginCall& call, redirect::RedirectOptions options) {
            return InNamespace(call, std::move(options), redirect::Redirect);
          },
      .verify =
          [](const PluginCall& call, redirect::RedirectOptions options) {
            return InNamespace(call, std::move(options), redirect::VerifyRedirect);
          },
      .status = CheckKubeconfig,
      .pause = [] { std::this_thread::sleep_for(std::chrono::seconds(1)); },
  };
}

int AnswerRuntime(const std::function<const char*(const char*)>& variables, const std::string& input,
                  const PluginWorld& world, std::ostream& output) {
  std::string version = "0.3.1";
  const auto fail = [&](const PluginFailure& failure) {
    cni_log.Error("{} {}", failure.message, failure.details);
    output << FailureText(version, failure) << std::endl;
    return 1;
  };
  const auto call = ReadPluginCall(variables);
  if (!call.value) return fail(call.failure);
  const auto config = ReadPluginConfig(input, call.value->command);
  if (!config.value) return fail(config.failure);
  version = config.value->cni_version;
  if (call.value->command == "VERSION") {
    output << VersionsText(version) << std::endl;
    return 0;
  }
  if (absl::Status status = SetLogLevels(config.value->log_level); !status.ok())
    return fail({CniError::kConfig, StrCat("plugin_log_level: ", Message(status)), ""});
  if (const auto failure = Answering(*config.value, *call.value, world).Do()) return fail(*failure);
  if (call.value->command == "ADD") output << ResultText(*config.value) << std::endl;
  return 0;
}

}  // namespace fairlead::cni
