#include "agent/status/app_probes.h"

#include <google/protobuf/unknown_field_set.h>
#include <sys/socket.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "agent/upstream.h"
#include "base/clock.h"
#include "base/ip_address.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "fetch/whole_answer.h"
#include "http2/client_connection.h"
#include "http2/socket.h"
#include "proto/wire.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;
using server::HttpRequest;
using server::HttpResponse;
using std::chrono::milliseconds;

LogScope probe_log("probes");

constexpr size_t kMostProbes = 1'000, kMostBody = 10 << 10;
constexpr int kMostRedirects = 10;
constexpr milliseconds kMostTime{60'000};

HttpResponse StatusOnly(int status) {
  HttpResponse response;
  response.status = status;
  return response;
}

bool IsProbePath(std::string_view path) {
  const auto parts = Split(path, '/');
  if (parts.size() != 4 || !parts[0].empty() || parts[2].empty()) return false;
  if (parts[1] != "app-health" && parts[1] != "app-lifecycle") return false;
  for (const std::string_view kind : {"livez", "readyz", "startupz", "prestopz", "poststartz"}) {
    if (parts[3] == kind) return true;
  }
  return false;
}

absl::Status Mistake(std::string_view path, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("ISTIO_KUBE_APP_PROBERS: ", path, ": ", why));
}

// Kubernetes fills in the numbers of named ports before the agent starts.
bool ReadPort(const json& action, AppProbe* probe) {
  const auto port = action.find("port");
  if (port == action.end() || !port->is_number_integer()) return false;
  const auto number = port->get<int64_t>();
  probe->port = static_cast<int>(number);
  return number > 0 && number < 65'536;
}

absl::StatusOr<AppProbe> ReadProbe(const std::string& path, const json& written) {
  if (!IsProbePath(path)) return Mistake(path, "no path of a probe, such as /app-health/NAME/livez");
  if (!written.is_object()) return Mistake(path, "not an object");
  AppProbe probe;
  const json* action = nullptr;
  int actions = 0;
  constexpr std::pair<const char*, AppProbe::Kind> kActions[] = {
      {"httpGet", AppProbe::kHttp}, {"tcpSocket", AppProbe::kTcp}, {"grpc", AppProbe::kGrpc}};
  for (const auto& [name, kind] : kActions) {
    const auto found = written.find(name);
    if (found == written.end() || !found->is_object()) continue;
    ++actions;
    action = &*found;
    probe.kind = kind;
  }
  if (actions != 1) return Mistake(path, "one of httpGet, tcpSocket and grpc is wanted");
  if (!ReadPort(*action, &probe)) return Mistake(path, "the port is no number of a port");
  if (std::string said = JsonString(*action, "path"); !said.empty())
    probe.path = said.starts_with('/') ? said : StrCat("/", said);
  probe.tls = JsonString(*action, "scheme") == "HTTPS";
  probe.service = JsonString(*action, "service");
  const auto seconds = written.find("timeoutSeconds");
  if (seconds != written.end() && seconds->is_number_integer() && seconds->get<int64_t>() > 0)
    probe.timeout = std::min<milliseconds>(std::chrono::seconds(seconds->get<int32_t>()), kMostTime);
  return probe;
}

std::string InUrl(const std::string& host) {
  return host.find(':') == std::string::npos ? host : StrCat("[", host, "]");
}

// Kubelet's Host header, with the application's port in place of the agent's.
std::string HostFor(const AppProbe& probe, const ProbeWay& way, const std::string& said) {
  const std::string own = StrCat(":", way.status_port);
  if (said.empty() || !said.ends_with(own)) return said;
  return StrCat(said.substr(0, said.size() - own.size()), ":", probe.port);
}

std::vector<std::string> HeadersFor(const AppProbe& probe, const ProbeWay& way, const HttpRequest& request) {
  std::vector<std::string> headers;
  for (const auto& [name, value] : request.headers) {
    // Those of this connection, and of an answer that nobody unpacks.
    if (name == "connection" || name == "content-length" || name == "transfer-encoding" ||
        name == "accept-encoding" || name == "host")
      continue;
    headers.push_back(StrCat(name, ": ", value));
  }
  const auto host = request.headers.find("host");
  if (host != request.headers.end()) headers.push_back(StrCat("host: ", HostFor(probe, way, host->second)));
  return headers;
}

// The URL behind a redirect; "" where it leads to another host.
std::string Redirected(const std::string& url, const std::string& location) {
  const size_t authority = url.find("://") + 3, path = url.find('/', authority);
  const auto host_of = [](std::string_view rest) {
    if (rest.starts_with('[')) return rest.substr(0, rest.find(']') + 1);
    return rest.substr(0, rest.find_first_of(":/?"));
  };
  const std::string_view host = host_of(std::string_view(url).substr(authority));
  if (location.find("://") != std::string::npos || location.starts_with("//")) {
    const std::string whole =
        location.starts_with("//") ? StrCat(url.substr(0, authority - 2), location) : location;
    const size_t at = whole.find("://");
    return host_of(std::string_view(whole).substr(at + 3)) == host ? whole : "";
  }
  const std::string origin = url.substr(0, path);
  if (location.starts_with('/')) return origin + location;
  return StrCat(url.substr(0, url.rfind('/') + 1), location);
}

std::string LocationOf(const fetch::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name == "location") return value;
  }
  return "";
}

