#include "controllers/gateway_class_writer.h"

#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "gateway_api/names.h"

namespace fairlead::controllers {
namespace {

using kube::ApiAnswer;
using kube::ApiRequest;
using Json = nlohmann::json;

LogScope class_log("gateways");

constexpr char kCollection[] = "/apis/gateway.networking.k8s.io/v1/gatewayclasses";
constexpr std::chrono::seconds kLimit{5};

}  // namespace

GatewayClassWriter::GatewayClassWriter(Options options, kube::ApiWriter* writer)
    : options_(std::move(options)), writer_(writer), soon_(writer, options_.quiet, [this] { Look(); }) {}

void GatewayClassWriter::Look() {
  if (!options_.leads()) return;
  const View view = options_.view();
  if (!view.features || !view.features->gateway_api) return;
  const auto find = [&](const std::string& name) {
    return view.objects.Find(config::Kind::kGatewayClass, {}, Interned(name)) != nullptr;
  };
  // Descriptions have at most 64 bytes.
  const auto keep = [&](const std::string& name, const std::string& controller, const char* description) {
    if (find(name)) {
      tried_.erase(name);
    } else if (const auto tried = tried_.find(name); tried == tried_.end() || tried->second <= Clock::now()) {
      Create(name, controller, description);
    }
  };
  keep(view.features->gateway_class, view.features->gateway_controller,
       "Gateways that this mesh deploys and configures.");
  if (view.features->network_gateways)
    keep(std::string(gateway_api::kRemoteClass), std::string(gateway_api::kRemoteController),
         "Gateways of another cluster, neither deployed nor configured.");
}

void GatewayClassWriter::Create(const std::string& name, const std::string& controller,
                                const std::string& description) {
  tried_.insert_or_assign(name, Clock::now() + options_.retry);
  ApiRequest request;
  request.verb = ApiRequest::Verb::kCreate;
  request.path = kCollection;
  request.body = JsonText(Json{{"apiVersion", "gateway.networking.k8s.io/v1"},
                               {"kind", "GatewayClass"},
                               {"metadata", {{"name", name}}},
                               {"spec", {{"controllerName", controller}, {"description", description}}}});
  request.limit = kLimit;
  request.valid = options_.leads;
  writer_->Send(std::move(request), [this, name](const ApiAnswer& answer) { OnCreated(name, answer); });
}

void GatewayClassWriter::OnCreated(const std::string& name, const ApiAnswer& answer) {
  if (absl::IsCancelled(answer.status)) return;
  std::string trouble;
  // Without the Gateway API there is nothing to make.
  const bool expected =
      answer.status.ok() || absl::IsAlreadyExists(answer.status) || absl::IsNotFound(answer.status);
  if (!expected)
    trouble = StrCat("the GatewayClass ", name, " is not made: ", FromAbsl(answer.status.message()));
  if (!trouble.empty() && trouble != trouble_) class_log.Warn("{}", trouble);
  if (answer.status.ok()) class_log.Info("the GatewayClass {} is made", name);
  trouble_ = std::move(trouble);
  if (std::exchange(again_, true)) return;
  writer_->Run(
      [this] {
        again_ = false;
        Look();
      },
      Clock::now() + options_.retry);
}

}  // namespace fairlead::controllers
