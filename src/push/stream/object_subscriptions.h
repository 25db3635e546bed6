#ifndef FAIRLEAD_PUSH_STREAM_OBJECT_SUBSCRIPTIONS_H_
#define FAIRLEAD_PUSH_STREAM_OBJECT_SUBSCRIPTIONS_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "push/stream/object_types.h"
#include "push/stream/part_cache.h"
#include "push/stream/push_metrics.h"
#include "push/stream/stream_report.h"
#include "xds/stream_core.h"

namespace fairlead::push {

// What one stream asks for of the types of objects. Each has the protocol to itself: objects refer to nothing
// that would have to be sent first or last, and there are too many kinds for the table of types that every
// stream has. Not thread-safe.
class ObjectSubscriptions {
 public:
  // `types` must outlive it. `nonce_prefix` as for xds::StreamCore.
  ObjectSubscriptions(xds::Framing framing, std::string nonce_prefix, const ObjectTypes* types,
                      const xds::RequestLimits& limits)
      : framing_(framing), nonce_prefix_(std::move(nonce_prefix)), types_(types), limits_(limits) {}

  struct OfType {
    explicit OfType(xds::StreamCore protocol, gen::Generator* of, PushMetrics::OfType counters)
        : core(std::move(protocol)), generator(of), metrics(counters) {}
    xds::StreamCore core;
    gen::Generator* const generator;  // null: there are no such objects
    PushMetrics::OfType metrics;
    LastResources made = {};
    TypeTimes times = {};
  };

  // The type that the request is of, and what it meant. Null where the client asks for too many types.
  std::pair<OfType*, xds::RequestVerdict> OnRequest(const xds::DecodedRequest& request);
  void OnChange();
  void OnResend();

  // The next response that is due, and its type; nothing where none is. Its URL points into this.
  struct Offer {
    xds::Response response;
    OfType* type;
  };
  std::optional<Offer> Next(PartCache* parts, const mesh::World& world);
  // Adds what the objects that were sent were made from.
  void AddReads(std::vector<const mesh::ReadsPtr*>* reads) const;

  std::vector<StreamReport::OfObjects> Report() const;

 private:
  OfType* At(std::string_view url);  // null: there are too many

  const xds::Framing framing_;
  const std::string nonce_prefix_;
  const ObjectTypes* const types_;
  const xds::RequestLimits limits_;
  std::map<std::string, OfType, std::less<>> subscribed_;  // by URL
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_OBJECT_SUBSCRIPTIONS_H_
