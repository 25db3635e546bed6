#include "gen/extension/build.h"

#include <google/protobuf/wrappers.pb.h>

#include "base/strings.h"
#include "envoy/config/core/v3/extension.pb.h"
#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/http/wasm/v3/wasm.pb.h"
#include "envoy/extensions/filters/network/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/network/wasm/v3/wasm.pb.h"
#include "envoy/extensions/wasm/v3/wasm.pb.h"
#include "gen/extension/plugin_spec.h"
#include "gen/extension/pull_secret.h"
#include "gen/extension/struct_json.h"
#include "proto/messages.h"

namespace fairlead::gen::extension {
namespace {

namespace api = istio::extensions::v1alpha1;
namespace wasm = envoy::extensions::wasm::v3;
namespace filters = envoy::extensions::filters;

void SetCode(const ModuleUrl& url, const std::string& sha256, envoy::config::core::v3::AsyncDataSource* out) {
  constexpr int64_t kFetchSeconds = 30;
  if (url.file) return out->mutable_local()->set_filename(url.location);
  auto* remote = out->mutable_remote();
  remote->mutable_http_uri()->set_uri(url.location);
  // The agent fetches the module and tells its proxy of a file.
  remote->mutable_http_uri()->set_cluster("_");
  proto::SetSeconds(kFetchSeconds, remote->mutable_http_uri()->mutable_timeout());
  remote->set_sha256(sha256);
}

// What the agent must know to fetch the module goes by the environment; it takes it out again.
template <typename Wasm>
void SetEnvironment(const PluginSpec& plugin, const Wasm& spec, const config::ConfigObject* pull_secret,
                    wasm::EnvironmentVariables* out) {
  auto& values = *out->mutable_key_values();
  // Without credentials the agent asks without them.
  if (PullSecretName(plugin)) {
    values[std::string(kPullSecretVariable)] =
        pull_secret == nullptr ? "" : PullCredentials(*pull_secret).value_or("");
  }
  if (spec.image_pull_policy() != api::PullPolicy::UNSPECIFIED_POLICY)
    values["ISTIO_META_WASM_IMAGE_PULL_POLICY"] = api::PullPolicy_Name(spec.image_pull_policy());
  values["ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION"] = plugin.object().meta().resource_version;
  for (const auto& variable : spec.vm_config().env()) {
    if (variable.value_from() == api::EnvValueSource::HOST) {
      out->add_host_env_keys(variable.name());
    } else {
      values[variable.name()] = variable.value();
    }
  }
}

template <typename Wasm>
wasm::FailurePolicy FailurePolicyOf(const Wasm& spec) {
  switch (spec.fail_strategy()) {
    case api::FailStrategy::FAIL_OPEN:
      return wasm::FailurePolicy::FAIL_OPEN;
    case api::FailStrategy::FAIL_RELOAD:
      return wasm::FailurePolicy::FAIL_RELOAD;
    default:
      return wasm::FailurePolicy::FAIL_CLOSED;
  }
}

template <typename Wasm>
void SetPlugin(const PluginSpec& plugin, const Wasm& spec, const config::ConfigObject* pull_secret,
               wasm::PluginConfig* out) {
  out->set_name(plugin.Name());
  out->set_root_id(spec.plugin_name());
  auto* configuration = out->mutable_configuration();  // empty where there is none
  if (!spec.plugin_config().fields().empty()) {
    google::protobuf::StringValue json;
    json.set_value(StructJson(spec.plugin_config()));
    proto::Pack(json, configuration);
  }
  auto* vm = out->mutable_vm_config();
  vm->set_runtime("envoy.wasm.runtime.v8");
  SetCode(*ParseModuleUrl(spec.url()), spec.sha256(), vm->mutable_code());
  SetEnvironment(plugin, spec, pull_secret, vm->mutable_environment_variables());
  out->set_failure_policy(FailurePolicyOf(spec));
}

// For a proxy without the runtime. A rule set without policies lets nothing through.
template <typename Rbac>
google::protobuf::Any Verdict(bool open) {
  Rbac verdict;
  if (!open) verdict.mutable_rules();
  return proto::Packed(verdict);
}

google::protobuf::Any NetworkVerdict(bool open) {
  filters::network::rbac::v3::RBAC verdict;
  verdict.set_stat_prefix("tcp.");
  if (!open) verdict.mutable_rules();
  return proto::Packed(verdict);
}

}  // namespace

void BuildExtension(const ExtensionInputs& inputs, std::string_view name,
                    envoy::config::core::v3::TypedExtensionConfig* out) {
  const PluginSpec plugin(*inputs.object);
  out->set_name(std::string(name));
  auto* any = out->mutable_typed_config();
  plugin.WithWasm([&](const auto& spec) {
    const bool open = spec.fail_strategy() == api::FailStrategy::FAIL_OPEN;
    if (!inputs.has_wasm) {
      *any = plugin.IsNetwork() ? NetworkVerdict(open) : Verdict<filters::http::rbac::v3::RBAC>(open);
    } else if (plugin.IsNetwork()) {
      filters::network::wasm::v3::Wasm filter;
      SetPlugin(plugin, spec, inputs.pull_secret.get(), filter.mutable_config());
      proto::Pack(filter, any);
    } else {
      filters::http::wasm::v3::Wasm filter;
      SetPlugin(plugin, spec, inputs.pull_secret.get(), filter.mutable_config());
      proto::Pack(filter, any);
    }
  });
}

}  // namespace fairlead::gen::extension
