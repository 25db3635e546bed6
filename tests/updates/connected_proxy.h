#ifndef FAIRLEAD_TESTS_UPDATES_CONNECTED_PROXY_H_
#define FAIRLEAD_TESTS_UPDATES_CONNECTED_PROXY_H_

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "envoy/service/discovery/v3/discovery.pb.h"
#include "push/stream/pusher.h"

namespace fairlead::updates {

// Who connects, and how.
struct Client {
  std::string name;         // in transcripts
  std::string id;           // "sidecar~10.1.0.9~client.shop~shop.svc.cluster.local"
  std::string metadata;     // of the node, as JSON
  bool name_table = false;  // asks for NDS too
  bool lets_go = true;      // unsubscribes from what nothing refers to any more
};

// A proxy at the other end of a pusher's stream, in place of gRPC and Envoy. It answers each response at
// once, on the thread that sent it: ask for what the clusters and listeners refer to, then ACK. Thread-safe.
class ConnectedProxy : public push::StreamConnection, public std::enable_shared_from_this<ConnectedProxy> {
 public:
  ConnectedProxy(Client client, xds::Framing framing) : client_(std::move(client)), framing_(framing) {}
  // Returns at once.
  void Connect(push::Pusher* pusher);
  void HangUp() { stream_->OnClosed(); }

  const std::string& name() const { return client_.name; }
  // What was sent since the call before: a line a response, "CDS +new ~changed =again -gone". In state of the
  // world a response with clusters or listeners repeats those that did not change: they are not listed, and a
  // response without any difference is "CDS =".
  std::vector<std::string> TakeTranscript();

  // Type and name to content, of what the proxy has now.
  using Held = std::map<std::pair<xds::TypeId, std::string>, std::string>;
  Held held() const;

  void Read() override;
  void Send(xds::Frame frame) override;
  void Close(const absl::Status& status) override;
  void Abort() override { Close(absl::DeadlineExceededError("aborted")); }

 private:
  struct Kind {
    bool open = false;
    std::set<std::string> names;
    std::map<std::string, std::string> held;                        // name to encoded Any
    std::map<std::string, std::vector<cache::Reference>> referred;  // by what of `held`
    std::string nonce, version;
  };
  // What both variants' responses have in common.
  struct Response {
    xds::TypeId type;
    std::string nonce, version;
    std::map<std::string, std::string> resources;
    std::vector<std::string> removed;
  };

  Kind& Of(xds::TypeId type) { return kinds_[static_cast<size_t>(type)]; }
  Response Decode(const std::string& bytes) const;
  void Take(const Response& response);
  static void Hold(const std::string& name, const std::string& content, bool refers, Kind* kind);
  void Ask(xds::TypeId type, const std::set<std::string>& add, const std::set<std::string>& drop);
  void Ack(xds::TypeId type);
  void AskForWhatIsReferredTo();
  void Say(const google::protobuf::Message& request);
  void Flush();

  const Client client_;
  const xds::Framing framing_;
  push::StreamPtr stream_;

  mutable std::mutex mutex_;  // guards what follows
  std::deque<std::string> requests_;
  bool reading_ = false, said_who_ = false;
  std::array<Kind, xds::kTypeCount> kinds_;
  std::vector<std::string> transcript_;
};
using ConnectedProxyPtr = std::shared_ptr<ConnectedProxy>;

}  // namespace fairlead::updates

#endif  // FAIRLEAD_TESTS_UPDATES_CONNECTED_PROXY_H_
