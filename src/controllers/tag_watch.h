#ifndef FAIRLEAD_CONTROLLERS_TAG_WATCH_H_
#define FAIRLEAD_CONTROLLERS_TAG_WATCH_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controllers/watch_thread.h"
#include "fetch/client.h"
#include "gateway_api/revision.h"
#include "kube/access.h"
#include "kube/watch_loop.h"

namespace fairlead::controllers {

// What API servers say about revision tags. A value.
struct RevisionTags {
  // A MutatingWebhookConfiguration or a Service with the label istio.io/tag, and the revision that it points
  // to by its label istio.io/rev.
  struct Tag {
    std::string tag, revision;
    friend bool operator==(const Tag&, const Tag&) = default;
  };
  std::map<std::string, Tag> webhooks, services;  // by their names
  // The label istio.io/rev of the ValidatingWebhookConfiguration istiod-default-validator, by its name.
  std::map<std::string, Tag> validators;

  friend bool operator==(const RevisionTags&, const RevisionTags&) = default;
};

// The labels of the objects that the control plane of a revision takes care of. Objects without a label are
// those of the tag `default`, and without such a tag those of the default revision. Source: Istio's
// pkg/revisions, GetMyTags and IsMine.
gateway_api::OwnRevisions OwnRevisionsOf(const std::string& revision, const RevisionTags& tags);

// Watches the tags of an API server, on a thread of its own, and tells which revisions are the control
// plane's own: once when all tags were listed, and whenever they differ. What may not be read says nothing.
class TagWatch {
 public:
  struct Options {
    std::string revision = "default";
    std::string ns;                                          // of the Services
    std::function<void(gateway_api::OwnRevisions)> changed;  // on the watch's thread
    kube::WatchLoop::Options loop = {};
  };
  // The client must outlive it.
  TagWatch(Options options, kube::ServerAccess access, fetch::Client* client);
  void Start() { thread_.Start(); }
  void Stop() { thread_.Stop(); }

 private:
  class Copy;
  std::vector<WatchThread::Collection> Collections();
  void Tell();

  const Options options_;
  // Of the watch's thread.
  RevisionTags tags_;
  gateway_api::OwnRevisions told_;
  WatchThread thread_;  // last: it uses what is above
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_TAG_WATCH_H_
