#include "source/copilot/copilot_fake.h"

#include <grpcpp/generic/async_generic_service.h>

#include <chrono>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "proto/wire.h"
#include "source/platform/contract_fixture.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;

std::string Number(int field, uint64_t value) {
  std::string out;
  proto::AppendVarint(static_cast<uint64_t>(field) << 3, &out);
  proto::AppendVarint(value, &out);
  return out;
}

std::string Field(int number, std::string_view value) {
  std::string out;
  proto::AppendField(number, value, &out);
  return out;
}

std::string Encode(const CopilotRoute& route, bool internal) {
  std::string backends;
  for (const CopilotBackend& backend : route.backends)
    backends += Field(1, Field(1, backend.address) + Number(2, backend.port));
  const std::string set = Field(3, backends);
  if (internal) return Field(1, route.host) + Field(2, route.vip) + set;
  return Field(1, route.host) + Field(2, route.path) + set + Field(4, route.process) +
         Number(5, static_cast<uint64_t>(route.weight));
}

}  // namespace

// One call: a message comes, one goes.
class CopilotFake::Reactor final : public grpc::ServerGenericBidiReactor {
 public:
  Reactor(CopilotFake* owner, std::string method) : owner_(owner), method_(std::move(method)) {
    StartRead(&request_);
  }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    std::string answer;
    const grpc::Status status = owner_->Serve(method_, &answer);
    if (!status.ok()) return Finish(status);
    const grpc::Slice slice(answer);
    {
      const std::lock_guard lock(mutex_);
      response_ = grpc::ByteBuffer(&slice, 1);
    }
    StartWriteAndFinish(&response_, {}, grpc::Status::OK);
  }
  void OnDone() override {
    { const std::lock_guard lock(mutex_); }
    delete this;  // NOLINT: gRPC's way
  }

 private:
  CopilotFake* const owner_;
  const std::string method_;
  std::mutex mutex_;  // what gRPC orders is not seen by the thread sanitizer
  grpc::ByteBuffer request_, response_;
};

class CopilotFake::Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(CopilotFake* owner) : owner_(owner) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return new Reactor(owner_, context->method());  // NOLINT: gRPC's way
  }

 private:
  CopilotFake* const owner_;
};

CopilotFake::CopilotFake(const Issued* own, const AuthorityFake* clients)
    : service_(std::make_unique<Service>(this)) {
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
  if (own != nullptr) {
    grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_key_cert_pairs.push_back({own->key, own->certificate});
    tls.pem_root_certs = clients->certificate();
    credentials = grpc::SslServerCredentials(tls);
  }
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", credentials, &port_);
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
}

CopilotFake::~CopilotFake() { server_->Shutdown(std::chrono::system_clock::now() + 100ms); }

CopilotOptions CopilotFake::Options(const std::string& options) const {
  CopilotOptions parsed = *ParseCopilotOptions(StrCat("copilot://127.0.0.1:", port_, "?", options));
  parsed.interval = 10ms;
  parsed.first_backoff = 10ms;
  parsed.most_backoff = 50ms;
  return parsed;
}

std::unique_ptr<PlatformFollower> CopilotFake::MakeFollower() {
  return std::make_unique<CopilotFollower>(Options());
}

grpc::Status CopilotFake::Serve(const std::string& method, std::string* answer) {
  std::lock_guard lock(mutex_);
  ++calls_;
  if (away_) return {grpc::StatusCode::UNAVAILABLE, "away"};
  if (const auto it = refused_.find(method); it != refused_.end() && !it->second.ok()) return it->second;
  if (const auto it = answers_.find(method); it != answers_.end()) {
    *answer = it->second;
    return grpc::Status::OK;
  }
  const bool internal = method == kCopilotInternalRoutes;
  for (const CopilotRoute& route : internal ? internal_ : routes_)
    *answer += Field(internal ? 1 : 2, Encode(route, internal));
  for (const auto& [name, route] : put_) {
    if (name.starts_with("internal ") == internal)
      *answer += Field(internal ? 1 : 2, Encode(route, internal));
  }
  return grpc::Status::OK;
}

void CopilotFake::Put(const std::string& name, const std::string& version) {
  std::lock_guard lock(mutex_);
  put_[name] = {name, "", "p", "", 0, {{"10.0.0.1", static_cast<uint32_t>(std::stoi(version) + 1)}}};
}

// The part "internal a" comes after the part "a".
void CopilotFake::PutTwin(const std::string& name, const std::string& version) {
  std::lock_guard lock(mutex_);
  put_[StrCat("internal ", name)] = {name, "", "",
                                     "",   0,  {{"10.0.0.1", static_cast<uint32_t>(std::stoi(version) + 1)}}};
}

void CopilotFake::Delete(const std::string& name) {
  std::lock_guard lock(mutex_);
  put_.erase(name);
}

void CopilotFake::SetAway(bool away) {
  std::lock_guard lock(mutex_);
  away_ = away;
}

std::string CopilotFake::VersionOf(const config::ConfigObject& object) const {
  const auto& entry = object.Spec<istio::networking::v1alpha3::ServiceEntry>();
  return StrCat(entry.endpoints(0).ports().begin()->second - 1);
}

void CopilotFake::SetRoutes(std::vector<CopilotRoute> routes) {
  std::lock_guard lock(mutex_);
  routes_ = std::move(routes);
}

void CopilotFake::SetInternalRoutes(std::vector<CopilotRoute> routes) {
  std::lock_guard lock(mutex_);
  internal_ = std::move(routes);
}

void CopilotFake::Refuse(const std::string& method, grpc::Status status) {
  std::lock_guard lock(mutex_);
  refused_[method] = std::move(status);
}

void CopilotFake::Answer(const std::string& method, const std::string& bytes) {
  std::lock_guard lock(mutex_);
  answers_[method] = bytes;
}

size_t CopilotFake::calls() {
  std::lock_guard lock(mutex_);
  return calls_;
}

INSTANTIATE_TEST_SUITE_P(Copilot, PlatformContractTest,
                         ::testing::Values(PeerCase{"copilot",
                                                    [] { return std::make_unique<CopilotFake>(); }}),
                         NameOfPeer);

}  // namespace fairlead::source
