#include "base/process_metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <vector>

#include "base/metrics.h"

namespace fairlead::metrics {
namespace {

double Of(std::string_view name) { return GetGauge(name, "").Value(); }

TEST(ProcessMetrics, AreTheProcesssOwn) {
  UpdateProcessMetrics();
  EXPECT_GT(Of("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(Of("process_virtual_memory_bytes"), Of("process_resident_memory_bytes"));
  EXPECT_GE(Of("process_max_fds"), Of("process_open_fds"));
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(Of("process_start_time_seconds"), now + 2);
  EXPECT_GT(Of("process_start_time_seconds"), now - 24 * 3600);
}

TEST(ProcessMetrics, FollowMemoryFilesAndCpu) {
  UpdateProcessMetrics();
  Counter& cpu = GetCounter("process_cpu_seconds_total", "");
  const double files = Of("process_open_fds"), resident = Of("process_resident_memory_bytes"),
               used = cpu.Value();
  std::vector<int> more(100);
  for (int& file : more) file = dup(STDOUT_FILENO);
  std::vector<char> memory(32 << 20, 'x');
  while (static_cast<double>(std::clock()) / CLOCKS_PER_SEC < used + 0.01) memory[1] = memory[0];
  UpdateProcessMetrics();
  EXPECT_NEAR(Of("process_open_fds"), files + 100, 5) << "other threads open and close a few";
  EXPECT_GT(Of("process_resident_memory_bytes"), resident + (16 << 20));
  EXPECT_GT(cpu.Value(), used);
  for (const int file : more) close(file);
}

TEST(ProcessMetrics, OthersAreBroughtUpToDateWithThem) {
  static int updates = 0;
  UpdateBeforeShown([] { ++updates; });
  EXPECT_EQ(updates, 0);
  UpdateProcessMetrics();
  UpdateProcessMetrics();
  EXPECT_EQ(updates, 2);
}

}  // namespace
}  // namespace fairlead::metrics
