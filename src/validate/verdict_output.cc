#include "validate/verdict_output.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::validate {
namespace {

using config::Diagnostic;
using config::Severity;
using nlohmann::json;

enum class Level { kError, kWarning, kNote };

constexpr std::string_view NameOf(Level level) {
  return level == Level::kError ? "error" : level == Level::kWarning ? "warning" : "note";
}

// One thing to say of a verdict. Points into it.
struct Finding {
  const Verdict* verdict;
  const Diagnostic* diagnostic;
  Level level;
};

// What differs by place and words is said once.
std::vector<Finding> FindingsOf(const Verdict& verdict) {
  std::vector<Finding> findings;
  std::set<std::tuple<Level, int, std::string_view, std::string_view>> seen;
  const auto add = [&](const Diagnostic& one, Level level) {
    if (seen.insert({level, one.line, one.path, one.message}).second)
      findings.push_back({&verdict, &one, level});
  };
  for (const Diagnostic& one : verdict.diagnostics)
    add(one, one.severity == Severity::kError ? Level::kError : Level::kWarning);
  for (const Diagnostic& one : verdict.notes)
    add(one, one.severity == Severity::kError ? Level::kError : Level::kNote);
  return findings;
}

std::vector<Finding> FindingsOf(const std::vector<Verdict>& verdicts) {
  std::vector<Finding> all;
  for (const Verdict& verdict : verdicts) {
    for (const Finding& finding : FindingsOf(verdict)) all.push_back(finding);
  }
  return all;
}

// "Gateway edge/bad"; "" where the text does not say.
std::string ObjectOf(const Verdict& verdict) {
  if (verdict.kind.empty() || verdict.name.empty()) return verdict.kind;
  return StrCat(verdict.kind, " ", verdict.ns, verdict.ns.empty() ? "" : "/", verdict.name);
}

// "Gateway edge/bad: spec.servers[0].port.number: port 0 is not in 1..65535"
std::string MessageOf(const Finding& finding) {
  const std::string object = ObjectOf(*finding.verdict);
  const std::string& path = finding.diagnostic->path;
  return StrCat(object, object.empty() ? "" : ": ", path, path.empty() ? "" : ": ",
                finding.diagnostic->message);
}

void WriteText(const std::vector<Verdict>& verdicts, std::ostream& out) {
  for (const Finding& finding : FindingsOf(verdicts)) {
    out << StrCat(finding.verdict->file, ":", finding.diagnostic->line, ": ", NameOf(finding.level), ": ",
                  MessageOf(finding), "\n");
  }
}

json ToJson(const Verdict& verdict) {
  json out = {{"file", verdict.file},    {"line", verdict.line},     {"kind", verdict.kind},
              {"namespace", verdict.ns}, {"name", verdict.name},     {"valid", verdict.valid()},
              {"errors", json::array()}, {"warnings", json::array()}};
  for (const Finding& finding : FindingsOf(verdict)) {
    const Diagnostic& one = *finding.diagnostic;
    out[StrCat(NameOf(finding.level), "s")].push_back(
        {{"path", one.path}, {"code", one.code}, {"line", one.line}, {"message", one.message}});
  }
  return out;
}

void WriteJson(const std::vector<Verdict>& verdicts, std::ostream& out) {
  json list = json::array();
  for (const Verdict& verdict : verdicts) list.push_back(ToJson(verdict));
  out << JsonText(list, 2) << "\n";
}

// A workflow command's data, or one of its properties, which end at commas and colons.
std::string Escaped(std::string_view text, bool property) {
  std::string out = ReplaceAll(ReplaceAll(ReplaceAll(text, "%", "%25"), "\r", "%0D"), "\n", "%0A");
  return property ? ReplaceAll(ReplaceAll(out, ":", "%3A"), ",", "%2C") : out;
}

void WriteGitHub(const std::vector<Verdict>& verdicts, std::ostream& out) {
  for (const Finding& finding : FindingsOf(verdicts)) {
    const std::string_view command = finding.level == Level::kNote ? "notice" : NameOf(finding.level);
    const std::string object = ObjectOf(*finding.verdict);
    out << StrCat("::", command, " file=", Escaped(finding.verdict->file, true),
                  ",line=", std::max(finding.diagnostic->line, 1),
                  ",title=", Escaped(object.empty() ? finding.diagnostic->code : object, true),
                  "::", Escaped(MessageOf(finding), false), "\n");
  }
}

json SarifResult(const Finding& finding) {
  const json region = {{"startLine", std::max(finding.diagnostic->line, 1)}};
  const json place = {{"artifactLocation", {{"uri", finding.verdict->file}}}, {"region", region}};
  return {{"ruleId", finding.diagnostic->code},
          {"level", NameOf(finding.level)},
          {"message", {{"text", MessageOf(finding)}}},
          {"locations", json::array({{{"physicalLocation", place}}})}};
}

void WriteSarif(const std::vector<Verdict>& verdicts, std::ostream& out) {
  json results = json::array(), rules = json::array();
  std::set<std::string_view> codes;
  for (const Finding& finding : FindingsOf(verdicts)) {
    if (codes.insert(finding.diagnostic->code).second) rules.push_back({{"id", finding.diagnostic->code}});
    results.push_back(SarifResult(finding));
  }
  const json driver = {{"name", "fairlead validate"}, {"rules", rules}};
  const json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  const json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", json::array({run})}};
  out << JsonText(log, 2) << "\n";
}

using Writer = void (*)(const std::vector<Verdict>&, std::ostream&);
const std::map<std::string, Writer, std::less<>>& Writers() {
  static const auto* const writers = new std::map<std::string, Writer, std::less<>>{
      {"text", WriteText}, {"json", WriteJson}, {"github", WriteGitHub}, {"sarif", WriteSarif}};
  return *writers;
}

std::string Plural(size_t count, std::string_view what) {
  return StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace

const std::vector<std::string>& OutputFormats() {
  static const auto* const formats = [] {
    auto* names = new std::vector<std::string>;
    for (const auto& [name, writer] : Writers()) names->push_back(name);
    return names;
  }();
  return *formats;
}

void Write(const std::vector<Verdict>& verdicts, std::string_view format, std::ostream& out) {
  Writers().find(format)->second(verdicts, out);
}

Totals Count(const std::vector<Verdict>& verdicts) {
  Totals totals;
  totals.objects = verdicts.size();
  for (const Finding& finding : FindingsOf(verdicts)) {
    size_t& count = finding.level == Level::kError     ? totals.errors
                    : finding.level == Level::kWarning ? totals.warnings
                                                       : totals.notes;
    ++count;
  }
  return totals;
}

std::string Summary(const Totals& totals, size_t files) {
  std::string text = StrCat(Plural(totals.objects, "object"), " in ", Plural(files, "file"), ": ",
                            Plural(totals.errors, "error"), ", ", Plural(totals.warnings, "warning"));
  if (totals.notes > 0) StrAppend(&text, ", ", Plural(totals.notes, "note"));
  return text;
}

}  // namespace fairlead::validate
