#include "source/consul/consul_fake.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/platform/contract_fixture.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;

std::string ServiceOf(const std::string& path) {
  constexpr std::string_view kHealth = "/v1/health/service/";
  return path.starts_with(kHealth) ? path.substr(kHealth.size()) : "";
}

}  // namespace

ConsulFake::ConsulFake() {
  Serve([this](const httplib::Request& request, httplib::Response& response, Lock& lock) {
    Answer(request, response, lock);
  });
}

ConsulFake::~ConsulFake() { StopServing(); }

std::string ConsulFake::Url(const std::string& options) const {
  return StrCat("consul://", Address(), options.empty() ? "" : "?", options);
}

ConsulOptions ConsulFake::Options(const std::string& options) const {
  return OptionsOf(Url(StrCat("names={name}&", options)));
}

ConsulOptions ConsulFake::OptionsOf(const std::string& url) {
  ConsulOptions parsed = *ParseConsulOptions(url);
  parsed.least_interval = 1ms;
  parsed.first_backoff = 10ms;
  parsed.most_backoff = 50ms;
  parsed.round = 500ms;
  return parsed;
}

std::unique_ptr<PlatformFollower> ConsulFake::MakeFollower() {
  return std::make_unique<ConsulFollower>(Options());
}

std::string ConsulFake::Instance(const std::string& service, const std::string& id, const std::string& tags,
                                 const std::string& checks) {
  return StrCat(R"({"Node":{"Node":"n-)", id,
                R"(","Address":"10.0.0.1","Datacenter":"dc1"},"Service":{"ID":")", id, R"(","Service":")",
                service, R"(","Address":"10.0.0.2","Port":8080,"Tags":)", tags, R"(},"Checks":)", checks,
                "}");
}

// Consul's names have both cases, hosts one: "WEB" and "web" stand for one object, and "WEB" comes first.
void ConsulFake::Put(const std::string& name, const std::string& version) {
  const std::string service = AsciiUpper(name);
  Set(service, StrCat("[", Instance(service, name, StrCat(R"(["v=)", version, R"("])")), "]"));
}

void ConsulFake::PutTwin(const std::string& name, const std::string& version) {
  Set(name, StrCat("[", Instance(name, name, StrCat(R"(["v=)", version, R"("])")), "]"));
}

void ConsulFake::Delete(const std::string& name) {
  std::lock_guard lock(mutex_);
  services_[""].erase(AsciiUpper(name));
  Changed();
}

void ConsulFake::Set(const std::string& service, const std::string& instances,
                     const std::string& datacenter) {
  std::lock_guard lock(mutex_);
  services_[datacenter][service] = instances;
  Changed();
}

void ConsulFake::SetConfig(const std::string& kind, const std::string& entries) {
  std::lock_guard lock(mutex_);
  config_[kind] = entries;
  Changed();
}

void ConsulFake::Refuse(const std::string& part, int status) {
  std::lock_guard lock(mutex_);
  refused_[part] = status == 0 ? "" : StrCat(status);
  Changed();
}

void ConsulFake::SetLeader(bool known) {
  std::lock_guard lock(mutex_);
  leader_ = known;
  Changed();
}

void ConsulFake::SetHung(bool hung) {
  std::lock_guard lock(mutex_);
  hung_ = hung;
  Changed();
}

void ConsulFake::SetBehind(bool behind) {
  std::lock_guard lock(mutex_);
  behind_ = behind;
  Changed();
}

void ConsulFake::SetAway(bool away) {
  HttpPeerFake::SetAway(away);
  std::lock_guard lock(mutex_);
  Changed();
}

void ConsulFake::Forget() {
  std::lock_guard lock(mutex_);
  index_ = 1;
  ++epoch_;
  Changed();
}

void ConsulFake::Changed() {
  ++index_;
  changed_.notify_all();
}

std::string ConsulFake::VersionOf(const config::ConfigObject& object) const {
  const auto& entry = object.Spec<istio::networking::v1alpha3::ServiceEntry>();
  return entry.endpoints_size() == 0 ? "none" : entry.endpoints(0).labels().at("v");
}

std::string ConsulFake::Body(const httplib::Request& request) const {
  if (request.path.starts_with("/v1/config/")) {
    const auto it = config_.find(request.path.substr(sizeof("/v1/config/") - 1));
    return it == config_.end() ? "[]" : it->second;
  }
  const auto of_datacenter = services_.find(request.get_param_value("dc"));
  if (request.path != "/v1/catalog/services") {
    if (of_datacenter == services_.end()) return "[]";
    const auto it = of_datacenter->second.find(ServiceOf(request.path));
    return it == of_datacenter->second.end() ? "[]" : it->second;
  }
  std::string body = R"({"consul":[])";
  if (of_datacenter != services_.end()) {
    for (const auto& [name, instances] : of_datacenter->second) StrAppend(&body, ",\"", name, "\":[]");
  }
  return body + "}";
}

void ConsulFake::Answer(const httplib::Request& request, httplib::Response& response, Lock& lock) {
  const bool counted = !ServiceOf(request.path).empty();
  if (counted) most_at_once_ = std::max(most_at_once_, ++at_once_);
  const uint64_t known =
      request.has_param("index") ? std::strtoull(request.get_param_value("index").c_str(), nullptr, 10) : 0;
  const uint64_t epoch = epoch_;
  if (known > 0) {
    const auto wait =
        std::chrono::milliseconds(std::strtol(request.get_param_value("wait").c_str(), nullptr, 10));
    changed_.wait_for(lock, wait, [&] { return stopping_ || epoch_ != epoch || index_ != known; });
  }
  changed_.wait(lock, [&] { return stopping_ || !hung_; });
  if (counted) --at_once_;
  if (away_) {
    response.status = 500;
    response.set_content("No cluster leader", "text/plain");
    return;
  }
  for (const auto& [part, status] : refused_) {
    if (status.empty() || request.path.find(part) == std::string::npos) continue;
    response.status = std::atoi(status.c_str());
    response.set_content("Permission denied", "text/plain");
    return;
  }
  if (request.path == "/v1/status/leader") {
    response.set_content(leader_ ? R"("127.0.0.1:8300")" : R"("")", "application/json");
    return;
  }
  const bool behind = behind_ && request.has_param("stale");
  response.set_header("X-Consul-Index", StrCat(behind ? 2 : index_));
  // As agents from 1.10 on answer from their streamed views.
  const bool streamed = counted && known > 0 && leader_;
  response.set_header("X-Consul-Query-Backend", streamed ? "streaming" : "blocking-query");
  response.set_header("X-Consul-KnownLeader", leader_ && !streamed ? "true" : "false");
  response.set_header("X-Consul-LastContact", "25");
  response.set_content(
      leader_ && !behind ? Body(request) : (request.path.find("/health/") == std::string::npos ? "{}" : "[]"),
      "application/json");
}

size_t ConsulFake::most_at_once() {
  std::lock_guard lock(mutex_);
  return most_at_once_;
}

INSTANTIATE_TEST_SUITE_P(Consul, PlatformContractTest,
                         ::testing::Values(PeerCase{"consul", [] { return std::make_unique<ConsulFake>(); }}),
                         NameOfPeer);

}  // namespace fairlead::source
