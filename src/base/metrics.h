#ifndef FAIRLEAD_BASE_METRICS_H_
#define FAIRLEAD_BASE_METRICS_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Prometheus metrics of the process, under Istio's names where istiod has them. Look a metric up once and
// keep the reference: a look-up takes a lock, an update does not. All of it is thread-safe and lives as long
// as the process.
namespace fairlead::metrics {

using Labels = std::initializer_list<std::pair<std::string, std::string>>;

class Counter {
 public:
  void Add(double amount = 1);
  double Value() const;

 private:
  friend class Families;
  void* series_ = nullptr;
};

class Gauge {
 public:
  void Set(double value);
  void Add(double amount);
  double Value() const;

 private:
  friend class Families;
  void* series_ = nullptr;
};

class Histogram {
 public:
  void Observe(double value);
  // How many values were observed, for tests.
  double Count() const;

 private:
  friend class Families;
  void* series_ = nullptr;
};

Counter& GetCounter(std::string_view name, std::string_view help, Labels labels = {});
Gauge& GetGauge(std::string_view name, std::string_view help, Labels labels = {});
// The bounds of the first call for a name count; the others' are ignored.
Histogram& GetHistogram(std::string_view name, std::string_view help, std::initializer_list<double> bounds,
                        Labels labels = {});

// Everything in the text exposition format 0.0.4.
std::string ToText();

}  // namespace fairlead::metrics

#endif  // FAIRLEAD_BASE_METRICS_H_
