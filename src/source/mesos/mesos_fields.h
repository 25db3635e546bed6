#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_FIELDS_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_FIELDS_H_

#include "config/read/json_fields.h"

namespace fairlead::source {

// What is read of an event; resources, limits and commands are most of one, and are not.
const config::JsonFields& MesosEventFields();

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_FIELDS_H_
