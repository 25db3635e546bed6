#ifndef FAIRLEAD_REDIRECT_IPTABLES_TEXT_H_
#define FAIRLEAD_REDIRECT_IPTABLES_TEXT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "redirect/iptables_rules.h"

namespace fairlead::redirect {

// Rules as iptables reads them; pure functions.

// The input of `iptables-restore --noflush`: the chains that are not there yet, then the rules. "" without
// rules.
std::string RestoreText(const std::vector<IptablesRule>& rules);

// Arguments of iptables, a command each.
// They succeed where the rule is there.
std::vector<Words> CheckCommands(const std::vector<IptablesRule>& rules);
// They undo what RestoreText does; each may fail.
std::vector<Words> CleanUpCommands(const std::vector<IptablesRule>& rules);
// No packet passes while rules are replaced.
std::vector<Words> GuardCommands();
std::vector<Words> UnguardCommands();

// Rules by table and chain: those of all chains that have some, and chains of ours without any.
using ChainState =
    std::map<std::string, std::map<std::string, std::vector<std::string>, std::less<>>, std::less<>>;

// Of iptables-save's output or of a RestoreText.
ChainState ParseState(std::string_view text);

// Whether chains of ours in both states are the same ones with as many rules, and no chain of `expected` is
// missing.
bool HasSameChains(const ChainState& current, const ChainState& expected);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_IPTABLES_TEXT_H_