HttpResponse RunHttp(const AppProbe& probe, const ProbeWay& way, const HttpRequest& request) {
  std::string url = StrCat(probe.tls ? "https://" : "http://", InUrl(way.host), ":", probe.port, probe.path);
  const Clock::time_point end = Clock::now() + probe.timeout;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    fetch::Request ask;
    ask.url = url;
    ask.headers = HeadersFor(probe, way, request);
    ask.tls.unverified = true;
    ask.proxy = "";
    ask.plaintext = true;
    ask.own_connection = true;
    ask.own_http2 = way.http2;
    ask.most_bytes = kMostBody;
    ask.local_address = way.local_address;
    ask.whole_limit = std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(end - Clock::now()));
    fetch::WholeAnswer answer = fetch::AskAndWait(fetch::Client::Shared(), std::move(ask));
    const int status = answer.outcome.http_status;
    // Of a longer body the beginning is enough.
    if (!answer.outcome.status.ok() && !absl::IsResourceExhausted(answer.outcome.status)) {
      probe_log.Warn("{}: {}", url, std::string(answer.outcome.status.message()));
      return StatusOnly(500);
    }
    if (status < 300 || status >= 400) return {.status = status, .body = answer.body.substr(0, kMostBody)};
    const std::string location = LocationOf(answer.headers);
    url = location.empty() ? "" : Redirected(url, location);
    if (url.empty()) return {};
  }
  probe_log.Warn("{}: more than {} redirects", request.path, kMostRedirects);
  return StatusOnly(500);
}

// The answer of one call.
class OneAnswer : public UpstreamHandler {
 public:
  void OnReply(std::string message) override {
    std::lock_guard lock(mutex_);
    message_ = std::move(message);
  }
  void OnTaken() override {}
  void OnEnd(const absl::Status& status) override {
    std::lock_guard lock(mutex_);
    ended_ = status;
    changed_.notify_all();
  }
  absl::StatusOr<std::string> Wait(milliseconds limit) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, limit, [this] { return ended_.has_value(); }))
      return absl::DeadlineExceededError("no answer in time");
    if (!ended_->ok()) return *ended_;
    return message_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string message_;                // guarded by mutex_
  std::optional<absl::Status> ended_;  // guarded by mutex_
};

// Whether an encoded grpc.health.v1.HealthCheckResponse says SERVING.
bool IsServing(const std::string& response) {
  constexpr uint64_t kServing = 1;
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromString(response)) return false;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == 1 && field.type() == google::protobuf::UnknownField::TYPE_VARINT)
      return field.varint() == kServing;
  }
  return false;
}

// Source: github.com/grpc/grpc/blob/master/doc/health-checking.md
HttpResponse RunGrpc(const AppProbe& probe, const ProbeWay& way, const HttpRequest& request) {
  UpstreamOptions to;
  to.host = way.host;
  to.port = probe.port;
  to.local_address = way.local_address;
  Upstream upstream(std::move(to));
  Proofs proofs;
  const auto agent = request.headers.find("user-agent");
  if (agent != request.headers.end()) proofs.metadata.emplace_back("user-agent", agent->second);
  const auto answer = std::make_shared<OneAnswer>();
  auto call = upstream.Open("/grpc.health.v1.Health/Check", std::move(proofs), answer);
  absl::Status status = call.status();
  if (call.ok()) {
    std::string message;
    if (!probe.service.empty()) proto::AppendField(1, probe.service, &message);
    (*call)->SendLast(message);
    const auto response = answer->Wait(probe.timeout);
    if (response.ok()) return StatusOnly(IsServing(*response) ? 200 : 500);
    status = response.status();
  }
  probe_log.Warn("{}: port {}: {}", request.path, probe.port, std::string(status.message()));
  return StatusOnly(500);
}

HttpResponse RunTcp(const AppProbe& probe, const ProbeWay& way, const HttpRequest& request) {
  const absl::Status status = http2::TryConnect(way.host, probe.port, way.local_address, probe.timeout);
  if (!status.ok()) probe_log.Warn("{}: {}", request.path, std::string(status.message()));
  return StatusOnly(status.ok() ? 200 : 500);
}

}  // namespace

absl::StatusOr<std::map<std::string, AppProbe>> ParseAppProbes(std::string_view text) {
  std::map<std::string, AppProbe> probes;
  if (text.empty()) return probes;
  const auto written = ParseJson(text);
  if (!written || !written->is_object())
    return absl::InvalidArgumentError("ISTIO_KUBE_APP_PROBERS: not a JSON object");
  if (written->size() > kMostProbes)
    return absl::InvalidArgumentError(StrCat("ISTIO_KUBE_APP_PROBERS: more than ", kMostProbes, " probes"));
  for (const auto& [path, probe] : written->items()) {
    auto read = ReadProbe(path, probe);
    if (!read.ok()) return read.status();
    probes[path] = *std::move(read);
  }
  return probes;
}

HttpResponse RunAppProbe(const AppProbe& probe, const ProbeWay& way, const HttpRequest& request) {
  if (probe.kind == AppProbe::kGrpc) return RunGrpc(probe, way, request);
  return probe.kind == AppProbe::kTcp ? RunTcp(probe, way, request) : RunHttp(probe, way, request);
}

bool CanBind(const std::string& address) {
  const auto parsed = IpAddress::Parse(address);
  if (!parsed) return false;
  const http2::File file(socket(parsed->is_v4() ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return file.get() >= 0 && http2::BindTo(file.get(), address).ok();
}

}  // namespace fairlead::agent
