#include "controllers/webhook_patcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "controllers/metrics.h"

namespace fairlead::controllers {
namespace {

using kube::ApiRequest;

LogScope webhook_log("webhook");

constexpr std::chrono::seconds kLimit{5}, kProbeLimit{15};
constexpr char kGateways[] = "/apis/networking.istio.io/v1/namespaces/";
// Source: Istio's constants.AlwaysReject.
constexpr char kAlwaysRejected[] = "internal.istio.io/webhook-always-reject";

std::string Describe(const WebhookKey& key) { return StrCat(NameOf(key.kind), " ", key.name); }

// Versions are numbers that grow.
bool IsOlder(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

bool Counts(WebhookKind kind, const WebhookConfiguration::Webhook& webhook) {
  return kind == WebhookKind::kValidating || webhook.name.ends_with(kInjectionWebhook);
}

bool FailsOpen(const WebhookConfiguration::Webhook& webhook) {
  return !webhook.failure_policy.empty() && webhook.failure_policy != "Fail";
}

// Holds the patch to the version and the webhook that were seen.
nlohmann::json Operation(size_t index, const char* field, nlohmann::json value) {
  return {{"op", "add"}, {"path", StrCat("/webhooks/", index, "/", field)}, {"value", std::move(value)}};
}

}  // namespace

void WebhookPatcher::SetBundle(std::string pem) {
  writer_->Run([this, pem = std::move(pem)] {
    if (!HasCertificate(pem)) return;
    bundle_ = pem;
    LookAtAll();
  });
}

void WebhookPatcher::OnConfiguration(WebhookConfiguration configuration) {
  writer_->Run([this, configuration = std::move(configuration)] {
    const WebhookKey key = configuration.key;
    WebhookConfiguration& known = states_[key].configuration;
    // A patch's answer may come before what the watch says of the time before it.
    if (IsOlder(configuration.version, known.version)) return;
    known = configuration;
    Look(key);
  });
}

void WebhookPatcher::OnGone(const WebhookKey& key) {
  writer_->Run([this, key] { states_.erase(key); });
}

void WebhookPatcher::LookAtAll() {
  for (const auto& [key, state] : states_) LookLater(key, {});
}

void WebhookPatcher::LookLater(const WebhookKey& key, Clock::time_point at) {
  writer_->Run([this, key] { Look(key); }, at);
}

void WebhookPatcher::Look(const WebhookKey& key) {
  const auto it = states_.find(key);
  if (it == states_.end() || it->second.busy || bundle_.empty()) return;
  State& state = it->second;
  if (Clock::now() < state.not_before) return LookLater(key, state.not_before);
  Json operations = BundleOperations(state.configuration);
  if (!operations.empty()) {
    if (const auto due = RepairTime(state); Clock::now() < due) return LookLater(key, due);
    NoteRepair(&state);
    return Send(key, std::move(operations));
  }
  if (key.kind != WebhookKind::kValidating) return;
  operations = PolicyOperations(state.configuration);
  if (operations.empty()) return;
  if (refuses_) return Send(key, std::move(operations));
  Probe();
}

nlohmann::json WebhookPatcher::BundleOperations(const WebhookConfiguration& configuration) const {
  Json operations = Json::array();
  for (size_t i = 0; i < configuration.webhooks.size(); ++i) {
    const WebhookConfiguration::Webhook& webhook = configuration.webhooks[i];
    if (!Counts(configuration.key.kind, webhook) || HaveSameCertificates(webhook.ca_bundle, bundle_))
      continue;
    operations.push_back(Operation(i, "clientConfig/caBundle", absl::Base64Escape(bundle_)));
  }
  return operations;
}

nlohmann::json WebhookPatcher::PolicyOperations(const WebhookConfiguration& configuration) {
  Json operations = Json::array();
  for (size_t i = 0; i < configuration.webhooks.size(); ++i) {
    if (FailsOpen(configuration.webhooks[i])) operations.push_back(Operation(i, "failurePolicy", "Fail"));
  }
  return operations;
}

std::chrono::milliseconds WebhookPatcher::Pause(int times) const {
  return std::min(options_.most_retry, options_.first_retry * (int64_t{1} << std::clamp(times, 0, 20)));
}

// When what is wrong is to be repaired. Somebody who puts it there again and again has it for longer each
// time.
Clock::time_point WebhookPatcher::RepairTime(const State& state) const {
  if (state.patched != bundle_ || state.fights < options_.patience) return {};
  return state.at + Pause(state.fights - options_.patience);
}

void WebhookPatcher::NoteRepair(State* state) const {
  const auto now = Clock::now();
  const bool again = state->patched == bundle_ && now < state->at + options_.calm;
  state->fights = again ? state->fights + 1 : 0;
  state->patched = bundle_;
  state->at = now;
  if (state->fights == options_.patience)
    webhook_log.Warn("{}: somebody changes the caBundle again and again; it is repaired less often now",
                     Describe(state->configuration.key));
}

void WebhookPatcher::Send(const WebhookKey& key, Json operations) {
  State& state = states_[key];
  state.busy = true;
  operations.push_back(
      {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", state.configuration.version}});
  ApiRequest request;
  request.verb = ApiRequest::Verb::kJsonPatch;
  request.path = kube::ObjectPath(WebhookCollection(key.kind), key.name);
  request.body = JsonText(operations);
  request.limit = kLimit;
  Metrics().webhook_patches.Add();
  writer_->Send(std::move(request), [this, key](const Answer& answer) { OnSent(key, answer); });
}

void WebhookPatcher::OnSent(const WebhookKey& key, const Answer& answer) {
  const auto it = states_.find(key);
  if (it == states_.end() || absl::IsCancelled(answer.status)) return;
  State& state = it->second;
  state.busy = false;
  if (answer.status.ok()) {
    ++written_;
    state.failures = 0;
    state.trouble.clear();
    webhook_log.Info("{} has the caBundle and failurePolicy of this revision", Describe(key));
    // The watch brings it, too, and may have brought what came after it.
    if (const auto tree = reader_.Read(answer.body, &WebhookFields()); tree.ok()) {
      WebhookConfiguration now = ReadWebhookConfiguration(key.kind, tree->root());
      if (!IsOlder(now.version, state.configuration.version)) state.configuration = std::move(now);
    }
    return Look(key);
  }
  // Somebody was faster: the watch brings that. It is gone: likewise.
  if (absl::IsAborted(answer.status) || absl::IsNotFound(answer.status)) {
    state.not_before = Clock::now() + options_.first_retry;
    return LookLater(key, state.not_before);
  }
  Fail(key, "is not patched", answer);
}

void WebhookPatcher::Fail(const WebhookKey& key, std::string_view what, const Answer& answer) {
  State& state = states_[key];
  Metrics().webhook_patch_errors.Add();
  const std::string trouble = StrCat(what, ": ", FromAbsl(answer.status.message()));
  if (trouble != state.trouble) webhook_log.Warn("{} {}", Describe(key), trouble);
  state.trouble = trouble;
  state.not_before = Clock::now() + Pause(state.failures++);
  LookLater(key, state.not_before);
}

// Source: isDryRunOfInvalidConfigRejected of Istio's validation controller.
void WebhookPatcher::Probe() {
  if (std::exchange(probing_, true)) return;
  const Json gateway = {{"apiVersion", "networking.istio.io/v1"},
                        {"kind", "Gateway"},
                        {"metadata",
                         {{"name", "invalid-gateway"},
                          {"namespace", options_.ns},
                          {"labels", {{"istio.io/rev", options_.revision}}},
                          {"annotations", {{kAlwaysRejected, "true"}}}}},
                        {"spec",
                         {{"servers",
                           {{{"port", {{"number", 80}, {"name", "http"}, {"protocol", "HTTP"}}},
                             {"hosts", {"invalid.example"}}}}}}}};
  ApiRequest request;
  request.verb = ApiRequest::Verb::kCreate;
  request.dry_run = true;
  request.path = StrCat(kGateways, options_.ns, "/gateways");
  request.body = JsonText(gateway);
  request.limit = kProbeLimit;
  request.tries = 1;
  writer_->Send(std::move(request), [this](const Answer& answer) { OnProbed(answer); });
}

// "": it was refused as it should be, or that cannot be tried.
std::string WebhookPatcher::WhyNotRefused(const Answer& answer) const {
  if (answer.status.ok()) return "an invalid object was admitted";
  const std::string_view message = FromAbsl(answer.status.message());
  for (const auto& [key, state] : states_) {
    if (key.kind != WebhookKind::kValidating) continue;
    for (const auto& webhook : state.configuration.webhooks) {
      if (message.find(StrCat("webhook \"", webhook.name, "\" denied the request")) != std::string_view::npos)
        return "";
    }
  }
  if (message.find("could not find the requested resource") != std::string_view::npos) {
    webhook_log.Warn("the API server has no Gateways of Istio: the validation webhook is not tried");
    return "";
  }
  if (message.find("does not support dry run") != std::string_view::npos) {
    webhook_log.Warn("the validation webhook is not tried: {}", message);
    return "";
  }
  return std::string(message);
}

void WebhookPatcher::OnProbed(const Answer& answer) {
  probing_ = false;
  if (absl::IsCancelled(answer.status)) return;
  std::string trouble = WhyNotRefused(answer);
  if (trouble.empty()) {
    refuses_ = true;
    webhook_log.Info("an invalid object was refused: validation fails closed from now on");
    return LookAtAll();
  }
  if (trouble != probe_trouble_)
    webhook_log.Info("validation does not fail closed yet, as no invalid object was refused: {}", trouble);
  probe_trouble_ = std::move(trouble);
  writer_->Run([this] { LookAtAll(); }, Clock::now() + Pause(probes_++));
}

}  // namespace fairlead::controllers
