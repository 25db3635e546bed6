#ifndef FAIRLEAD_SERVER_ANSWERING_METHOD_H_
#define FAIRLEAD_SERVER_ANSWERING_METHOD_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "server/grpc_server.h"

namespace fairlead::server {

enum class Calls { kUnary, kStreaming };

// Answers one message; a status ends the call.
using Answer =
    std::function<absl::StatusOr<std::string>(const std::string& message, const std::string& peer)>;

// A method that answers each message with one: one a call, or as many as the client sends. `answer` is called
// on the executor's threads, one message of a call at a time; the executor must outlive the server.
GrpcMethod AnsweringMethod(std::string path, Calls calls, Answer answer, Executor* executor);

}  // namespace fairlead::server

#endif  // FAIRLEAD_SERVER_ANSWERING_METHOD_H_
