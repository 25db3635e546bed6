#ifndef FAIRLEAD_SOURCE_CONSUL_CONSUL_FOLLOWER_H_
#define FAIRLEAD_SOURCE_CONSUL_CONSUL_FOLLOWER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/read/json_reader.h"
#include "fetch/client.h"
#include "fetch/whole_answer.h"
#include "source/consul/consul_entries.h"
#include "source/consul/consul_intentions.h"
#include "source/consul/consul_options.h"
#include "source/platform/platform_source.h"

namespace fairlead::source {

// Follows the catalog of Consul: a blocking query for the list of services of each datacenter, for the
// configuration entries with protocols, and for the instances of each service with their checks. Where there
// are more services than questions at once are allowed, they take turns. A part of the view is a service.
// Of several servers one is asked, as long as it knows a leader; then the next one.
// Source: developer.hashicorp.com/consul/api-docs
class ConsulFollower : public PlatformFollower {
 public:
  explicit ConsulFollower(ConsulOptions options);
  ~ConsulFollower() override;

  void Begin(TaskLoop* loop, PlatformView* view) override;
  void End() override;
  std::vector<std::string> Awaited() const override;

 private:
  enum class About : uint8_t { kLeader, kServices, kService, kServiceDefaults, kProxyDefaults, kIntentions };
  struct Asked;
  using Id = std::string;

  void Add(const Id& id, About about, const std::string& datacenter, const std::string& service);
  void Drop(const Id& id);
  std::string PathOf(About about, const std::string& datacenter, const std::string& service) const;
  void Enqueue(Asked& asked);
  void EnqueueAt(Asked& asked, Clock::time_point time);
  void Fill();
  void FillFrom(std::deque<Id>& queue, bool whole);
  bool HasRoom(bool whole) const;
  absl::StatusOr<fetch::Request> RequestFor(const Asked& asked) const;
  void Ask(Asked& asked);
  void Stop(Asked& asked);
  void LetGo(const Asked& asked);
  void Crowd();
  std::chrono::milliseconds WaitOf(const Asked& asked) const;
  void OnAnswer(const Id& id, uint64_t number, const fetch::WholeAnswer& answer);
  bool Take(Asked& asked, const fetch::WholeAnswer& answer);
  absl::Status Read(Asked& asked, const std::string& body);
  void SetServices(const std::string& datacenter, const std::vector<std::string>& names);
  void Forget(Asked& asked);
  std::chrono::milliseconds PauseOf(Asked& asked, bool good) const;
  void AskForLeader();
  void LeaveServer();
  void Recover();
  void Make(const std::string& service);
  void MakeAll();
  void MakePolicy(const std::string& service);
  void SetIntentions(ConsulIntentions intentions);
  void NoteComplete();
  bool HasOtherServers() const { return options_.url.addresses.size() > 1; }
  bool IsCrowded() const { return services_asked_ > options_.watches; }

  const ConsulOptions options_;
  std::unique_ptr<fetch::Client> client_;
  TaskLoop* loop_ = nullptr;
  PlatformView* view_ = nullptr;
  config::JsonReader reader_;

  std::map<Id, std::unique_ptr<Asked>> asked_;
  // Both may have names of queries that are gone. What is answered at once comes first.
  std::deque<Id> whole_queue_, queue_;
  size_t running_ = 0, whole_running_ = 0;  // queries for instances that are with the server
  size_t services_asked_ = 0, unsettled_ = 0;
  bool crowded_ = false;
  uint64_t last_number_ = 0;
  size_t server_ = 0;  // that is asked, counted on from the first after the last

  std::map<std::string, ConsulService> services_;
  std::map<std::string, std::string> protocols_;
  std::string default_protocol_;
  ConsulIntentions intentions_;
  bool intentions_known_ = false;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CONSUL_CONSUL_FOLLOWER_H_
