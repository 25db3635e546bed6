#ifndef FAIRLEAD_VALIDATE_VERDICT_OUTPUT_H_
#define FAIRLEAD_VALIDATE_VERDICT_OUTPUT_H_

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "validate/verdict.h"

// How verdicts are written down.
namespace fairlead::validate {

// "text", "json", "github", "sarif".
const std::vector<std::string>& OutputFormats();

// REQUIRES: one of OutputFormats().
//   text    a line each: "a.yaml:14: error: Gateway edge/bad: spec.servers[0].port.number: …"
//   json    an array with an element an object (docs/operation.md)
//   github  annotations of a workflow run (docs.github.com, "Workflow commands for GitHub Actions")
//   sarif   a log of version 2.1.0 (OASIS, Static Analysis Results Interchange Format)
void Write(const std::vector<Verdict>& verdicts, std::string_view format, std::ostream& out);

struct Totals {
  size_t objects = 0, errors = 0, warnings = 0, notes = 0;
};
Totals Count(const std::vector<Verdict>& verdicts);
// "12 objects in 3 files: 1 error, 2 warnings".
std::string Summary(const Totals& totals, size_t files);

}  // namespace fairlead::validate

#endif  // FAIRLEAD_VALIDATE_VERDICT_OUTPUT_H_
