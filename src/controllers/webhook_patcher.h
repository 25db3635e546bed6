#ifndef FAIRLEAD_CONTROLLERS_WEBHOOK_PATCHER_H_
#define FAIRLEAD_CONTROLLERS_WEBHOOK_PATCHER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "config/read/json_reader.h"
#include "controllers/webhook_configuration.h"
#include "kube/api_writer.h"

namespace fairlead::controllers {

// The end of the names of webhooks that inject. Source: Istio's sidecarinjector.go.
inline constexpr char kInjectionWebhook[] = "sidecar-injector.istio.io";

// Keeps the caBundle of a revision's webhooks: of configurations that inject those named as
// kInjectionWebhook, of those that validate all. What somebody edits or empties is repaired, and new roots
// are put there. The validation webhooks' failurePolicy becomes Fail once the API server was seen to refuse
// an object by one of them.
//
// Each replica does so. The same certificates are left as they are, whatever their text, a patch counts only
// for the version that was seen, and who is contradicted again and again waits longer each time. So replicas,
// and an istiod with the same root, do not fight.
// Source: Istio's WebhookCertPatcher and its validation controller.
class WebhookPatcher {
 public:
  struct Options {
    std::string ns = "istio-system";   // of the object that is refused
    std::string revision = "default";  // its label
    std::chrono::milliseconds first_retry{100}, most_retry{60'000};
    std::chrono::milliseconds calm{150'000};  // repairs within that time of each other are a fight
    int patience = 5;                         // repairs in a fight before the pauses begin
  };
  // The writer must outlive it, or be stopped before it goes.
  WebhookPatcher(Options options, kube::ApiWriter* writer) : options_(std::move(options)), writer_(writer) {}

  // What vouches for the webhooks' certificate, PEM, from now on; "": not known. Thread-safe.
  void SetBundle(std::string pem);
  // A configuration of the revision is there, new or changed; or is none of it any more. Thread-safe.
  void OnConfiguration(WebhookConfiguration configuration);
  void OnGone(const WebhookKey& key);

  // How often something was written so far.
  uint64_t written() const { return written_; }

 private:
  using Answer = kube::ApiAnswer;
  using Json = nlohmann::json;
  struct State {
    WebhookConfiguration configuration;
    std::string patched;     // with that bundle, last
    Clock::time_point at{};  // then
    int fights = 0, failures = 0;
    Clock::time_point not_before{};
    bool busy = false;
    std::string trouble;  // last logged
  };

  void LookAtAll();
  void Look(const WebhookKey& key);
  void LookLater(const WebhookKey& key, Clock::time_point at);
  Json BundleOperations(const WebhookConfiguration& configuration) const;
  static Json PolicyOperations(const WebhookConfiguration& configuration);
  Clock::time_point RepairTime(const State& state) const;
  void NoteRepair(State* state) const;
  void Send(const WebhookKey& key, Json operations);
  void OnSent(const WebhookKey& key, const Answer& answer);
  void Probe();
  void OnProbed(const Answer& answer);
  std::string WhyNotRefused(const Answer& answer) const;
  void Fail(const WebhookKey& key, std::string_view what, const Answer& answer);
  std::chrono::milliseconds Pause(int times) const;

  const Options options_;
  kube::ApiWriter* const writer_;
  std::atomic<uint64_t> written_{0};
  // What follows is of the writer's thread.
  std::string bundle_;
  std::map<WebhookKey, State> states_;
  bool probing_ = false, refuses_ = false;  // an invalid object was seen to be refused
  int probes_ = 0;                          // in vain
  std::string probe_trouble_;
  config::JsonReader reader_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_WEBHOOK_PATCHER_H_
