#include "redirect/iptables_variant.h"

#include <algorithm>
#include <charconv>

#include "base/excerpt.h"
#include "base/strings.h"

namespace fairlead::redirect {
namespace {

// The first that waits for its lock if it is told to.
constexpr std::array kFirstWithLock{1, 6, 2};

absl::Status Unusable(std::string_view binary, std::string_view why) {
  return absl::UnavailableError(StrCat(binary, ": ", OnOneLine(Excerpt(Trim(why), 300))));
}

// "iptables-save v1.8.9 (nf_tables)": the first word that is a "v" and numbers.
bool ParseVersion(std::string_view text, std::array<int, 3>* version) {
  for (std::string_view word : Split(text, ' ')) {
    word = Trim(word);
    if (word.size() < 4 || word[0] != 'v') continue;
    const std::vector<std::string_view> parts = Split(word.substr(1), '.');
    if (parts.size() < 2) continue;
    for (size_t i = 0; i < std::min(parts.size(), version->size()); ++i)
      std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), (*version)[i]);
    return true;
  }
  return false;
}

absl::StatusOr<IptablesVariant> Look(const RunProgram& run, const std::string& binary) {
  IptablesVariant variant{.binary = binary};
  const ProgramResult saved = run({{binary + "-save"}, ""});
  if (!saved.ok()) return Unusable(binary, StrCat("cannot be run: ", saved.error));
  variant.has_rules = std::count(saved.output.begin(), saved.output.end(), '\n') >= 3;
  const ProgramResult version = run({{binary + "-save", "--version"}, ""});
  variant.legacy = true;
  // Old ones do not tell.
  if (!version.ok() || version.error.find("unrecognized option") != std::string::npos) return variant;
  if (!ParseVersion(version.output, &variant.version))
    return Unusable(binary, StrCat("tells no version: ", version.output));
  variant.legacy = version.output.find("nf_tables") == std::string::npos;
  return variant;
}

absl::Status Try(const RunProgram& run, const IptablesVariant& variant) {
  const auto command = [&](const char* verb) {
    // No packet has this protocol.
    ProgramCall all{{variant.binary, "-t", "nat", verb, "INPUT", "-p", "255", "-j", "RETURN"}, ""};
    for (std::string& word : variant.Wait()) all.words.push_back(std::move(word));
    return all;
  };
  const ProgramResult tried = run(command("-A"));
  if (!tried.ok() || tried.error.find("does not exist") != std::string::npos)
    return Unusable(variant.binary, StrCat("the kernel does not support it: ", tried.error));
  run(command("-D"));
  return absl::OkStatus();
}

absl::StatusOr<IptablesVariant> LookAndTry(const RunProgram& run, const std::string& binary) {
  auto variant = Look(run, binary);
  if (!variant.ok()) return variant;
  if (absl::Status status = Try(run, *variant); !status.ok()) return status;
  return variant;
}

}  // namespace

Words IptablesVariant::Wait() const {
  return legacy && version >= kFirstWithLock ? Words{"--wait=30"} : Words{};
}

absl::StatusOr<IptablesVariant> FindVariant(const RunProgram& run, bool ipv6, std::string_view forced) {
  const std::string name = ipv6 ? "ip6tables" : "iptables";
  if (!forced.empty()) return LookAndTry(run, StrCat(name, "-", forced));
  auto legacy = LookAndTry(run, name + "-legacy");
  if (legacy.ok() && legacy->has_rules) return legacy;
  auto nft = LookAndTry(run, name + "-nft");
  if (nft.ok()) return nft;
  return LookAndTry(run, name);
}

std::vector<IptablesVariant> UsedVariants(const RunProgram& run, bool ipv6) {
  const std::string name = ipv6 ? "ip6tables" : "iptables";
  std::vector<IptablesVariant> used;
  for (const char* kind : {"-legacy", "-nft", ""}) {
    const auto variant = Look(run, name + kind);
    if (variant.ok() && variant->has_rules) used.push_back(*variant);
  }
  return used;
}

}  // namespace fairlead::redirect
