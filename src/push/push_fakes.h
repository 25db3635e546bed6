#ifndef FAIRLEAD_PUSH_PUSH_FAKES_H_
#define FAIRLEAD_PUSH_PUSH_FAKES_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "gen/generator.h"
#include "push/stream/pusher.h"

// Stand-ins for what is around the pusher: a mesh that is a map of texts, and proxies that talk protobuf.
namespace fairlead::push {

using Texts = std::map<std::string, std::string>;  // resource name to content

// What the fake generators read: the mesh by type. Guarded by a lock, as tests change it while streams read.
class FakeMesh {
 public:
  void Put(xds::TypeId type, const std::string& name, const std::string& content) {
    std::lock_guard lock(mutex_);
    texts_[type][name] = content;
  }
  Texts Of(xds::TypeId type) const {
    std::lock_guard lock(mutex_);
    auto it = texts_.find(type);
    return it == texts_.end() ? Texts() : it->second;
  }
  std::atomic<int> generated{0};

 private:
  mutable std::mutex mutex_;
  std::map<xds::TypeId, Texts> texts_;
};

// Makes the mesh's texts of one type, the same for all proxies.
class FakeGenerator : public gen::Generator {
 public:
  FakeGenerator(FakeMesh* mesh, xds::TypeId type) : mesh_(mesh), type_(type) {}
  gen::Resources Generate(mesh::View& view, const gen::Names* names, size_t /*part*/) override {
    ++mesh_->generated;
    view.settings();  // each publication has its own, see EmptySnapshot
    gen::Resources made;
    for (const auto& [name, content] : mesh_->Of(type_)) {
      if (names != nullptr && !std::binary_search(names->begin(), names->end(), name)) continue;
      google::protobuf::Any any;
      any.set_type_url(std::string(xds::InfoOf(type_).url));
      any.set_value(StrCat(name, "=", content));
      auto resource = std::make_shared<cache::Resource>();
      resource->name = name;
      resource->any = any.SerializeAsString();
      resource->hash = StableHash(resource->any.plain());
      made.push_back(std::move(resource));
    }
    return made;
  }
  void Sweep(Clock::time_point /*now*/) override {}

 private:
  FakeMesh* const mesh_;
  const xds::TypeId type_;
};

inline Generators MakeFakeGenerators(FakeMesh* mesh) {
  Generators generators;
  for (const xds::TypeInfo& type : xds::kTypes) {
    generators[static_cast<size_t>(type.id)] = std::make_unique<FakeGenerator>(mesh, type.id);
  }
  return generators;
}

inline PusherOptions MakeFakeOptions() {
  PusherOptions options;
  options.scope = [](const mesh::MeshSnapshot&, const model::ProxyPtr& proxy, const mesh::ProxyScopePtr&,
                     bool /*shadow*/) {
    auto scope = std::make_shared<mesh::ProxyScope>();
    scope->proxy = proxy;
    return scope;
  };
  return options;
}

// With settings unlike those of any other: all that the fake generators make is to be made anew.
inline mesh::SnapshotPtr EmptySnapshot() {
  auto snapshot = std::make_shared<mesh::MeshSnapshot>();
  snapshot->settings = std::make_shared<model::Settings>();
  return snapshot;
}

inline Reasons BecauseOf(Reason reason) {
  Reasons reasons;
  reasons.Add(reason);
  reasons.first = Clock::now();
  return reasons;
}

// The sends of all fake proxies whose end a stream has not been told yet. A server of gRPC waits for them
// before it is gone; so must whoever ends a pusher.
class SendsUnderWay {
 public:
  static void Begin() {
    std::lock_guard lock(mutex_);
    ++count_;
  }
  static void End() {
    std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  static void AwaitNone() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [] { return count_ == 0; });
  }

 private:
  inline static std::mutex mutex_;
  inline static std::condition_variable none_;
  inline static int count_ = 0;  // guarded by mutex_
};

// Ends a pusher as a server does.
struct EndPusher {
  void operator()(Pusher* pusher) const {
    pusher->Stop();
    SendsUnderWay::AwaitNone();
    delete pusher;
  }
};
using OwnedPusher = std::unique_ptr<Pusher, EndPusher>;

