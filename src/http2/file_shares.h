#ifndef FAIRLEAD_HTTP2_FILE_SHARES_H_
#define FAIRLEAD_HTTP2_FILE_SHARES_H_

#include <cstddef>

namespace fairlead::http2 {

// Raises the soft limit of the process's open files to the hard one, as every connection is one; the limit
// from then on, SIZE_MAX where there is none.
size_t RaiseFileLimit();

// The most connections of each of a process's servers, so that none takes what the others need.
struct FileShares {
  size_t streams = 0;     // gRPC, all listeners
  size_t http = 0;        // probes and polls over REST
  size_t monitoring = 0;  // metrics
  size_t control = 0;     // ControlZ
};

// `http_wish`: what --httpAddr has use for. The rest of the limit, 256 files or a quarter where there are
// few, is for folders, certificates and whatever else is read.
FileShares ShareFiles(size_t limit, size_t http_wish);

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_FILE_SHARES_H_
