// The tables of calls against the simulation (table.h says what they look like).
#include "tests/simulation/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"

namespace fairlead::simulation {
namespace {

std::string Told(const simulate::SimulationOutcome& outcome) {
  std::string text = StrCat("  end: ", outcome.Summary(), "\n");
  for (const auto* facts : {&outcome.steps, &outcome.changes}) {
    for (const simulate::Fact& fact : *facts) StrAppend(&text, "  ", fact.key, "=", fact.value, "\n");
  }
  for (std::string_view key :
       {"endpoint", "transport", "object", "host", "request header", "response header"}) {
    for (const std::string& value : outcome.Values(key)) StrAppend(&text, "  ", key, "=", value, "\n");
  }
  return text;
}

void CheckFact(const simulate::SimulationOutcome& outcome, std::string_view fact) {
  const bool absent = fact.starts_with('!');
  if (absent) fact.remove_prefix(1);
  const size_t equals = fact.find('=');
  const std::vector<std::string> values = outcome.Values(fact.substr(0, equals));
  if (equals == fact.npos) {
    EXPECT_EQ(values.empty(), absent) << fact;
    return;
  }
  const bool there = std::find(values.begin(), values.end(), fact.substr(equals + 1)) != values.end();
  EXPECT_NE(there, absent) << fact;
}

class CallTable : public testing::TestWithParam<std::string> {};

TEST_P(CallTable, EndsWhereItShould) {
  const Table table = ReadTable(GetParam());
  EXPECT_THAT(table.mistakes, testing::IsEmpty());
  const auto mesh = LoadTable(GetParam());
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  for (const config::Diagnostic& one : mesh->diagnostics) {
    if (one.severity == config::Severity::kError) ADD_FAILURE() << ToText(one);
  }
  std::map<std::string, absl::StatusOr<Sidecar>> sidecars;
  for (const Row& row : table.rows) {
    SCOPED_TRACE(StrCat(table.file, ":", row.line, ": ", row.call));
    if (!sidecars.contains(row.proxy)) sidecars.try_emplace(row.proxy, SidecarOf(*mesh, row.proxy));
    const auto& sidecar = sidecars.at(row.proxy);
    ASSERT_TRUE(sidecar.ok()) << sidecar.status();
    const absl::StatusOr<Sent> sent = Send(*mesh, *sidecar, row.call);
    if (!sent.ok()) {
      ADD_FAILURE() << sent.status();
      continue;
    }
    SCOPED_TRACE(Told(sent->outcome));
    EXPECT_EQ(sent->outcome.Summary(), row.end);
    for (const std::string& fact : row.facts) CheckFact(sent->outcome, fact);
  }
}

// A table that is not found, or a row that is taken for a comment, would pass unnoticed.
TEST(CallTables, AreAllThere) {
  size_t rows = 0;
  for (const std::string& name : AllTables()) {
    const Table table = ReadTable(name);
    EXPECT_FALSE(table.rows.empty()) << name;
    rows += table.rows.size();
  }
  EXPECT_GE(rows, 200u);
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  return ReplaceAll(info.param, "-", "_");
}

INSTANTIATE_TEST_SUITE_P(Tables, CallTable, testing::ValuesIn(AllTables()), NameOf);

}  // namespace
}  // namespace fairlead::simulation
