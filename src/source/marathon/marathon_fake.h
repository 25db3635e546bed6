#ifndef FAIRLEAD_SOURCE_MARATHON_MARATHON_FAKE_H_
#define FAIRLEAD_SOURCE_MARATHON_MARATHON_FAKE_H_

#include <httplib.h>

#include <map>
#include <memory>
#include <string>

#include "source/marathon/marathon_follower.h"
#include "source/platform/http_peer_fake.h"

namespace fairlead::source {

// For tests: a master of Marathon's as the source asks it. Written from the documented API; see
// marathon_follower.h for the documents.
class MarathonFake : public HttpPeerFake {
 public:
  MarathonFake();
  ~MarathonFake() override;

  std::unique_ptr<PlatformFollower> MakeFollower() override;
  void Put(const std::string& name, const std::string& version) override;
  void Delete(const std::string& name) override;
  void PutTwin(const std::string& name, const std::string& version) override;
  void Forget() override;
  std::string VersionOf(const config::ConfigObject& object) const override;

  // "marathon://127.0.0.1:8080", and options.
  std::string Url(const std::string& options = "") const;
  MarathonOptions Options(const std::string& options = "") const;
  // An app (its JSON), or a pod's status; "": it is gone. Without an event nobody is told.
  void SetApp(const std::string& id, const std::string& app, bool event = true);
  void SetPod(const std::string& id, const std::string& status, bool event = true);
  // Bytes on each stream of events.
  void Say(const std::string& bytes);
  // Where streams of events are to be attached; "": here.
  void RedirectTo(const std::string& address);
  // An app with host networking, one port and tasks of these ids on hosts 10.0.0.1, 10.0.0.2, ….
  static std::string App(const std::string& id, const std::vector<std::string>& tasks,
                         const std::string& more = R"("labels":{})", const std::string& of_tasks = "");

  size_t streams();

 private:
  void Answer(const httplib::Request& request, httplib::Response& response);
  std::string List(const std::map<std::string, std::string>& of) const;
  void Tell(const std::string& id);

  std::map<std::string, std::string> apps_, pods_;
  std::string leader_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MARATHON_MARATHON_FAKE_H_
