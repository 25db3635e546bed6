#ifndef FAIRLEAD_PROTO_LIBRARY_LOG_H_
#define FAIRLEAD_PROTO_LIBRARY_LOG_H_

namespace fairlead::proto {

// From now on libprotobuf says what it has to say in our log, scope "protobuf", at a rate: otherwise it
// writes lines of its own to standard error, set off by whatever clients send. To be called at the start,
// before other threads.
void LogWhatTheLibrarySays();

}  // namespace fairlead::proto

#endif  // FAIRLEAD_PROTO_LIBRARY_LOG_H_
