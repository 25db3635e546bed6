#ifndef FAIRLEAD_FETCH_WHOLE_ANSWER_H_
#define FAIRLEAD_FETCH_WHOLE_ANSWER_H_

#include <atomic>
#include <functional>
#include <string>

#include "fetch/client.h"

namespace fairlead::fetch {

struct WholeAnswer {
  Outcome outcome;
  Headers headers = {};
  std::string body = {};  // what came of it, where the outcome is no success
};

// An exchange whose answer is wanted as a whole, in memory (Request::most_bytes bounds it). `done` is called
// as an observer's OnDone is; Client::Cancel ends it, and then `done` is destroyed sooner or later, uncalled.
Client::Handle Ask(Client& client, Request request, std::function<void(WholeAnswer)> done);

// The same, but blocks; not for the client's thread. Where `stopping` becomes true, Cancelled within 100 ms.
WholeAnswer AskAndWait(Client& client, Request request, const std::atomic<bool>* stopping = nullptr);

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_WHOLE_ANSWER_H_
