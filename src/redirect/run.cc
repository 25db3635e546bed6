#include "redirect/run.h"

#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "base/files.h"
#include "base/log.h"
#include "base/log_output.h"
#include "base/process_start.h"
#include "base/strings.h"
#include "redirect/command_line.h"
#include "redirect/iptables_apply.h"
#include "redirect/iptables_text.h"
#include "redirect/nft_script.h"
#include "redirect/routes.h"
#include "redirect/rule_probe.h"
#include "redirect/sandbox.h"

namespace fairlead::redirect {
namespace {

LogScope run_log("iptables");

constexpr int kFailed = 1, kWrongCall = 2, kDoesNotWork = 126;

int Fail(const absl::Status& status, int code) {
  FlushLogs();
  std::fprintf(stderr, "fairlead agent iptables: %s\n", std::string(FromAbsl(status.message())).c_str());
  return code;
}

absl::Status SetUpLog(const RedirectCall& call) {
  if (absl::Status status = SetLogLevels(call.log_level); !status.ok()) return status;
  SetLogCallers(call.log_callers);
  return SetLogOutput(call.log);
}

void AppendCommands(std::string_view program, const std::vector<IptablesRule>& rules, bool clean_up,
                    std::string* text) {
  if (!clean_up) {
    StrAppend(text, program, "-restore --noflush\n", RestoreText(rules));
    return;
  }
  for (const Words& words : CleanUpCommands(rules)) StrAppend(text, program, " ", Join(words, " "), "\n");
}

absl::Status DryRun(const RedirectOptions& options) {
  const auto text = DescribeRedirect(options);
  if (!text.ok()) return text.status();
  if (!options.dry_run_file.empty()) return WriteFileAtomically(options.dry_run_file, *text);
  std::fputs(text->c_str(), stdout);
  return absl::OkStatus();
}

// Where the programs run, with --cni-mode.
RunProgram RunnerOf(const RedirectOptions& options) {
  ProgramSurroundings surroundings;
  if (options.cni_mode) {
    if (absl::Status status = EnterSandbox(options.network_namespace); !status.ok())
      run_log.Warn("without a sandbox: {}", FromAbsl(status.message()));
    if (!options.network_namespace.empty())
      surroundings.variables["XTABLES_LOCKFILE"] = options.network_namespace;
  }
  return MakeRunner(std::move(surroundings));
}

int Apply(RedirectCall call) {
  AddressSources sources = CurrentAddresses();
  sources.proxy_user = call.proxy_user;
  RedirectOptions& options = call.options;
  if (absl::Status status = FillIn(sources, &options); !status.ok()) return Fail(status, kFailed);
  if (absl::Status status = Check(options); !status.ok()) return Fail(status, kFailed);
  if (options.redirect_dns && !CapturesDns(options))
    run_log.Warn("DNS is not captured: {} has no nameservers, and --capture-all-dns is not set",
                 sources.resolver_file);
  if (!options.skip_rules) {
    const absl::Status status = options.dry_run ? DryRun(options) : Redirect(options, RunnerOf(options));
    if (!status.ok()) return Fail(status, kFailed);
  }
  if (!options.check_rules) return 0;
  const absl::Status probed = ProbeRules(options);
  if (probed.ok()) {
    run_log.Info("the rules work");
    return 0;
  }
  return Fail(
      absl::UnavailableError(StrCat(
          FromAbsl(probed.message()),
          ". This pod started before its node could set up redirection. `fairlead cni repair` deletes such "
          "pods; without it, delete the pod by hand")),
      kDoesNotWork);
}

}  // namespace

absl::Status Redirect(const RedirectOptions& options, const RunProgram& run) {
  const absl::Status status = options.native_nftables ? ApplyNft(options, run) : ApplyIptables(options, run);
  return status.ok() ? ApplyRoutes(options) : status;
}

absl::Status VerifyRedirect(const RedirectOptions& options, const RunProgram& run) {
  return options.native_nftables ? VerifyNft(options, run) : VerifyIptables(options, run);
}

absl::StatusOr<std::string> DescribeRedirect(const RedirectOptions& options) {
  if (options.native_nftables) {
    const auto script = MakeNftScript(options);
    if (!script.ok()) return script.status();
    return StrCat("nft -f -\n", *script);
  }
  const auto rules = MakeIptablesRules(options);
  if (!rules.ok()) return rules.status();
  std::string text;
  AppendCommands("iptables", rules->v4, options.clean_up, &text);
  if (options.ipv6) AppendCommands("ip6tables", rules->v6, options.clean_up, &text);
  return text;
}

int RunIptables(const std::vector<std::string>& arguments) {
  auto call = ReadCall(arguments, OwnVariables());
  if (!call.ok()) return Fail(call.status(), kWrongCall);
  if (call->help) {
    std::fputs(IptablesUsage().c_str(), stdout);
    return 0;
  }
  if (absl::Status status = SetUpLog(*call); !status.ok()) return Fail(status, kWrongCall);
  for (const std::string& remark : call->remarks) run_log.Warn("{}", remark);
  const int code = Apply(*std::move(call));
  FlushLogs();
  return code;
}

}  // namespace fairlead::redirect
