#include "base/log_output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>

#include "base/errno_text.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/log_writer.h"
#include "base/metrics.h"
#include "base/strings.h"

namespace fairlead {
namespace {

constexpr size_t kLongestText = 4096;  // of a line, in bytes
constexpr std::chrono::seconds kPatience{1};

std::string LostLines(size_t lost);

// Lines to file descriptors: a push to a thousand streams logs thousands of lines, and none of them is to
// cost a system call, or to wait for somebody who reads.
class WritersSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void SetTargets(const std::vector<int>& descriptors) {
    std::vector<std::unique_ptr<LogWriter>> writers;
    for (const int descriptor : descriptors)
      writers.push_back(std::make_unique<LogWriter>(descriptor, LostLines));
    std::lock_guard lock(mutex_);
    writers_.swap(writers);
  }
  void Drain() {
    std::lock_guard lock(mutex_);
    for (const auto& writer : writers_) writer->Drain(kPatience);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    for (const auto& writer : writers_) {
      if (!writer->Add({message.payload.data(), message.payload.size()})) lost_.Add();
    }
  }
  void flush_() override {
    for (const auto& writer : writers_) writer->Wake();
  }

 private:
  std::vector<std::unique_ptr<LogWriter>> writers_;
  metrics::Counter& lost_ = metrics::GetCounter("fairlead_log_lines_lost_total",
                                                "Lines of the log that were lost, as nobody read them.");
};

struct Output {
  std::shared_ptr<WritersSink> sink = std::make_shared<WritersSink>();
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("fairlead", sink);
  std::atomic<bool> as_json{false};

  Output() {
    sink->SetTargets({STDOUT_FILENO});
    logger->set_level(spdlog::level::debug);
    logger->flush_on(spdlog::level::warn);
    spdlog::register_logger(logger);
    std::atexit([] { FlushLogOutput(); });
  }
  static Output& Get() {
    static auto* output = new Output;
    return *output;
  }
};

// "2026-01-02T15:04:05.123456Z"
std::string Now() {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  const std::time_t seconds = since / 1000000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, since % 1000000);
}

std::string PlainLine(const LogLine& line) {
  return fmt::format("{}\t{}\t{}\t{}{}{}\n", Now(), NameOf(line.level), line.scope, line.caller,
                     line.caller.empty() ? "" : "\t", OnOneLine(line.text));
}

std::string JsonLine(const LogLine& line) {
  nlohmann::ordered_json json = {{"level", NameOf(line.level)}, {"time", Now()}, {"scope", line.scope}};
  if (!line.caller.empty()) json["caller"] = line.caller;
  json["msg"] = line.text;
  return JsonText(json) + "\n";
}

std::string TextOf(const LogLine& line) { return Output::Get().as_json ? JsonLine(line) : PlainLine(line); }

std::string LostLines(size_t lost) {
  const std::string text =
      StrCat(lost, " lines of the log are lost: whoever reads it is too slow, or has stopped");
  return TextOf({LogLevel::kWarn, "log", "", text});
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

int Open(const std::string& target) {
  if (target == "stdout") return STDOUT_FILENO;
  if (target == "stderr") return STDERR_FILENO;
  return open(target.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

}  // namespace

absl::Status SetLogOutput(const LogOutput& output) {
  std::vector<int> descriptors;
  descriptors.reserve(output.targets.size());
  for (const std::string& target : output.targets) {
    descriptors.push_back(Open(target));
    if (descriptors.back() >= 0) continue;
    const std::string why = ErrnoText(errno);
    for (const int opened : descriptors) {
      if (opened > STDERR_FILENO) close(opened);
    }
    return absl::UnavailableError(StrCat("cannot write the log to ", target, ": ", why));
  }
  Output::Get().as_json = output.as_json;
  Output::Get().sink->SetTargets(descriptors);
  return absl::OkStatus();
}

void WriteLogLine(const LogLine& line) {
  LogLine shown = line;
  std::string cut;
  if (line.text.size() > kLongestText) shown.text = cut = Excerpt(line.text, kLongestText);
  const std::string text = TextOf(shown);
  Output::Get().logger->log(ToSpdlog(line.level), spdlog::string_view_t(text));
}

void FlushLogOutput() { Output::Get().sink->Drain(); }

}  // namespace fairlead
