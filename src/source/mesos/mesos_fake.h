#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_FAKE_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_FAKE_H_

#include <httplib.h>

#include <map>
#include <memory>
#include <string>

#include "source/mesos/mesos_follower.h"
#include "source/platform/http_peer_fake.h"

namespace fairlead::source {

// For tests: a master of Mesos's as the source asks it, with one framework and one agent. Written from the
// documented API; see mesos_follower.h for the documents.
class MesosFake : public HttpPeerFake {
 public:
  MesosFake();
  ~MesosFake() override;

  std::unique_ptr<PlatformFollower> MakeFollower() override;
  void Put(const std::string& name, const std::string& version) override;
  void Delete(const std::string& name) override;
  void PutTwin(const std::string& /*name*/, const std::string& /*version*/) override {}
  // Tasks of one name are one service.
  bool HasTwins() const override { return false; }
  void Forget() override;
  std::string VersionOf(const config::ConfigObject& object) const override;

  // "mesos://127.0.0.1:5050", and options.
  std::string Url(const std::string& options = "") const;
  MesosOptions Options(const std::string& options = "") const;

  // A running task of framework F on agent A at this address, with one port 8080 named http. `more`: fields.
  void AddTask(const std::string& id, const std::string& name, const std::string& address,
               const std::string& more = R"("labels":{})");
  // A new status of a task: its state, and fields of its status.
  void Update(const std::string& id, const std::string& state, const std::string& more = "");
  // Without an event nobody is told.
  void DropTask(const std::string& id, bool event = true);
  void RemoveFramework();
  void RemoveAgent();
  // Bytes on each stream; a record of an event.
  void Say(const std::string& bytes);
  static std::string Record(const std::string& event);

  // "//127.0.0.1:5051/api/v1", where callers are sent; "": this one leads.
  void RedirectTo(const std::string& location);
  // How often it says that it sends heartbeats, and whether it does.
  void SetHeartbeats(const std::string& seconds, bool sent);
  size_t streams();    // so far
  std::string body();  // of the last call

 private:
  struct Task {
    std::string fields, state, status;  // of JSON
  };
  void Answer(const httplib::Request& request, httplib::Response& response);
  std::string State() const;
  std::string JsonOf(const Task& task) const;
  void Tell(const std::string& event) { SayOnStreams(Record(event)); }

  std::map<std::string, Task> tasks_;       // by id
  std::map<std::string, std::string> ids_;  // by the name of Put
  int next_ = 0;
  bool framework_ = true, agent_ = true, beats_ = true;
  std::string leader_, interval_ = "15", body_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_FAKE_H_
