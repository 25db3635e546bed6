#include "agent/workload_health.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "kube/program.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

LogScope health_log("healthcheck");

constexpr int64_t kMostSeconds = 24 * 3600, kMostThreshold = 1'000'000;
constexpr size_t kMostWords = 1'000;

absl::Status Mistake(std::string_view field, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("ProxyConfig: readinessProbe: ", field, ": ", why));
}

// Zero, as protobuf leaves it out, stands for the default.
int64_t NumberOf(const json& object, const char* name, int64_t otherwise, int64_t most) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return otherwise;
  const auto number = found->get<int64_t>();
  return number <= 0 ? otherwise : std::min(number, most);
}

absl::Status ReadPlace(const json& method, const char* kind, WorkloadProbe* probe) {
  probe->probe.port = static_cast<int>(NumberOf(method, "port", 0, 65'536));
  if (probe->probe.port == 0 || probe->probe.port > 65'535)
    return Mistake(StrCat(kind, ".port"), "no number of a port");
  probe->host = JsonString(method, "host");
  return absl::OkStatus();
}

absl::Status ReadHttp(const json& method, WorkloadProbe* probe) {
  if (absl::Status status = ReadPlace(method, "httpGet", probe); !status.ok()) return status;
  probe->probe.kind = AppProbe::kHttp;
  const std::string path = JsonString(method, "path");
  probe->probe.path = path.starts_with('/') ? path : StrCat("/", path);
  probe->probe.tls = AsciiLower(JsonString(method, "scheme")) == "https";
  const auto headers = method.find("httpHeaders");
  if (headers == method.end() || !headers->is_array()) return absl::OkStatus();
  for (const json& header : *headers) {
    if (const std::string name = AsciiLower(JsonString(header, "name")); !name.empty())
      probe->headers[name] = JsonString(header, "value");
  }
  return absl::OkStatus();
}

absl::Status ReadExec(const json& method, WorkloadProbe* probe) {
  const auto command = method.find("command");
  if (command == method.end() || !command->is_array() || command->empty() || command->size() > kMostWords)
    return Mistake("exec.command", "no command");
  for (const json& word : *command) {
    if (!word.is_string()) return Mistake("exec.command", "not a list of texts");
    probe->command.push_back(word.get<std::string>());
  }
  return absl::OkStatus();
}

absl::Status ReadMethod(const json& written, WorkloadProbe* probe) {
  if (const auto http = written.find("httpGet"); http != written.end()) return ReadHttp(*http, probe);
  if (const auto exec = written.find("exec"); exec != written.end()) return ReadExec(*exec, probe);
  if (const auto tcp = written.find("tcpSocket"); tcp != written.end()) {
    probe->probe.kind = AppProbe::kTcp;
    return ReadPlace(*tcp, "tcpSocket", probe);
  }
  if (const auto grpc = written.find("grpc"); grpc != written.end()) {
    probe->probe.kind = AppProbe::kGrpc;
    probe->probe.service = JsonString(*grpc, "service");
    return ReadPlace(*grpc, "grpc", probe);
  }
  return absl::InvalidArgumentError(
      "ProxyConfig: readinessProbe: one of httpGet, tcpSocket, exec and grpc is wanted");
}

std::string Described(const WorkloadProbe& probe) {
  switch (probe.probe.kind) {
    case AppProbe::kTcp:
      return StrCat("TCP port ", probe.probe.port);
    case AppProbe::kGrpc:
      return StrCat("gRPC health of port ", probe.probe.port);
    case AppProbe::kHttp:
      break;
  }
  return StrCat("HTTP port ", probe.probe.port, " ", probe.probe.path);
}

absl::Status TryProgram(const WorkloadProbe& probe, const std::atomic<bool>& stopping) {
  kube::Program program;
  program.command = probe.command.front();
  program.arguments.assign(probe.command.begin() + 1, probe.command.end());
  program.time_limit = probe.probe.timeout;
  const auto output = kube::RunProgram(program, &stopping);
  // What it writes is nobody's matter, be it a lot.
  return absl::IsResourceExhausted(output.status()) ? absl::OkStatus() : output.status();
}

}  // namespace

absl::StatusOr<std::optional<WorkloadProbe>> ReadWorkloadProbe(const json& proxy_config) {
  if (!proxy_config.is_object()) return std::nullopt;
  const auto written = proxy_config.find("readinessProbe");
  if (written == proxy_config.end() || !written->is_object()) return std::nullopt;
  WorkloadProbe probe;
  if (absl::Status status = ReadMethod(*written, &probe); !status.ok()) return status;
  // Source: pilot-agent, fillInDefaults.
  probe.probe.timeout = seconds(NumberOf(*written, "timeoutSeconds", 1, kMostSeconds));
  probe.initial_delay = seconds(NumberOf(*written, "initialDelaySeconds", 0, kMostSeconds));
  probe.period = seconds(NumberOf(*written, "periodSeconds", 10, kMostSeconds));
  probe.success_threshold = static_cast<int>(NumberOf(*written, "successThreshold", 1, kMostThreshold));
  probe.failure_threshold = static_cast<int>(NumberOf(*written, "failureThreshold", 1, kMostThreshold));
  return probe;
}

absl::Status TryWorkload(const WorkloadProbe& probe, const ProbeWay& way, const std::atomic<bool>& stopping) {
  if (!probe.command.empty()) return TryProgram(probe, stopping);
  ProbeWay to = way;
  if (!probe.host.empty()) to.host = probe.host;
  server::HttpRequest request;
  request.path = "readinessProbe";
  request.headers = probe.headers;
  request.headers.try_emplace("user-agent", "istio-probe/1.0");
  const server::HttpResponse response = RunAppProbe(probe.probe, to, request);
  if (response.status >= 200 && response.status < 400) return absl::OkStatus();
  const std::string status =
      probe.probe.kind == AppProbe::kHttp ? StrCat("status ", response.status) : "no good answer";
  return absl::UnavailableError(StrCat(Described(probe), ": ", status));
}

std::optional<absl::Status> HealthThresholds::Add(const absl::Status& result) {
  const bool good = result.ok();
  good_ = good ? good_ + 1 : 0;
  bad_ = good ? 0 : bad_ + 1;
  if (told_ == good || (good ? good_ < success_ : bad_ < failure_)) return std::nullopt;
  told_ = good;
  return result;
}

WorkloadHealth::WorkloadHealth(WorkloadProbe probe, ProbeWay way, Check envoy, Report report)
    : probe_(std::move(probe)), way_(std::move(way)), envoy_(std::move(envoy)), report_(std::move(report)) {}

WorkloadHealth::~WorkloadHealth() { Stop(); }

void WorkloadHealth::Start() {
  thread_ = RequireThread([this] { Run(); });
}

void WorkloadHealth::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool WorkloadHealth::StopsWithin(milliseconds wait) {
  std::unique_lock lock(mutex_);
  return stop_.wait_for(lock, wait, [this] { return stopping_.load(); });
}

void WorkloadHealth::Run() {
  HealthThresholds thresholds(probe_.success_threshold, probe_.failure_threshold);
  if (StopsWithin(probe_.initial_delay)) return;
  do {
    absl::Status found = envoy_ ? envoy_() : absl::OkStatus();
    if (found.ok()) found = TryWorkload(probe_, way_, stopping_);
    if (stopping_) return;
    if (const auto news = thresholds.Add(found)) {
      health_log.Info("{}", news->ok() ? "the workload is healthy"
                                       : StrCat("the workload is not healthy: ", FromAbsl(news->message())));
      report_(*news);
    }
  } while (!StopsWithin(probe_.period));
}

}  // namespace fairlead::agent
