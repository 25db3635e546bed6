#ifndef FAIRLEAD_APP_REFERENCE_WATCH_H_
#define FAIRLEAD_APP_REFERENCE_WATCH_H_

#include <functional>
#include <string>

#include "base/after_quiet.h"
#include "push/publish/publication.h"
#include "source/source.h"
#include "state/mesh_objects.h"

namespace fairlead::app {

// Warns of VirtualServices whose hosts, subsets or Gateways do not exist (config::FindLostReferences). It
// looks at all objects, therefore on a thread of its own, a second after the last change that may matter. An
// object that comes a moment after the VirtualService that names it causes no warning.
class ReferenceWatch {
 public:
  struct Options {
    std::function<state::MeshObjects()> objects;
    std::string domain;            // of the cluster: "cluster.local"
    source::Sink* sink = nullptr;  // is told the warnings
  };
  void Start(Options options);
  // On any thread.
  void OnPublished(const push::Publication& now);
  // Objects may have moved in their files.
  void OnPlaces() { after_quiet_.Touch(); }
  void Stop() { after_quiet_.Stop(); }

 private:
  void Tell();

  Options options_;
  AfterQuiet after_quiet_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_REFERENCE_WATCH_H_
