#ifndef FAIRLEAD_GEN_NAME_TABLE_BUILD_H_
#define FAIRLEAD_GEN_NAME_TABLE_BUILD_H_

#include "gen/name_table/inputs.h"

namespace istio::networking::nds::v1 {
class NameTable;
}

namespace fairlead::gen {

// The host names of a proxy's services and the addresses that its agent's DNS server answers with: a
// service's own addresses; the ready endpoints of a service without one, and, where its pods have names, each
// of these. Pure. Source: Istio's dns/server BuildNameTable.
void BuildNameTable(const NameTableInputs& inputs, istio::networking::nds::v1::NameTable* out);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAME_TABLE_BUILD_H_
