#include "source/marathon/marathon_fake.h"

#include <chrono>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/platform/contract_fixture.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;

}  // namespace

MarathonFake::MarathonFake() {
  Serve([this](const httplib::Request& request, httplib::Response& response, Lock&) {
    Answer(request, response);
  });
}

MarathonFake::~MarathonFake() { StopServing(); }

std::string MarathonFake::Url(const std::string& options) const {
  return StrCat("marathon://", Address(), options.empty() ? "" : "?", options);
}

MarathonOptions MarathonFake::Options(const std::string& options) const {
  MarathonOptions parsed = *ParseMarathonOptions(Url(StrCat("names={name}&namespace=marathon&", options)));
  parsed.least_interval = 1ms;
  parsed.second_look = 20ms;
  parsed.readiness = 20ms;
  parsed.first_backoff = 10ms;
  parsed.most_backoff = 50ms;
  return parsed;
}

std::unique_ptr<PlatformFollower> MarathonFake::MakeFollower() {
  return std::make_unique<MarathonFollower>(Options());
}

std::string MarathonFake::App(const std::string& id, const std::vector<std::string>& tasks,
                              const std::string& more, const std::string& of_tasks) {
  std::string text;
  int host = 0;
  for (const std::string& task : tasks) {
    StrAppend(&text, text.empty() ? "" : ",", R"({"id":")", task, R"(","appId":")", id,
              R"(","host":"10.0.0.)", ++host, R"(","ports":[31000],"state":"TASK_RUNNING")",
              of_tasks.empty() ? "" : ",", of_tasks, "}");
  }
  return StrCat(R"({"id":")", id, R"(","version":"2026-01-01T00:00:00Z","networks":[{"mode":"host"}],)",
                R"("portDefinitions":[{"port":80,"name":"http","protocol":"tcp"}],"tasks":[)", text, "],",
                more, "}");
}

void MarathonFake::Put(const std::string& name, const std::string& version) {
  const std::string id = StrCat("/a/", name);
  SetApp(id, App(id, {"t"}, StrCat(R"("labels":{"v":")", version, "\"}")));
}

void MarathonFake::PutTwin(const std::string& name, const std::string& version) {
  const std::string id = StrCat("/b/", name);
  SetApp(id, App(id, {"t"}, StrCat(R"("labels":{"v":")", version, "\"}")));
}

void MarathonFake::Delete(const std::string& name) { SetApp(StrCat("/a/", name), ""); }

void MarathonFake::SetApp(const std::string& id, const std::string& app, bool event) {
  std::lock_guard lock(mutex_);
  app.empty() ? static_cast<void>(apps_.erase(id)) : static_cast<void>(apps_[id] = app);
  if (event) Tell(id);
}

void MarathonFake::SetPod(const std::string& id, const std::string& status, bool event) {
  std::lock_guard lock(mutex_);
  status.empty() ? static_cast<void>(pods_.erase(id)) : static_cast<void>(pods_[id] = status);
  if (event) Tell(id);
}

void MarathonFake::Tell(const std::string& id) {
  SayOnStreams(StrCat("event: instance_changed_event\r\ndata: {\"runSpecId\":\"", id,
                      "\",\"eventType\":\"instance_changed_event\"}\r\n\r\n"));
}

void MarathonFake::Say(const std::string& bytes) {
  std::lock_guard lock(mutex_);
  SayOnStreams(bytes);
}

void MarathonFake::RedirectTo(const std::string& address) {
  std::lock_guard lock(mutex_);
  leader_ = address;
  ++epoch_;
  changed_.notify_all();
}

void MarathonFake::Forget() {
  std::lock_guard lock(mutex_);
  said_.clear();
  ++epoch_;
  changed_.notify_all();
}

std::string MarathonFake::VersionOf(const config::ConfigObject& object) const {
  const auto& entry = object.Spec<istio::networking::v1alpha3::ServiceEntry>();
  return entry.endpoints_size() == 0 ? "none" : entry.endpoints(0).labels().at("v");
}

std::string MarathonFake::List(const std::map<std::string, std::string>& of) const {
  std::string text;
  for (const auto& [id, one] : of) StrAppend(&text, text.empty() ? "" : ",", one);
  return StrCat("[", text, "]");
}

void MarathonFake::Answer(const httplib::Request& request, httplib::Response& response) {
  if (away_) {
    response.status = 503;
    return response.set_content("no leader", "text/plain");
  }
  const std::string& path = request.path;
  if (path == "/v2/events" && !leader_.empty())
    return response.set_redirect(StrCat("http://", leader_, "/v2/events"), 302);
  if (path == "/v2/events")
    return Stream(response, "text/event-stream", "event: event_stream_attached\r\ndata: {}\r\n\r\n", "\r\n");
  const auto answer = [&response](const std::string& text) {
    response.set_content(text, "application/json");
  };
  if (path == "/v2/apps") return answer(StrCat(R"({"apps":)", List(apps_), "}"));
  if (path == "/v2/pods::status") return answer(List(pods_));
  const bool pod = path.ends_with("::status");
  const std::string id = pod ? path.substr(8, path.size() - 16) : path.substr(8);
  const auto& of = pod ? pods_ : apps_;
  const auto it = of.find(id);
  if (it == of.end()) {
    response.status = 404;
    return answer(R"({"message":"does not exist"})");
  }
  answer(pod ? it->second : StrCat(R"({"app":)", it->second, "}"));
}

size_t MarathonFake::streams() {
  std::lock_guard lock(mutex_);
  return streams_;
}

INSTANTIATE_TEST_SUITE_P(Marathon, PlatformContractTest,
                         ::testing::Values(PeerCase{"marathon",
                                                    [] { return std::make_unique<MarathonFake>(); }}),
                         NameOfPeer);

}  // namespace fairlead::source