// The transport and the proxy at its other end. `stuck`: takes what is sent, but never comes back for more.
class FakeProxy : public StreamConnection, public std::enable_shared_from_this<FakeProxy> {
 public:
  explicit FakeProxy(bool stuck = false) : stuck_(stuck) {}
  void Connect(Pusher* pusher, StreamOptions options = {}) {
    options.peer.address = "test";
    stream_ = pusher->Open(std::move(options));
    stream_->Start(shared_from_this());
  }
  void Ask(xds::TypeId type, const std::vector<std::string>& names = {},
           std::string node = "sidecar~10.0.0.1~a.default~c") {
    envoy::service::discovery::v3::DiscoveryRequest request;
    if (!node.empty()) request.mutable_node()->set_id(node);
    request.set_type_url(std::string(xds::InfoOf(type).url));
    for (const auto& name : names) request.add_resource_names(name);
    Say(request.SerializeAsString());
  }
  void Say(const std::string& bytes) {
    {
      std::unique_lock lock(mutex_);
      ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(10), [&] { return reading_ || closed_; }));
      reading_ = false;
    }
    stream_->OnRequest(bytes);
  }
  void HangUp() { stream_->OnClosed(); }
  // A stuck one reads again, from now on.
  void ComeBack() {
    {
      std::lock_guard lock(mutex_);
      stuck_ = under_way_ = false;
    }
    stream_->OnSent(true);
  }

  void Read() override {
    std::lock_guard lock(mutex_);
    reading_ = true;
    changed_.notify_all();
  }
  void Send(xds::Frame frame) override {
    std::string bytes;
    for (const xds::Piece& piece : frame) bytes.append(piece.bytes);
    envoy::service::discovery::v3::DiscoveryResponse response;
    EXPECT_TRUE(response.ParseFromString(bytes));
    {
      std::lock_guard lock(mutex_);
      EXPECT_FALSE(under_way_) << "two messages under way";
      under_way_ = true;
      responses_.push_back(std::move(response));
      changed_.notify_all();
    }
    if (stuck_) return;
    // As gRPC does, from another thread.
    SendsUnderWay::Begin();
    std::thread([self = shared_from_this()] {
      {
        std::lock_guard lock(self->mutex_);
        self->under_way_ = false;
      }
      self->stream_->OnSent(true);
      SendsUnderWay::End();
    }).detach();
  }
  void Close(const absl::Status& status) override {
    std::lock_guard lock(mutex_);
    closed_ = true;
    status_ = status;
    changed_.notify_all();
  }

  void Abort() override { Close(absl::DeadlineExceededError("aborted")); }

  // The number'th response, waited for.
  envoy::service::discovery::v3::DiscoveryResponse Await(size_t number) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(10), [&] { return responses_.size() > number; })) {
      ADD_FAILURE() << "no response " << number;
      return {};
    }
    return responses_[number];
  }
  bool AwaitClosed(std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return closed_; });
  }
  absl::Status status() const {
    std::lock_guard lock(mutex_);
    return status_;
  }
  size_t Responses() const {
    std::lock_guard lock(mutex_);
    return responses_.size();
  }

 private:
  std::atomic<bool> stuck_;
  StreamPtr stream_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool reading_ = false, under_way_ = false, closed_ = false;
  absl::Status status_;
  std::vector<envoy::service::discovery::v3::DiscoveryResponse> responses_;
};

// The values of its resources, in their order.
inline std::vector<std::string> Values(const envoy::service::discovery::v3::DiscoveryResponse& response) {
  std::vector<std::string> values;
  for (const auto& resource : response.resources()) values.push_back(resource.value());
  return values;
}

// A mesh with one cluster, of which pushers are made, and proxies that connect to them.
class FakeMeshTest : public testing::Test {
 protected:
  FakeMeshTest() { mesh.Put(xds::TypeId::kCluster, "a", "1"); }
  OwnedPusher Make(PusherOptions options = MakeFakeOptions()) {
    return OwnedPusher(new Pusher(std::move(options), MakeFakeGenerators(&mesh)));
  }
  std::shared_ptr<FakeProxy> Connect(Pusher* pusher, bool stuck = false) {
    auto proxy = std::make_shared<FakeProxy>(stuck);
    proxy->Connect(pusher);
    return proxy;
  }
  FakeMesh mesh;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUSH_FAKES_H_
