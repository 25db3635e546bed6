#include "controllers/service_exporter.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/log.h"
#include "base/percent.h"
#include "base/strings.h"

namespace fairlead::controllers {
namespace {

using config::Kind;
using kube::ApiAnswer;
using kube::ApiRequest;
using Json = nlohmann::json;

LogScope export_log("exports");

constexpr std::chrono::seconds kLimit{5};

}  // namespace

ServiceExporter::ServiceExporter(Options options, kube::ApiWriter* writer)
    : options_(std::move(options)), writer_(writer), soon_(writer, options_.quiet, [this] { Look(); }) {}

void ServiceExporter::OnLeading() {
  exported_.clear();
  OnPublished();
}

// One that is exported already counts as dealt with, whoever did it.
void ServiceExporter::Look() {
  if (!options_.leads() || Clock::now() < not_before_) return;
  const config::ObjectStore objects = options_.objects();
  const auto& services = objects.All(Kind::kService);
  std::erase_if(exported_, [&](const auto& known) { return services.Find(known.first) == nullptr; });
  for (const auto& [name, service] : services) {
    const auto known = exported_.find(name);
    if (known != exported_.end() && known->second == service->meta().uid) continue;
    if (options_.cluster_local(*service)) continue;
    exported_.insert_or_assign(name, service->meta().uid);
    if (objects.Find(Kind::kServiceExport, name.first, name.second) == nullptr) Create(*service);
  }
}

void ServiceExporter::Create(const config::ConfigObject& service) {
  const std::string& ns = service.ns().str();
  const std::string& name = service.name().str();
  const Json owner = {{"apiVersion", "v1"}, {"kind", "Service"}, {"name", name}, {"uid", service.meta().uid}};
  ApiRequest request;
  request.verb = ApiRequest::Verb::kCreate;
  request.path = StrCat("/apis/", options_.group, "/", options_.version, "/namespaces/", PercentEncoded(ns),
                        "/serviceexports");
  request.body = JsonText(
      Json{{"apiVersion", StrCat(options_.group, "/", options_.version)},
           {"kind", "ServiceExport"},
           {"metadata", {{"namespace", ns}, {"name", name}, {"ownerReferences", Json::array({owner})}}}});
  request.limit = kLimit;
  request.valid = options_.leads;
  writer_->Send(std::move(request), [this, key = Name{service.ns(), service.name()}](
                                        const ApiAnswer& answer) { OnCreated(key, answer); });
}

// Where there is no such kind, the next publication after a while tries again.
void ServiceExporter::OnCreated(const Name& name, const ApiAnswer& answer) {
  if (absl::IsCancelled(answer.status)) return;
  std::string trouble;
  if (absl::IsNotFound(answer.status)) {
    trouble = StrCat("Services are not exported: ", FromAbsl(answer.status.message()));
    not_before_ = Clock::now() + options_.pause;
    exported_.clear();
  } else if (!answer.status.ok() && !absl::IsAlreadyExists(answer.status)) {
    trouble = StrCat("a Service is not exported: ", FromAbsl(answer.status.message()));
    exported_.erase(name);
  }
  if (!trouble.empty() && trouble != trouble_) export_log.Warn("{}", trouble);
  trouble_ = std::move(trouble);
}

}  // namespace fairlead::controllers
