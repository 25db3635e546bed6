#ifndef FAIRLEAD_WEBHOOK_INJECTOR_H_
#define FAIRLEAD_WEBHOOK_INJECTOR_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "injection/configuration.h"
#include "injection/review.h"
#include "injection/surroundings.h"
#include "injection/template_engine.h"
#include "model/settings.h"
#include "server/http_server.h"
#include "source/file/watched_files.h"

namespace fairlead::webhook {

using SurroundingsPtr = std::shared_ptr<const injection::PodSurroundings>;

struct InjectorOptions {
  // A folder with the files `config` and `values`, which are watched; "": none. Without these files texts
  // come by SetTexts.
  std::string folder;
  // Until a template program that gave no answer is asked again.
  std::chrono::milliseconds retry = std::chrono::seconds(1);
  // Called on the injector's thread after each configuration that could be read; null: nobody wants to know.
  std::function<void()> loaded = nullptr;
};

// Answers the questions of an injection webhook by the newest configuration that could be read. A thread of
// its own reads it; a broken one is logged, and the last good one stays. Thread-safe.
class Injector {
 public:
  Injector(InjectorOptions options, std::unique_ptr<injection::TemplateEngine> engine);
  ~Injector();  // as Stop()
  void Start();
  void Stop();

  // `where` is for people: "ConfigMap istio-system/istio-sidecar-injector". The folder's files go before.
  void SetTexts(std::string where, injection::InjectorTexts texts);
  void SetMesh(model::MeshConfigPtr mesh);
  void SetSurroundings(SurroundingsPtr surroundings);

  // Whether the folder has the files.
  bool HasFiles() const;
  // Null before the first one that could be read.
  injection::InjectorConfigurationPtr configuration() const;
  // The texts that are still to be read for the first time: a server that is ready before would refuse pods.
  // "": none, or a first reading has ended, whether it succeeded or not.
  std::string Awaited() const;
  SurroundingsPtr surroundings() const;
  // As long as this lives.
  injection::TemplateEngine* engine() const { return engine_.get(); }

  // The answer to a request below /inject. 503 without a configuration, so that the webhook's failurePolicy
  // decides. Blocks for the templates.
  server::HttpResponse Answer(const server::HttpRequest& request);

 private:
  struct Wanted {
    std::string where;
    injection::InjectorTexts texts;
    model::MeshConfigPtr mesh;
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };
  void Run();
  void ReadFolder();
  std::optional<Wanted> Next();
  bool Load(const Wanted& wanted);
  void SetTried();

  const InjectorOptions options_;
  const std::unique_ptr<injection::TemplateEngine> engine_;
  source::WatchedFiles watch_;
  mutable std::mutex mutex_;
  std::string where_, files_where_;                              // guarded by mutex_, as all below
  std::optional<injection::InjectorTexts> texts_, files_texts_;  // as told, and of the folder
  model::MeshConfigPtr mesh_;
  SurroundingsPtr surroundings_;
  Wanted tried_;  // last
  injection::InjectorConfigurationPtr current_;
  bool has_tried_ = false;  // one reading has ended
  bool stopping_ = false;
  std::thread thread_;
};

// Shows the metrics of webhooks from now on, as zeros.
void ShowMetrics();

}  // namespace fairlead::webhook

#endif  // FAIRLEAD_WEBHOOK_INJECTOR_H_
