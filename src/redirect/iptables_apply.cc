#include "redirect/iptables_apply.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/excerpt.h"
#include "base/log.h"
#include "base/strings.h"
#include "redirect/iptables_text.h"
#include "redirect/iptables_variant.h"

namespace fairlead::redirect {
namespace {

LogScope iptables_log("iptables");

absl::Status Failed(const std::string& program, const ProgramResult& result) {
  return absl::UnavailableError(StrCat(program, ": ", OnOneLine(Excerpt(Trim(result.error), 500))));
}

// One IP version: its programs and its rules.
class Side {
 public:
  Side(const RunProgram& run, std::optional<IptablesVariant> variant, std::vector<IptablesRule> rules)
      : run_(run), variant_(std::move(variant)), rules_(std::move(rules)) {}

  bool is_planned() const { return !rules_.empty(); }
  const std::vector<IptablesRule>& rules() const { return rules_; }

  // What iptables-save tells of a namespace, compared with the rules.
  struct Finding {
    bool residues = false;    // rules, whoever made them
    bool difference = false;  // not what is wanted
  };
  Finding Look() const {
    const ChainState expected = ParseState(RestoreText(rules_));
    const ProgramResult saved = Run("-save", {}, "");
    if (!saved.ok()) return {false, !IsEmpty(expected)};
    const ChainState current = ParseState(saved.output);
    if (IsEmpty(current)) return {false, !IsEmpty(expected)};
    return {true, !HasSameChains(current, expected) || !HasRules()};
  }

  absl::Status All(const std::vector<Words>& commands) const {
    for (const Words& words : commands) {
      const ProgramResult result = Run("", words, "");
      if (!result.ok()) return Failed(variant_ ? variant_->binary : "iptables", result);
    }
    return absl::OkStatus();
  }

  void TryAll(const std::vector<Words>& commands) const {
    for (const Words& words : commands) {
      const ProgramResult result = Run("", words, "");
      if (!result.ok()) iptables_log.Debug("iptables {}: {}", Join(words, " "), Trim(result.error));
    }
  }

  absl::Status Restore() const {
    const std::string text = RestoreText(rules_);
    iptables_log.Debug("{}-restore --noflush:\n{}", variant_ ? variant_->binary : "iptables", text);
    const ProgramResult result = Run("-restore", {"--noflush"}, text);
    return result.ok() ? absl::OkStatus()
                       : Failed(StrCat(variant_ ? variant_->binary : "iptables", "-restore"), result);
  }

 private:
  static bool IsEmpty(const ChainState& state) {
    for (const auto& [table, chains] : state) {
      if (!chains.empty()) return false;
    }
    return true;
  }

  bool HasRules() const {
    for (const Words& words : CheckCommands(rules_)) {
      if (!Run("", words, "").ok()) return false;
    }
    return true;
  }

  ProgramResult Run(std::string_view program, const Words& words, const std::string& input) const {
    if (!variant_) return {ProgramResult::kNotRun, "", "there are no programs for this IP version"};
    ProgramCall command{{StrCat(variant_->binary, program)}, input};
    command.words.insert(command.words.end(), words.begin(), words.end());
    if (program != "-save") {
      for (std::string& word : variant_->Wait()) command.words.push_back(std::move(word));
    }
    return run_(command);
  }

  const RunProgram& run_;
  const std::optional<IptablesVariant> variant_;
  const std::vector<IptablesRule> rules_;
};

class Application {
 public:
  Application(const RedirectOptions& options, std::vector<Side> sides)
      : options_(options), sides_(std::move(sides)) {}

  absl::Status Do() {
    Look();
    const bool replace = residues_ && difference_ && options_.reconcile;
    if (residues_ && difference_ && !options_.reconcile)
      iptables_log.Warn("there are other rules; --reconcile replaces rules of an earlier call");
    absl::Status status;
    if (replace && !options_.clean_up) status = Guard();
    if (status.ok() && (replace || options_.clean_up)) {
      for (const Side* side : Concerned()) side->TryAll(CleanUpCommands(side->rules()));
    }
    if (status.ok() && (difference_ || options_.force) && !options_.clean_up) status = Restore();
    if (guarded_) {
      for (const Side* side : Concerned()) side->TryAll(UnguardCommands());
    }
    return status;
  }

 private:
  void Look() {
    for (const Side& side : sides_) {
      const Side::Finding found = side.Look();
      difference_ = difference_ || found.difference;
      residues_ = residues_ || (found.residues && side.is_planned());
    }
    if (!residues_) difference_ = true;
  }

  absl::Status Guard() {
    for (const Side* side : Concerned()) {
      side->TryAll(UnguardCommands());
      guarded_ = true;
      if (absl::Status status = side->All(GuardCommands()); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Restore() const {
    for (const Side* side : Concerned()) {
      if (absl::Status status = side->Restore(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  std::vector<const Side*> Concerned() const {
    std::vector<const Side*> sides = {&sides_[0]};
    if (options_.ipv6) sides.push_back(&sides_[1]);
    return sides;
  }

  const RedirectOptions& options_;
  const std::vector<Side> sides_;  // IPv4, IPv6
  bool residues_ = false, difference_ = false, guarded_ = false;
};

// The first rule that a variant does not have; null: it has all.
const IptablesRule* FirstMissing(const RunProgram& run, const IptablesVariant& variant,
                                 const std::vector<IptablesRule>& rules) {
  const std::vector<Words> commands = CheckCommands(rules);
  for (size_t i = 0; i < commands.size(); ++i) {
    ProgramCall command{{variant.binary}, ""};
    command.words.insert(command.words.end(), commands[i].begin(), commands[i].end());
    if (!run(command).ok()) return &rules[i];
  }
  return nullptr;
}

absl::Status VerifySide(const RunProgram& run, bool ipv6, const std::vector<IptablesRule>& rules) {
  if (rules.empty()) return absl::OkStatus();
  const IptablesRule* missing = &rules.front();
  for (const IptablesVariant& variant : UsedVariants(run, ipv6)) {
    missing = FirstMissing(run, variant, rules);
    if (missing == nullptr) return absl::OkStatus();
  }
  return absl::NotFoundError(StrCat(ipv6 ? "ip6tables" : "iptables", ": there is no rule -t ", missing->table,
                                    " -A ", missing->chain, " ", Join(missing->words, " ")));
}

}  // namespace

absl::Status ApplyIptables(const RedirectOptions& options, const RunProgram& run) {
  auto v4 = FindVariant(run, false, options.forced_binary);
  if (!v4.ok()) return v4.status();
  auto v6 = FindVariant(run, true, options.forced_binary);
  if (!v6.ok() && options.ipv6) return v6.status();
  auto rules = MakeIptablesRules(options);
  if (!rules.ok()) return rules.status();
  iptables_log.Info("rules by {}{}", v4->binary, options.ipv6 ? StrCat(" and ", v6->binary) : "");
  std::vector<Side> sides;
  sides.emplace_back(run, *std::move(v4), std::move(rules->v4));
  sides.emplace_back(run, v6.ok() ? std::optional(*std::move(v6)) : std::nullopt, std::move(rules->v6));
  return Application(options, std::move(sides)).Do();
}

absl::Status VerifyIptables(const RedirectOptions& options, const RunProgram& run) {
  const auto rules = MakeIptablesRules(options);
  if (!rules.ok()) return rules.status();
  if (absl::Status status = VerifySide(run, false, rules->v4); !status.ok()) return status;
  return VerifySide(run, true, rules->v6);
}

}  // namespace fairlead::redirect
