#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/derivations.h"
#include "base/log.h"
#include "config/read/manifests.h"
#include "mesh/view/proxy_scope.h"
#include "model/mesh_config.h"
#include "proto/json.h"
#include "push/stream/generators.h"
#include "push/stream/pusher.h"
#include "serving/rest_body.h"
#include "source/file/read_file.h"
#include "state/mesh.h"
#include "tests/fuzz/any_client.h"
#include "tests/fuzz/choices.h"
#include "xds/wire.h"

// For libFuzzer: the bytes choose a client (its node's type, GENERATOR and metadata; its framing; types and
// names) that talks to the server's streams and generators over a real mesh. Whatever it says, the process
// lives, each of its requests is dealt with within seconds, and who is refused is told why.
namespace {

using fairlead::Clock;
using fairlead::fuzz::Choices;
using fairlead::fuzz::Require;
using fairlead::fuzz::Trace;
namespace config = fairlead::config;
namespace push = fairlead::push;
namespace xds = fairlead::xds;

constexpr unsigned kMostRequests = 5;
constexpr std::chrono::seconds kPatience{60};  // a sanitizer on a busy machine is slow

std::vector<config::ObjectChange> ObjectsIn(const std::string& folder) {
  std::vector<config::ObjectChange> changes;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "input.yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const auto text = fairlead::source::ReadFile(file.string());
    if (!text.ok()) continue;
    for (const config::ConfigPtr& object : config::ParseManifests(*text, file.string()).objects)
      changes.push_back({config::KeyOf(*object), object});
  }
  return changes;
}

// The server from its mesh to its streams.
class Server {
 public:
  explicit Server(const std::vector<config::ObjectChange>& objects)
      : pusher_(Options(), push::MakeGenerators(), push::MakeGeneratorVariants(), push::MakeObjectTypes()) {
    const auto settings = fairlead::model::MakeSettings(
        fairlead::model::ParseMeshConfig("", "mesh.yaml").mesh,
        fairlead::model::ParseMeshNetworks("", "networks.yaml").networks, "cluster.local", "Kubernetes");
    auto snapshot = mesh_.Apply(objects, settings).snapshot;
    Require(snapshot != nullptr, "no mesh");
    pusher_.Publish(std::move(snapshot), push::Reasons{});
  }
  push::Pusher* pusher() { return &pusher_; }

 private:
  static push::PusherOptions Options() {
    push::PusherOptions options;
    options.threads = 1;
    options.scope = fairlead::mesh::ComputeProxyScope;
    return options;
  }
  fairlead::state::Mesh mesh_{fairlead::app::MakeDerivations()};
  push::Pusher pusher_;
};

Server& ServerOf(unsigned mesh) {
  static auto* const empty = new Server({});
  static auto* const whole = new Server(ObjectsIn(FAIRLEAD_FUZZ_MESH));
  return mesh == 0 ? *empty : *whole;
}

// The client's end of a stream. Who drives it looks at it until the stream has come to rest.
class Client : public push::StreamConnection {
 public:
  void Read() override {
    std::lock_guard lock(mutex_);
    reading_ = true;
  }
  void Send(xds::Frame frame) override {
    std::lock_guard lock(mutex_);
    sent_.clear();
    for (const xds::Piece& piece : frame) sent_.append(piece.bytes);
    under_way_ = true;
  }
  void Close(const absl::Status& status) override {
    std::lock_guard lock(mutex_);
    Require(status.ok() || !status.message().empty(), "refused without a reason");
    closed_ = true;
  }
  void Abort() override { Close(absl::DeadlineExceededError("aborted")); }

  bool closed() const {
    std::lock_guard lock(mutex_);
    return closed_;
  }
  bool TakeReading() {
    std::lock_guard lock(mutex_);
    return std::exchange(reading_, false);
  }
  bool TakeSent(std::string* bytes) {
    std::lock_guard lock(mutex_);
    *bytes = sent_;
    return std::exchange(under_way_, false);
  }

 private:
  mutable std::mutex mutex_;
  bool reading_ = false, closed_ = false, under_way_ = false;
  std::string sent_;
};

// DiscoveryResponse and DeltaDiscoveryResponse have it in the same field.
std::string NonceOf(const std::string& response) {
  constexpr uint32_t kNonce = 5;
  std::string nonce;
  xds::FieldReader field(response);
  while (field.Next()) {
    if (field.number() == kNonce) nonce = std::string(field.bytes());
  }
  Require(field.ok(), "a response that cannot be read");
  return nonce;
}

// Lets the stream work until nothing is under way; the nonce of its last response.
void ComeToRest(push::Stream* stream, Client* client, std::string* nonce) {
  const auto end = Clock::now() + kPatience;
  std::string bytes;
  while (!client->closed()) {
    if (client->TakeSent(&bytes)) {
      *nonce = NonceOf(bytes);
      stream->OnSent(true);
    } else if (!stream->Busy()) {
      return;
    }
    Require(Clock::now() < end, "a stream does not come to rest");
    std::this_thread::yield();
  }
}

// As it comes by REST, in JSON; "" where it is refused.
std::string ByJson(const std::string& request) {
  constexpr std::string_view kType = "envoy.service.discovery.v3.DiscoveryRequest";
  const auto json = fairlead::proto::ToJson(kType, request);
  if (!json.ok()) return "";
  Require(fairlead::serving::CheckRestBody(*json, {}).ok(), "a small request is refused: ", *json);
  return fairlead::proto::FromJson(kType, *json).value_or("");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = fairlead::SetLogLevels("none").ok();
  Require(quiet, "the log");
  Choices choices(data, size);
  Server& server = ServerOf(choices.Below(4));
  const push::StreamOptions options = fairlead::fuzz::ChooseOptions(&choices);
  const std::string node = fairlead::fuzz::ChooseNode(&choices);
  const auto client = std::make_shared<Client>();
  const push::StreamPtr stream = server.pusher()->Open(options);
  stream->Start(client);
  std::string nonce;
  for (unsigned i = 0; i < kMostRequests && !client->closed() && (i == 0 || !choices.Done()); ++i) {
    if (!client->TakeReading()) break;
    std::string request = fairlead::fuzz::ChooseRequest(&choices, options, nonce, i == 0 ? node : "");
    if (options.exchange == push::Exchange::kPoll) request = ByJson(request);
    Trace("a request of ", request.size(), " bytes");
    stream->OnRequest(request);
    ComeToRest(stream.get(), client.get(), &nonce);
  }
  stream->OnClosed();
  return 0;
}
