#ifndef FAIRLEAD_RPC_BOUNDED_STREAM_H_
#define FAIRLEAD_RPC_BOUNDED_STREAM_H_

#include <httplib.h>

#include <chrono>
#include <string>

namespace fairlead::rpc {

struct RequestLimits {
  size_t head = 64 << 10;  // bytes of the request line and the headers together
  size_t whole = 5 << 20;  // bytes of a request, its body included
  std::chrono::milliseconds patience = std::chrono::seconds(20);  // for all of it to arrive
};

// A connection that carries one request. Reading fails once the request is larger than the limits or takes
// longer, and ends the request with it: the library itself bounds neither lines, nor how many there are, nor
// how slowly they come. For one thread; does not own the socket.
class BoundedStream : public httplib::Stream {
 public:
  BoundedStream(int socket, const RequestLimits& limits);

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* out, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  int socket() const override { return socket_; }

 private:
  bool Wait(short events, std::chrono::milliseconds time) const;
  bool Fill();
  bool IsWithinLimits(char next);

  const int socket_;
  const RequestLimits limits_;
  const std::chrono::steady_clock::time_point until_;
  char buffer_[4096];
  size_t at_ = 0, filled_ = 0;  // of buffer_
  size_t taken_ = 0;            // bytes that were read
  int newlines_ = 0;            // at the end of what was read, as long as the head lasts
  bool in_head_ = true;
};

}  // namespace fairlead::rpc

#endif  // FAIRLEAD_RPC_BOUNDED_STREAM_H_
