#include "redirect/iptables_text.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/strings.h"

namespace fairlead::redirect {
namespace {

using Chain = std::pair<std::string, std::string>;  // of a table

constexpr std::string_view kOwnPrefix = "ISTIO_";
constexpr std::array<std::string_view, 4> kTables = {"filter", "mangle", "nat", "raw"};
constexpr std::array<std::string_view, 8> kBuiltIn = {"ACCEPT", "DROP",       "FORWARD",     "INPUT",
                                                      "OUTPUT", "PREROUTING", "POSTROUTING", "RETURN"};

bool IsBuiltIn(std::string_view name) {
  return std::find(kBuiltIn.begin(), kBuiltIn.end(), name) != kBuiltIn.end();
}
bool IsOwn(std::string_view chain) { return chain.starts_with(kOwnPrefix); }

// Where a rule without further words on its target leads; "" for other targets.
std::string_view PlainTarget(const IptablesRule& rule) {
  const size_t size = rule.words.size();
  return size >= 2 && rule.words[size - 2] == "-j" ? std::string_view(rule.words[size - 1]) : "";
}

bool LeadsToOwnChain(const IptablesRule& rule) { return IsOwn(PlainTarget(rule)); }

// Chains to make: those of rules first, then those that are only led to.
std::vector<Chain> ChainsOf(const std::vector<IptablesRule>& rules) {
  std::vector<Chain> chains;
  std::set<Chain> seen;
  const auto add = [&](const std::string& table, std::string_view name) {
    Chain chain(table, name);
    if (!name.empty() && !IsBuiltIn(name) && seen.insert(chain).second) chains.push_back(std::move(chain));
  };
  for (const IptablesRule& rule : rules) add(rule.table, rule.chain);
  for (const IptablesRule& rule : rules) add(rule.table, PlainTarget(rule));
  return chains;
}

Words CommandOf(const IptablesRule& rule, std::string_view verb) {
  Words words = {"-t", rule.table, std::string(verb), rule.chain};
  words.insert(words.end(), rule.words.begin(), rule.words.end());
  return words;
}

std::string RestoreLine(const IptablesRule& rule) {
  const std::string verb = rule.position > 0 ? "-I" : "-A";
  const std::string position = rule.position > 0 ? StrCat(" ", rule.position) : "";
  return StrCat(verb, " ", rule.chain, position, " ", Join(rule.words, " "), "\n");
}

std::vector<IptablesRule> Guards() {
  std::vector<IptablesRule> rules;
  for (const char* chain : {"INPUT", "FORWARD", "OUTPUT"}) {
    for (const char* protocol : {"tcp", "udp"})
      rules.push_back({"filter", chain, 1, {"-p", protocol, "-j", "DROP"}});
  }
  return rules;
}

}  // namespace

std::string RestoreText(const std::vector<IptablesRule>& rules) {
  const std::vector<Chain> chains = ChainsOf(rules);
  std::string text;
  for (const std::string_view table : kTables) {
    std::string lines;
    for (const auto& [of, chain] : chains) {
      if (of == table) StrAppend(&lines, "-N ", chain, "\n");
    }
    for (const IptablesRule& rule : rules) {
      if (rule.table == table) lines += RestoreLine(rule);
    }
    if (!lines.empty()) StrAppend(&text, "*", table, "\n", lines, "COMMIT\n");
  }
  return text;
}

std::vector<Words> CheckCommands(const std::vector<IptablesRule>& rules) {
  std::vector<Words> commands;
  commands.reserve(rules.size());
  for (const IptablesRule& rule : rules) commands.push_back(CommandOf(rule, "-C"));
  return commands;
}

std::vector<Words> CleanUpCommands(const std::vector<IptablesRule>& rules) {
  std::vector<Words> commands;
  std::vector<Chain> chains;
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
    // Chains of ours are flushed; but none can be deleted that a rule leads to.
    if (!IsOwn(rule->chain) || LeadsToOwnChain(*rule)) commands.push_back(CommandOf(*rule, "-D"));
    Chain chain(rule->table, rule->chain);
    if (!IsBuiltIn(rule->chain) && std::find(chains.begin(), chains.end(), chain) == chains.end())
      chains.push_back(std::move(chain));
  }
  for (const auto& [table, chain] : chains) {
    commands.push_back({"-t", table, "-F", chain});
    commands.push_back({"-t", table, "-X", chain});
  }
  return commands;
}

std::vector<Words> GuardCommands() {
  std::vector<Words> commands;
  for (const IptablesRule& rule : Guards()) commands.push_back(CommandOf(rule, "-I"));
  return commands;
}

std::vector<Words> UnguardCommands() {
  std::vector<Words> commands;
  for (const IptablesRule& rule : Guards()) commands.push_back(CommandOf(rule, "-D"));
  return commands;
}

ChainState ParseState(std::string_view text) {
  ChainState state;
  for (const std::string_view table : kTables) state[std::string(table)];
  auto table = state.end();
  for (std::string_view line : Split(text, '\n')) {
    line = Trim(line);
    if (line.starts_with("*")) table = state.find(line.substr(1));
    if (table == state.end() || line.size() < 2) continue;
    const std::vector<std::string_view> words = Split(line, ' ');
    if (line.starts_with(":ISTIO")) table->second[std::string(words[0].substr(1))];
    if (words.size() < 2) continue;
    if (words[0] == "-N" && words[1].starts_with("ISTIO")) table->second[std::string(words[1])];
    if (words[0] == "-A" || words[0] == "-I") table->second[std::string(words[1])].emplace_back(line);
  }
  return state;
}

bool HasSameChains(const ChainState& current, const ChainState& expected) {
  for (const auto& [table, chains] : expected) {
    const auto found_table = current.find(table);
    if (found_table == current.end()) return false;
    for (const auto& [chain, rules] : chains) {
      const auto found = found_table->second.find(chain);
      if (found == found_table->second.end()) return false;
      if (IsOwn(chain) && found->second.size() != rules.size()) return false;
    }
  }
  for (const auto& [table, chains] : current) {
    const auto wanted = expected.find(table);
    for (const auto& [chain, rules] : chains) {
      if (IsOwn(chain) && (wanted == expected.end() || wanted->second.count(chain) == 0)) return false;
    }
  }
  return true;
}

}  // namespace fairlead::redirect
