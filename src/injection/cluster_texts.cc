#include "injection/cluster_texts.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/strings.h"
#include "fetch/client.h"
#include "injection/typed_json.h"
#include "kube/access.h"
#include "kube/api_writer.h"

namespace fairlead::injection {
namespace {

// The data of a ConfigMap.
absl::StatusOr<Json> ReadConfigMap(const ClusterTextsPlace& place, const std::string& name) {
  const auto access = kube::ReadKubeconfig(place.kubeconfig, place.context);
  if (!access.ok()) return access.status();
  fetch::Client client;
  kube::ApiWriter server({}, *access, &client);
  kube::ApiRequest request;
  request.path = kube::ObjectPath(StrCat("/api/v1/namespaces/", place.ns, "/configmaps"), name);
  request.tries = 2;
  const kube::ApiAnswer answer = server.SendAndWait(std::move(request));
  const std::string where = StrCat("ConfigMap ", place.ns, "/", name);
  if (!answer.status.ok())
    return absl::Status(answer.status.code(), StrCat(where, ": ", FromAbsl(answer.status.message())));
  const auto object = ParseJson(answer.body);
  if (!object || !Member(*object, "data").is_object())
    return absl::InvalidArgumentError(StrCat(where, " has no data"));
  return Member(*object, "data");
}

absl::StatusOr<std::string> KeyOf(const Json& data, const char* key, const ClusterTextsPlace& place,
                                  const std::string& name) {
  if (const Json& text = Member(data, key); text.is_string()) return text.get<std::string>();
  return absl::InvalidArgumentError(StrCat("ConfigMap ", place.ns, "/", name, " lacks the key ", key));
}

}  // namespace

std::string WithRevision(const std::string& name, const std::string& revision) {
  return revision.empty() || revision == "default" ? name : StrCat(name, "-", revision);
}

absl::StatusOr<InjectorTexts> ReadClusterTexts(const ClusterTextsPlace& place) {
  const auto data = ReadConfigMap(place, place.config_map);
  if (!data.ok()) return data.status();
  InjectorTexts texts;
  for (const auto& [key, text] : {std::pair("config", &texts.config), std::pair("values", &texts.values)}) {
    auto found = KeyOf(*data, key, place, place.config_map);
    if (!found.ok()) return found.status();
    *text = *std::move(found);
  }
  return texts;
}

absl::StatusOr<std::string> ReadClusterMesh(const ClusterTextsPlace& place) {
  const auto data = ReadConfigMap(place, place.mesh_config_map);
  if (!data.ok()) return data.status();
  return KeyOf(*data, "mesh", place, place.mesh_config_map);
}

}  // namespace fairlead::injection
