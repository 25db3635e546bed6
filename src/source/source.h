#ifndef FAIRLEAD_SOURCE_SOURCE_H_
#define FAIRLEAD_SOURCE_SOURCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "config/diagnostic.h"
#include "config/object.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::source {

// What a source tells the mesh. Called on the source's own thread, one call at a time; must not block for
// long.
class Sink {
 public:
  virtual ~Sink() = default;
  // A batch: objects of this source that are new, changed or gone. What is handed over together takes effect
  // together. Objects of other sources are not touched, whatever their names.
  virtual void OnChanges(std::vector<config::ObjectChange> changes) = 0;
  // A relist, as a batch: these are all the objects of the kind that this source has now.
  virtual void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) = 0;
  // Every problem that the source's input has now (not only new ones); an empty list says that all is well.
  virtual void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) = 0;
  // The source has delivered all objects of a kind that existed when it started. When it has of every kind
  // that it announced, it has synced.
  virtual void Synced(config::Kind kind) = 0;
  // The source has delivered everything that existed when it started. Once.
  virtual void OnSynced() = 0;
};

// Something that mesh objects come from: a folder of manifests, an API server, ….
class Source {
 public:
  virtual ~Source() = default;  // stops, if it runs
  // Starts the source's thread. The sink must outlive the source. Fails where the input cannot be read at
  // all.
  virtual absl::Status Start(Sink* sink) = 0;
  virtual void Stop() = 0;
  virtual std::string Name() const = 0;
  // How much it has read so far, for people: "9 files"; "": not said. Thread-safe.
  virtual std::string Amount() const { return ""; }
  // What it waits for until it has synced, and why, a text each, for people. Thread-safe.
  virtual std::vector<std::string> Awaited() const { return {}; }
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_SOURCE_H_
