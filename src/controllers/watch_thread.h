#ifndef FAIRLEAD_CONTROLLERS_WATCH_THREAD_H_
#define FAIRLEAD_CONTROLLERS_WATCH_THREAD_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "config/read/json_fields.h"
#include "fetch/client.h"
#include "kube/access.h"
#include "kube/watch_loop.h"

namespace fairlead::controllers {

// Watches some collections of an API server, on a thread of its own. One that may not be read is named in the
// log, and asked again.
class WatchThread {
 public:
  struct Options {
    const char* name;     // of the thread, at most 15 characters
    const LogScope* log;  // static
    const char* so_what;  // what follows where a collection cannot be read, for people
    kube::WatchLoop::Options loop = {};
    std::function<void()> turned = nullptr;  // on the thread, after something came; null: nobody asks
  };
  struct Collection {
    std::string name;  // for people
    std::string path, selector;
    const config::JsonFields* fields;  // static
    std::unique_ptr<kube::ListWatch::Receiver> receiver;
  };
  // The client must outlive it.
  WatchThread(Options options, kube::ServerAccess access, fetch::Client* client,
              std::vector<Collection> collections);
  ~WatchThread();  // as Stop()
  void Start();
  // No call of a receiver comes after it.
  void Stop();
  // Whether each collection was listed, or cannot be: it is forbidden or not served. On the thread.
  bool Listed() const;

 private:
  struct Watched {
    Collection collection;
    kube::WatchLoop::Id id;
    std::string trouble;  // last logged
  };
  void Run();
  void NoteTrouble(Watched* watched) const;

  const Options options_;
  kube::WatchLoop loop_;
  std::vector<Watched> watched_;
  std::thread thread_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_WATCH_THREAD_H_
