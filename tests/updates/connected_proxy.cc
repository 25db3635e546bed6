#include "tests/updates/connected_proxy.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/strings.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/config/route/v3/route.pb.h"
#include "tests/references/read_references.h"

namespace fairlead::updates {
namespace {

using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using google::protobuf::Any;
using xds::Framing;
using xds::TypeId;
using Names = std::set<std::string>;

Names Minus(const Names& a, const Names& b) {
  Names rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

template <typename Message>
Message Unpacked(const Any& any) {
  Message message;
  EXPECT_TRUE(any.UnpackTo(&message));
  return message;
}

std::string NameOf(TypeId type, const Any& any) {
  switch (type) {
    case TypeId::kCluster:
      return Unpacked<envoy::config::cluster::v3::Cluster>(any).name();
    case TypeId::kEndpoint:
      return Unpacked<envoy::config::endpoint::v3::ClusterLoadAssignment>(any).cluster_name();
    case TypeId::kListener:
      return Unpacked<envoy::config::listener::v3::Listener>(any).name();
    case TypeId::kRoute:
      return Unpacked<envoy::config::route::v3::RouteConfiguration>(any).name();
    default:
      return "";  // a name table has none
  }
}

}  // namespace

void ConnectedProxy::Connect(push::Pusher* pusher) {
  stream_ = pusher->Open(framing_, "test");
  stream_->Start(shared_from_this());
  {
    std::lock_guard lock(mutex_);
    Ask(TypeId::kCluster, {}, {});
    if (client_.name_table) Ask(TypeId::kNameTable, {}, {});
  }
  Flush();
}

std::vector<std::string> ConnectedProxy::TakeTranscript() {
  std::lock_guard lock(mutex_);
  return std::exchange(transcript_, {});
}

ConnectedProxy::Held ConnectedProxy::held() const {
  std::lock_guard lock(mutex_);
  Held held;
  for (const xds::TypeInfo& type : xds::kTypes) {
    for (const auto& [name, content] : kinds_[static_cast<size_t>(type.id)].held) {
      held[{type.id, name}] = content;
    }
  }
  return held;
}

void ConnectedProxy::Read() {
  {
    std::lock_guard lock(mutex_);
    reading_ = true;
  }
  Flush();
}

void ConnectedProxy::Send(xds::Frame frame) {
  std::string bytes;
  for (const xds::Piece& piece : frame) bytes.append(piece.bytes);
  {
    std::lock_guard lock(mutex_);
    const Response response = Decode(bytes);
    Take(response);
    // As Envoy does: listeners follow when the clusters have come.
    if (response.type == TypeId::kCluster && !Of(TypeId::kListener).open) Ask(TypeId::kListener, {}, {});
    AskForWhatIsReferredTo();
    Ack(response.type);
  }
  Flush();
  stream_->OnSent(true);
}

void ConnectedProxy::Close(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) ADD_FAILURE() << client_.name << " was cut off: " << status;
}

ConnectedProxy::Response ConnectedProxy::Decode(const std::string& bytes) const {
  Response response;
  const auto hold = [&](const Any& any) {
    response.resources[NameOf(response.type, any)] = any.SerializeAsString();
  };
  if (framing_ == Framing::kDelta) {
    DeltaDiscoveryResponse message;
    EXPECT_TRUE(message.ParseFromString(bytes));
    response.type = xds::FindType(message.type_url())->id;
    response.nonce = message.nonce();
    for (const auto& resource : message.resources()) hold(resource.resource());
    response.removed.assign(message.removed_resources().begin(), message.removed_resources().end());
  } else {
    DiscoveryResponse message;
    EXPECT_TRUE(message.ParseFromString(bytes));
    response.type = xds::FindType(message.type_url())->id;
    response.nonce = message.nonce();
    response.version = message.version_info();
    for (const Any& any : message.resources()) hold(any);
  }
  return response;
}

void ConnectedProxy::Take(const Response& response) {
  Kind& kind = Of(response.type);
  const xds::TypeInfo& type = xds::InfoOf(response.type);
  const bool whole = framing_ == Framing::kStateOfTheWorld && type.root;
  std::map<std::string, char> marks;
  for (const auto& [name, content] : response.resources) {
    auto it = kind.held.find(name);
    const char mark = it == kind.held.end() ? '+' : it->second != content ? '~' : '=';
    if (!whole || mark != '=') marks[name] = mark;
  }
  for (const std::string& name : response.removed) marks[name] = '-';
  if (whole) {
    for (const auto& [name, content] : kind.held) {
      if (!response.resources.contains(name)) marks[name] = '-';
    }
  }
  std::string line(type.name);
  if (whole && marks.empty()) StrAppend(&line, " =");
  for (const auto& [name, mark] : marks) {
    StrAppend(&line, " ", std::string(1, mark), ReplaceAll(name, ".svc.cluster.local", ""));
    if (mark != '-') continue;
    kind.held.erase(name);
    kind.referred.erase(name);
  }
  for (const auto& [name, content] : response.resources) Hold(name, content, type.children != 0, &kind);
  kind.nonce = response.nonce;
  kind.version = response.version;
  transcript_.push_back(std::move(line));
}

void ConnectedProxy::Hold(const std::string& name, const std::string& content, bool refers, Kind* kind) {
  std::string& held = kind->held[name];
  if (held == content) return;
  held = content;
  Any any;
  EXPECT_TRUE(any.ParseFromString(content));
  if (refers) kind->referred[name] = ReadReferences(any);
}

void ConnectedProxy::Ask(TypeId type, const Names& add, const Names& drop) {
  Kind& kind = Of(type);
  kind.open = true;
  kind.names.insert(add.begin(), add.end());
  for (const std::string& name : drop) {
    kind.names.erase(name);
    kind.held.erase(name);
    kind.referred.erase(name);
  }
  if (framing_ == Framing::kStateOfTheWorld) return Ack(type);  // which repeats all names
  DeltaDiscoveryRequest request;
  request.set_type_url(std::string(xds::InfoOf(type).url));
  for (const std::string& name : add) request.add_resource_names_subscribe(name);
  for (const std::string& name : drop) request.add_resource_names_unsubscribe(name);
  Say(request);
}

void ConnectedProxy::Ack(TypeId type) {
  const Kind& kind = Of(type);
  const std::string url(xds::InfoOf(type).url);
  if (framing_ == Framing::kDelta) {
    DeltaDiscoveryRequest request;
    request.set_type_url(url);
    request.set_response_nonce(kind.nonce);
    return Say(request);
  }
  DiscoveryRequest request;
  request.set_type_url(url);
  request.set_response_nonce(kind.nonce);
  request.set_version_info(kind.version);
  for (const std::string& name : kind.names) request.add_resource_names(name);
  Say(request);
}

void ConnectedProxy::AskForWhatIsReferredTo() {
  std::map<TypeId, Names> referred = {{TypeId::kEndpoint, {}}, {TypeId::kRoute, {}}};
  for (TypeId root : {TypeId::kCluster, TypeId::kListener}) {
    for (const auto& [name, references] : Of(root).referred) {
      for (const cache::Reference& reference : references) {
        if (auto it = referred.find(reference.type); it != referred.end())
          it->second.insert(reference.name.str());
      }
    }
  }
  for (const auto& [type, names] : referred) {
    const Names add = Minus(names, Of(type).names);
    const Names drop = client_.lets_go ? Minus(Of(type).names, names) : Names();
    if (!add.empty() || !drop.empty()) Ask(type, add, drop);
  }
}

// Says who it is in the first request, as proxies do.
void ConnectedProxy::Say(const google::protobuf::Message& request) {
  std::unique_ptr<google::protobuf::Message> message(request.New());
  message->CopyFrom(request);
  if (!std::exchange(said_who_, true)) {
    envoy::config::core::v3::Node node;
    node.set_id(client_.id);
    const auto status =
        google::protobuf::util::JsonStringToMessage(client_.metadata, node.mutable_metadata());
    EXPECT_TRUE(status.ok()) << client_.metadata;
    const auto* field = message->GetDescriptor()->FindFieldByName("node");
    message->GetReflection()->MutableMessage(message.get(), field)->CopyFrom(node);
  }
  requests_.push_back(message->SerializeAsString());
}

// Hands over a request if one is asked for.
void ConnectedProxy::Flush() {
  std::string request;
  {
    std::lock_guard lock(mutex_);
    if (!reading_ || requests_.empty()) return;
    reading_ = false;
    request = std::move(requests_.front());
    requests_.pop_front();
  }
  stream_->OnRequest(std::move(request));
}

}  // namespace fairlead::updates
