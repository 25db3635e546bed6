#include "app/proxy_calls.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "fetch/client.h"
#include "fetch/whole_answer.h"

namespace fairlead::app {
namespace {

using Arguments = std::vector<std::string>;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kFailed = 1, kWrongCall = 2;

// Flags of the log, which these commands take and have no log for.
struct LogFlags {
  std::string level, caller, stack, target;
  bool as_json = false;

  void AddTo(CLI::App* command) {
    command->add_option("--log_output_level", level, "Without effect");
    command->add_option("--log_caller", caller, "Without effect");
    command->add_option("--log_stacktrace_level", stack, "Without effect");
    command->add_option("--log_target", target, "Without effect");
    command->add_flag("--log_as_json", as_json, "Without effect");
  }
};

// Nothing where the call was understood; else the exit status.
std::optional<int> Parse(CLI::App* command, const Arguments& arguments) {
  try {
    command->parse(Arguments(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command->exit(error) == 0 ? 0 : kWrongCall;
  }
  return std::nullopt;
}

int Fail(std::string_view command, std::string_view message) {
  std::cerr << "fairlead agent " << command << ": " << message << std::endl;
  return kFailed;
}

struct Answer {
  int status = 0;
  std::string body;
};

absl::StatusOr<Answer> AskProxy(fetch::Request request) {
  request.plaintext = true;
  request.proxy = "";
  request.most_bytes = 256 << 20;
  fetch::WholeAnswer answer = fetch::AskAndWait(fetch::Client::Shared(), std::move(request));
  if (!answer.outcome.status.ok()) return answer.outcome.status;
  return Answer{answer.outcome.http_status, std::move(answer.body)};
}

// Why a URL does not answer with 200; "": it does.
std::string Difficulty(const std::string& url, milliseconds limit) {
  const auto answer = AskProxy({.url = url, .connect_limit = limit, .whole_limit = limit});
  if (!answer.ok()) return std::string(FromAbsl(answer.status().message()));
  return answer->status == 200 ? "" : StrCat("status ", answer->status);
}

}  // namespace

int RunWait(const Arguments& arguments) {
  int seconds = 60, request_limit = 500, period = 500;
  std::string url = "http://localhost:15021/healthz/ready";
  LogFlags log;
  CLI::App command("Waits until the proxy is ready", "fairlead agent wait");
  const auto positive = CLI::Range(1, 86'400'000);
  command.add_option("--timeoutSeconds", seconds, "Longest wait")->capture_default_str()->check(positive);
  command.add_option("--requestTimeoutMillis", request_limit, "Longest wait for one answer")
      ->capture_default_str()
      ->check(positive);
  command.add_option("--periodMillis", period, "Time between two requests")
      ->capture_default_str()
      ->check(positive);
  command.add_option("--url", url, "What answers with 200 when the proxy is ready")->capture_default_str();
  log.AddTo(&command);
  if (const auto code = Parse(&command, arguments)) return *code;
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    const std::string difficulty = Difficulty(url, milliseconds(request_limit));
    if (difficulty.empty()) return 0;
    if (Clock::now() + milliseconds(period) >= deadline)
      return Fail("wait", StrCat("not ready after ", seconds, "s: ", url, ": ", difficulty));
    std::this_thread::sleep_for(milliseconds(period));
  }
}

int RunRequest(const Arguments& arguments) {
  fetch::Request request;
  request.connect_limit = std::chrono::seconds(5);
  request.whole_limit = std::chrono::seconds(60);
  std::string path, body;
  int port = 15000;
  LogFlags log;
  CLI::App command("Makes a request to Envoy's administration interface, or to the agent",
                   "fairlead agent request");
  command.add_option("METHOD", request.method, "GET or POST")->required();
  command.add_option("PATH", path, "For example config_dump")->required();
  command.add_option("BODY", body, "What is sent along");
  command
      .add_option("--debug-port", port, "15000: Envoy; 15004, 15020, 15021: the agent's and Envoy's others")
      ->capture_default_str()
      ->check(CLI::IsMember({15000, 15004, 15020, 15021}));
  log.AddTo(&command);
  if (const auto code = Parse(&command, arguments)) return *code;
  request.url = StrCat("http://localhost:", port, path.starts_with("/") ? "" : "/", path);
  if (!body.empty()) request.body = body;
  const auto answer = AskProxy(std::move(request));
  if (!answer.ok()) return Fail("request", FromAbsl(answer.status().message()));
  if (answer->status >= 400 && answer->status != 404)
    return Fail("request", StrCat("status ", answer->status, ": ", answer->body));
  std::cout << answer->body << std::endl;
  return std::cout.good() ? 0 : kFailed;
}

}  // namespace fairlead::app
