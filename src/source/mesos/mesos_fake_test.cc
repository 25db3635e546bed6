#include "source/mesos/mesos_fake.h"

#include <chrono>
#include <utility>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/platform/contract_fixture.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;

constexpr char kFramework[] =
    R"({"framework_info":{"id":{"value":"F"},"name":"aurora","user":"root"},"active":true})";
constexpr char kAgent[] =
    R"({"agent_info":{"id":{"value":"A"},"hostname":"agent-a"},"active":true,"pid":"slave(1)@10.9.9.9:5051"})";

}  // namespace

MesosFake::MesosFake() {
  Serve([this](const httplib::Request& request, httplib::Response& response, Lock&) {
    Answer(request, response);
  });
}

MesosFake::~MesosFake() { StopServing(); }

std::string MesosFake::Url(const std::string& options) const {
  return StrCat("mesos://", Address(), options.empty() ? "" : "?", options);
}

MesosOptions MesosFake::Options(const std::string& options) const {
  MesosOptions parsed = *ParseMesosOptions(Url(StrCat("names={name}&", options)));
  parsed.first_backoff = 10ms;
  parsed.most_backoff = 50ms;
  parsed.least_silence = 10ms;
  return parsed;
}

std::unique_ptr<PlatformFollower> MesosFake::MakeFollower() {
  return std::make_unique<MesosFollower>(Options());
}

// A task never changes: a new one takes its place.
void MesosFake::Put(const std::string& name, const std::string& version) {
  std::string before, id;
  {
    std::lock_guard lock(mutex_);
    id = StrCat("t", ++next_);
    before = std::exchange(ids_[name], id);
  }
  AddTask(id, name, "10.0.0.1", StrCat(R"("labels":{"labels":[{"key":"v","value":")", version, R"("}]})"));
  if (!before.empty()) DropTask(before);
}

void MesosFake::Delete(const std::string& name) {
  std::string id;
  {
    std::lock_guard lock(mutex_);
    id = ids_[name];
    ids_.erase(name);
  }
  DropTask(id);
}

std::string MesosFake::VersionOf(const config::ConfigObject& object) const {
  const auto& entry = object.Spec<istio::networking::v1alpha3::ServiceEntry>();
  return entry.endpoints_size() == 0 ? "none" : entry.endpoints(0).labels().at("v");
}

void MesosFake::AddTask(const std::string& id, const std::string& name, const std::string& address,
                        const std::string& more) {
  std::lock_guard lock(mutex_);
  Task& task = tasks_[id];
  task.fields = StrCat(
      R"("name":"task","task_id":{"value":")", id,
      R"("},"framework_id":{"value":"F"},"agent_id":{"value":"A"},"resources":[],"discovery":{"visibility":)",
      R"("EXTERNAL","name":")", name,
      R"(","ports":{"ports":[{"number":8080,"name":"http","protocol":"tcp"}]}},)", more);
  task.state = "TASK_RUNNING";
  task.status = address.empty()
                    ? ""
                    : StrCat(R"(,"container_status":{"network_infos":[{"ip_addresses":[{"ip_address":")",
                             address, R"("}]}]})");
  Tell(StrCat(R"({"type":"TASK_ADDED","task_added":{"task":)", JsonOf(task), "}}"));
}

std::string MesosFake::JsonOf(const Task& task) const {
  return StrCat("{", task.fields, R"(,"state":")", task.state, R"(","statuses":[{"state":")", task.state,
                "\"", task.status, "}]}");
}

void MesosFake::Update(const std::string& id, const std::string& state, const std::string& more) {
  std::lock_guard lock(mutex_);
  Task& task = tasks_[id];
  task.state = state;
  StrAppend(&task.status, more.empty() ? "" : ",", more);
  Tell(StrCat(R"({"type":"TASK_UPDATED","task_updated":{"framework_id":{"value":"F"},"state":")", state,
              R"(","status":{"task_id":{"value":")", id, R"("},"state":")", state, "\"",
              more.empty() ? "" : ",", more, "}}}"));
}

void MesosFake::DropTask(const std::string& id, bool event) {
  if (event) Update(id, "TASK_KILLED");
  std::lock_guard lock(mutex_);
  tasks_.erase(id);
}

void MesosFake::RemoveFramework() {
  std::lock_guard lock(mutex_);
  framework_ = false;
  tasks_.clear();
  Tell(R"({"type":"FRAMEWORK_REMOVED","framework_removed":{"framework_info":{"id":{"value":"F"}}}})");
}

void MesosFake::RemoveAgent() {
  std::lock_guard lock(mutex_);
  agent_ = false;
  tasks_.clear();
  Tell(R"({"type":"AGENT_REMOVED","agent_removed":{"agent_id":{"value":"A"}}})");
}

std::string MesosFake::Record(const std::string& event) { return StrCat(event.size(), "\n", event); }

void MesosFake::Say(const std::string& bytes) {
  std::lock_guard lock(mutex_);
  SayOnStreams(bytes);
}

void MesosFake::RedirectTo(const std::string& location) {
  std::lock_guard lock(mutex_);
  leader_ = location;
  ++epoch_;
  changed_.notify_all();
}

void MesosFake::SetHeartbeats(const std::string& seconds, bool sent) {
  std::lock_guard lock(mutex_);
  interval_ = seconds;
  beats_ = sent;
}

void MesosFake::Forget() {
  std::lock_guard lock(mutex_);
  said_.clear();
  ++epoch_;
  changed_.notify_all();
}

std::string MesosFake::State() const {
  std::string tasks;
  for (const auto& [id, task] : tasks_) StrAppend(&tasks, tasks.empty() ? "" : ",", JsonOf(task));
  return StrCat(R"({"type":"SUBSCRIBED","subscribed":{"get_state":{"get_tasks":{"tasks":[)", tasks,
                R"(]},"get_executors":{},"get_frameworks":{"frameworks":[)", framework_ ? kFramework : "",
                R"(]},"get_agents":{"agents":[)", agent_ ? kAgent : "",
                R"(]}},"heartbeat_interval_seconds":)", interval_, "}}");
}

void MesosFake::Answer(const httplib::Request& request, httplib::Response& response) {
  body_ = request.body;
  if (away_) {
    response.status = 503;
    return response.set_content("No leader elected", "text/plain");
  }
  if (request.method != "POST" || request.path != "/api/v1") {
    response.status = 405;
    return;
  }
  if (!leader_.empty()) return response.set_redirect(leader_, 307);
  const std::string heartbeat = Record(R"({"type":"HEARTBEAT"})");
  Stream(response, "application/json", Record(State()) + heartbeat, beats_ ? heartbeat : "");
}

size_t MesosFake::streams() {
  std::lock_guard lock(mutex_);
  return streams_;
}

std::string MesosFake::body() {
  std::lock_guard lock(mutex_);
  return body_;
}

INSTANTIATE_TEST_SUITE_P(Mesos, PlatformContractTest,
                         ::testing::Values(PeerCase{"mesos", [] { return std::make_unique<MesosFake>(); }}),
                         NameOfPeer);

}  // namespace fairlead::source
