#ifndef FAIRLEAD_TESTS_UPDATES_UPDATE_CASE_H_
#define FAIRLEAD_TESTS_UPDATES_UPDATE_CASE_H_

#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace fairlead::updates {

// One object, or one setting, that comes, changes and goes while proxies are connected. A file of sections,
// each under a line "== TITLE":
//   there                          manifests that are there from the start, besides mesh.yaml
//   mesh config                    MeshConfig from the start
//   create, change                 manifests; deleted in the end is all that `change` holds
//   create mesh config, …          or MeshConfig; in the end it is again as it was
//   create mesh networks, …        or MeshNetworks
//   sent                           what is sent: "create", "change" and "delete", each followed by a line for
//                                  each response, "  client: CDS ~name", in ConnectedProxy's notation. A
//                                  proxy without a line is sent nothing.
struct UpdateCase {
  std::string name;
  std::string file;
  std::string comment;  // what stands before the first section
  std::vector<std::pair<std::string, std::string>> sections;

  // "" where there is none.
  std::string Section(const std::string& title) const;
};
inline void PrintTo(const UpdateCase& one, std::ostream* out) { *out << one.file; }

// All cases of a folder, sorted by name.
std::vector<UpdateCase> ReadCases(const std::string& folder);
// Writes the case back with another `sent`.
void Rewrite(const UpdateCase& one, const std::string& sent);

}  // namespace fairlead::updates

#endif  // FAIRLEAD_TESTS_UPDATES_UPDATE_CASE_H_
