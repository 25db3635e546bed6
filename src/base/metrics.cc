#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>

namespace fairlead::metrics {

// The library finds families and series by comparing label maps at each call; this keeps one handle a series
// instead.
class Families {
 public:
  static Families& Get() {
    static auto* families = new Families;
    return *families;
  }

  Counter& GetCounter(std::string_view name, std::string_view help, Labels labels) {
    return Find(counters_, name, labels, [&](const LabelSet& set) {
      auto& family =
          prometheus::BuildCounter().Name(std::string(name)).Help(std::string(help)).Register(registry_);
      return &family.Add(set);
    });
  }
  Gauge& GetGauge(std::string_view name, std::string_view help, Labels labels) {
    return Find(gauges_, name, labels, [&](const LabelSet& set) {
      auto& family =
          prometheus::BuildGauge().Name(std::string(name)).Help(std::string(help)).Register(registry_);
      return &family.Add(set);
    });
  }
  Histogram& GetHistogram(std::string_view name, std::string_view help, std::initializer_list<double> bounds,
                          Labels labels) {
    return Find(histograms_, name, labels, [&](const LabelSet& set) {
      auto& family =
          prometheus::BuildHistogram().Name(std::string(name)).Help(std::string(help)).Register(registry_);
      return &family.Add(set, prometheus::Histogram::BucketBoundaries(bounds));
    });
  }
  std::string ToText() { return prometheus::TextSerializer().Serialize(registry_.Collect()); }

 private:
  using LabelSet = std::map<std::string, std::string>;
  template <typename Handle>
  using Handles = std::map<std::pair<std::string, LabelSet>, std::unique_ptr<Handle>>;

  template <typename Handle, typename Add>
  Handle& Find(Handles<Handle>& handles, std::string_view name, Labels labels, Add add) {
    LabelSet set;
    for (const auto& label : labels) set.insert(label);
    std::lock_guard lock(mutex_);
    auto& handle = handles[{std::string(name), set}];
    if (handle == nullptr) {
      handle = std::make_unique<Handle>();
      handle->series_ = add(set);
    }
    return *handle;
  }

  std::mutex mutex_;
  prometheus::Registry registry_{prometheus::Registry::InsertBehavior::Merge};
  Handles<Counter> counters_;
  Handles<Gauge> gauges_;
  Handles<Histogram> histograms_;
};

void Counter::Add(double amount) { static_cast<prometheus::Counter*>(series_)->Increment(amount); }
double Counter::Value() const { return static_cast<prometheus::Counter*>(series_)->Value(); }
void Gauge::Set(double value) { static_cast<prometheus::Gauge*>(series_)->Set(value); }
void Gauge::Add(double amount) { static_cast<prometheus::Gauge*>(series_)->Increment(amount); }
double Gauge::Value() const { return static_cast<prometheus::Gauge*>(series_)->Value(); }
void Histogram::Observe(double value) { static_cast<prometheus::Histogram*>(series_)->Observe(value); }
double Histogram::Count() const {
  return static_cast<double>(static_cast<prometheus::Histogram*>(series_)->Collect().histogram.sample_count);
}

Counter& GetCounter(std::string_view name, std::string_view help, Labels labels) {
  return Families::Get().GetCounter(name, help, labels);
}
Gauge& GetGauge(std::string_view name, std::string_view help, Labels labels) {
  return Families::Get().GetGauge(name, help, labels);
}
Histogram& GetHistogram(std::string_view name, std::string_view help, std::initializer_list<double> bounds,
                        Labels labels) {
  return Families::Get().GetHistogram(name, help, bounds, labels);
}
std::string ToText() { return Families::Get().ToText(); }

}  // namespace fairlead::metrics
