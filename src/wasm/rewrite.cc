#include "wasm/rewrite.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "envoy/config/core/v3/extension.pb.h"
#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/http/wasm/v3/wasm.pb.h"
#include "envoy/extensions/filters/network/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/network/wasm/v3/wasm.pb.h"
#include "envoy/extensions/wasm/v3/wasm.pb.h"
#include "proto/messages.h"
#include "udpa/type/v1/typed_struct.pb.h"
#include "xds/type/v3/typed_struct.pb.h"

namespace fairlead::wasm {
namespace {

namespace filters = envoy::extensions::filters;
using envoy::config::core::v3::TypedExtensionConfig;
using envoy::extensions::wasm::v3::PluginConfig;
using google::protobuf::Any;
using std::chrono::milliseconds;

LogScope wasm_log("wasm");

constexpr std::string_view kPrefix = "ISTIO_META_";
constexpr milliseconds kUsualTimeout{5000}, kLongestTimeout{300'000};

absl::Status Unreadable(const TypedExtensionConfig& config) {
  return absl::InvalidArgumentError(StrCat("the extension configuration ", config.name(), " cannot be read"));
}

// Takes what is meant for the agent out of the module's environment.
absl::Status TakeOrders(const PluginConfig& plugin, envoy::extensions::wasm::v3::VmConfig* vm,
                        ModuleOrder* order) {
  if (!vm->has_environment_variables()) return absl::OkStatus();
  auto& values = *vm->mutable_environment_variables()->mutable_key_values();
  const auto take = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(StrCat(kPrefix, name));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  order->pull_secret = take("WASM_IMAGE_PULL_SECRET");
  order->plugin_version = take("WASM_PLUGIN_RESOURCE_VERSION").value_or("");
  const std::string policy = take("WASM_IMAGE_PULL_POLICY").value_or("");
  if (policy == "IfNotPresent") order->policy = PullPolicy::kIfNotPresent;
  if (policy == "Always") order->policy = PullPolicy::kAlways;
  std::vector<std::string> ours;
  for (const auto& [name, value] : values) {
    if (name.starts_with(kPrefix)) ours.push_back(name);
  }
  for (const std::string& name : ours) values.erase(name);
  if (values.empty() && vm->environment_variables().host_env_keys().empty())
    vm->clear_environment_variables();
  // Istio's control plane says by "" that there is a secret which this proxy may not have, or that is
  // missing.
  if (order->pull_secret && order->pull_secret->empty())
    return absl::PermissionDeniedError(StrCat("the pull secret of ", plugin.name(), " is missing"));
  return absl::OkStatus();
}

// Puts a file in the place of what is fetched.
absl::Status MakeLocal(ModuleCache& modules, const std::string& name, PluginConfig* plugin) {
  auto* const vm = plugin->mutable_vm_config();
  const auto& remote = vm->code().remote();
  ModuleOrder order;
  order.url = remote.http_uri().uri();
  order.sha256 = remote.sha256() == "nil" ? "" : remote.sha256();
  order.plugin = name;
  order.timeout = kUsualTimeout;
  if (remote.http_uri().has_timeout()) {
    const milliseconds said(remote.http_uri().timeout().seconds() * 1000 +
                            remote.http_uri().timeout().nanos() / 1'000'000);
    order.timeout = std::clamp(said, milliseconds(1), kLongestTimeout);
  }
  if (absl::Status status = TakeOrders(*plugin, vm, &order); !status.ok()) return status;
  const auto path = modules.Get(order);
  if (!path.ok()) return path.status();
  vm->mutable_code()->mutable_local()->set_filename(*path);
  return absl::OkStatus();
}

bool FailsOpen(const PluginConfig& plugin) {
  using envoy::extensions::wasm::v3::FailurePolicy;
  if (plugin.failure_policy() != FailurePolicy::UNSPECIFIED)
    return plugin.failure_policy() == FailurePolicy::FAIL_OPEN;
  // Deprecated, and by that name alone without a warning of the compiler.
  const auto* const older = plugin.GetDescriptor()->FindFieldByName("fail_open");
  return older != nullptr && plugin.GetReflection()->GetBool(plugin, older);
}

void SetPrefix(const std::string& prefix, filters::http::rbac::v3::RBAC* verdict) {
  verdict->set_rules_stat_prefix(prefix);
}
void SetPrefix(const std::string& prefix, filters::network::rbac::v3::RBAC* verdict) {
  verdict->set_stat_prefix(prefix);
}

// No rules let everything through, rules without policies nothing.
template <typename Rbac>
Any Verdict(bool open) {
  Rbac verdict;
  SetPrefix(open ? "wasm-default-allow" : "wasm-default-deny", &verdict);
  if (!open) verdict.mutable_rules();
  return proto::Packed(verdict);
}

template <typename Wasm, typename Rbac>
absl::Status RewriteFilter(ModuleCache& modules, Wasm filter, TypedExtensionConfig* config, Any* resource) {
  const auto& code = filter.config().vm_config().code();
  if (!code.has_remote() && !code.has_local())
    return absl::InvalidArgumentError(
        StrCat("the extension configuration ", config->name(), " has no module"));
  if (!code.has_remote()) return absl::OkStatus();
  const absl::Status made = MakeLocal(modules, config->name(), filter.mutable_config());
  if (made.ok()) {
    proto::Pack(filter, config->mutable_typed_config());
  } else {
    const bool open = FailsOpen(filter.config());
    wasm_log.Error("{}: no Wasm module, so that {} until the plugin changes: {}", config->name(),
                   open ? "everything goes on without it" : "nothing is let through",
                   std::string(made.message()));
    *config->mutable_typed_config() = Verdict<Rbac>(open);
  }
  proto::Pack(*config, resource);
  return absl::OkStatus();
}

// A message that is given as itself or as a TypedStruct.
template <typename Message>
bool Read(const Any& any, const google::protobuf::Struct* fields, Message* out) {
  if (fields == nullptr) return any.UnpackTo(out);
  std::string json;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  return google::protobuf::util::MessageToJsonString(*fields, &json).ok() &&
         google::protobuf::util::JsonStringToMessage(json, out, options).ok();
}

std::string_view TypeOf(std::string_view url) { return url.substr(url.rfind('/') + 1); }

absl::Status RewriteTyped(ModuleCache& modules, std::string_view type, const google::protobuf::Struct* fields,
                          TypedExtensionConfig* config, Any* resource) {
  if (type == "envoy.extensions.filters.http.wasm.v3.Wasm") {
    filters::http::wasm::v3::Wasm filter;
    if (!Read(config->typed_config(), fields, &filter)) return Unreadable(*config);
    return RewriteFilter<filters::http::wasm::v3::Wasm, filters::http::rbac::v3::RBAC>(
        modules, std::move(filter), config, resource);
  }
  if (type == "envoy.extensions.filters.network.wasm.v3.Wasm") {
    filters::network::wasm::v3::Wasm filter;
    if (!Read(config->typed_config(), fields, &filter)) return Unreadable(*config);
    return RewriteFilter<filters::network::wasm::v3::Wasm, filters::network::rbac::v3::RBAC>(
        modules, std::move(filter), config, resource);
  }
  return absl::OkStatus();
}

template <typename TypedStruct>
absl::Status RewriteStruct(ModuleCache& modules, TypedExtensionConfig* config, Any* resource) {
  TypedStruct typed;
  if (!config->typed_config().UnpackTo(&typed)) return Unreadable(*config);
  return RewriteTyped(modules, TypeOf(typed.type_url()), &typed.value(), config, resource);
}

}  // namespace

absl::Status RewriteExtension(ModuleCache& modules, Any* resource) {
  TypedExtensionConfig config;
  if (!resource->UnpackTo(&config)) return absl::InvalidArgumentError("this is no extension configuration");
  const std::string type(TypeOf(config.typed_config().type_url()));
  if (type == "udpa.type.v1.TypedStruct")
    return RewriteStruct<udpa::type::v1::TypedStruct>(modules, &config, resource);
  if (type == "xds.type.v3.TypedStruct")
    return RewriteStruct<::xds::type::v3::TypedStruct>(modules, &config, resource);
  return RewriteTyped(modules, type, nullptr, &config, resource);
}

void Rewriter::Start(std::vector<Any*> resources, std::function<void(absl::Status)> done) {
  struct Batch {
    std::mutex mutex;
    absl::Status first;  // guarded by mutex
    size_t left = 0;     // guarded by mutex
    std::function<void(absl::Status)> done;
  };
  const auto batch = std::make_shared<Batch>();
  batch->left = std::max<size_t>(resources.size(), 1);
  batch->done = std::move(done);
  if (resources.empty()) resources.push_back(nullptr);
  for (Any* const resource : resources) {
    executor_.Submit(Urgency::kUrgent, [batch, resource, modules = modules_] {
      const absl::Status status =
          resource == nullptr ? absl::OkStatus() : RewriteExtension(*modules, resource);
      std::unique_lock lock(batch->mutex);
      batch->first.Update(status);
      if (--batch->left > 0) return;
      const absl::Status first = batch->first;
      lock.unlock();
      batch->done(first);
    });
  }
}

}  // namespace fairlead::wasm
