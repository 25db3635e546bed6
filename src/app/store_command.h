#ifndef FAIRLEAD_APP_STORE_COMMAND_H_
#define FAIRLEAD_APP_STORE_COMMAND_H_

#include <string>
#include <vector>

namespace fairlead::app {

// Commands on the objects of a mesh in etcd, as `discovery --configSource` reads them. Exit status: 0; 1
// where objects have mistakes, are not there, or have changed meanwhile, and where etcd does not answer; 2
// for a wrong call.

// `fairlead apply -f FILE…`: checks objects and writes all of them or none.
int RunApply(const std::vector<std::string>& arguments);
// `fairlead get KIND [NAME]`: prints objects as they are written, with their revisions.
int RunGet(const std::vector<std::string>& arguments);
// `fairlead edit KIND NAME`: opens an object in an editor, and writes what is saved where it has no mistakes.
int RunEdit(const std::vector<std::string>& arguments);
// `fairlead delete KIND NAME`, or of all objects of files.
int RunDelete(const std::vector<std::string>& arguments);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_STORE_COMMAND_H_
