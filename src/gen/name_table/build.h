#ifndef FAIRLEAD_GEN_NAME_TABLE_BUILD_H_
#define FAIRLEAD_GEN_NAME_TABLE_BUILD_H_

#include "gen/name_table/inputs.h"

namespace istio::networking::nds::v1 {
class NameTable;
}

namespace fairlead::gen {

// The host names of a proxy's services with the answers of its agent's DNS server. The answers are a
// service's own addresses, or else its ready endpoints. If its pods have names, each name has an answer.
// Pure. Source: Istio's dns/server BuildNameTable.
void BuildNameTable(const NameTableInputs& inputs, istio::networking::nds::v1::NameTable* out);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAME_TABLE_BUILD_H_
