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
#include <system_error>
#include <utility>

#include "base/errno_text.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead {
namespace {

// Lines to file descriptors by way of a buffer: a push to a thousand streams logs thousands of lines, and
// none of them is to cost a system call. What a descriptor does not take is lost.
class BufferedOutput : public spdlog::sinks::base_sink<std::mutex> {
 public:
  ~BufferedOutput() override { Close(); }
  void SetTargets(std::vector<int> descriptors) {
    std::lock_guard lock(mutex_);
    flush_();
    Close();
    descriptors_ = std::move(descriptors);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    buffer_.append(message.payload.data(), message.payload.size());
    if (buffer_.size() >= kBuffer) flush_();
  }
  void flush_() override {
    for (const int descriptor : descriptors_) WriteAll(descriptor, buffer_);
    buffer_.clear();
  }

 private:
  static constexpr size_t kBuffer = 1 << 16;

  static void WriteAll(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
  void Close() {
    for (const int descriptor : descriptors_) {
      if (descriptor > STDERR_FILENO) close(descriptor);
    }
  }

  std::vector<int> descriptors_ = {STDOUT_FILENO};
  std::string buffer_;
};

struct Output {
  std::shared_ptr<BufferedOutput> sink = std::make_shared<BufferedOutput>();
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("fairlead", sink);
  std::atomic<bool> as_json{false};

  Output() {
    logger->set_level(spdlog::level::debug);
    logger->flush_on(spdlog::level::warn);
    spdlog::register_logger(logger);
    try {
      spdlog::flush_every(std::chrono::seconds(1));
    } catch (const std::system_error&) {  // no thread to do it
      logger->flush_on(spdlog::level::debug);
    }
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
                     line.caller.empty() ? "" : "\t", line.text);
}

std::string JsonLine(const LogLine& line) {
  nlohmann::ordered_json json = {{"level", NameOf(line.level)}, {"time", Now()}, {"scope", line.scope}};
  if (!line.caller.empty()) json["caller"] = line.caller;
  json["msg"] = line.text;
  return JsonText(json) + "\n";
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
  Output::Get().sink->SetTargets(std::move(descriptors));
  return absl::OkStatus();
}

void WriteLogLine(const LogLine& line) {
  Output& output = Output::Get();
  const std::string text = output.as_json ? JsonLine(line) : PlainLine(line);
  output.logger->log(ToSpdlog(line.level), spdlog::string_view_t(text));
}

void FlushLogOutput() { Output::Get().logger->flush(); }

}  // namespace fairlead
