#ifndef FAIRLEAD_MODEL_DURATION_TEXTS_H_
#define FAIRLEAD_MODEL_DURATION_TEXTS_H_

namespace google::protobuf {
class Descriptor;
class Struct;
}  // namespace google::protobuf

namespace fairlead::model {

// Rewrites the durations of a message that is written as JSON from Go's form ("10ms", "1m30s") to that of
// proto3's JSON mapping ("0.010s"), the messages inside of it too. All else stays, texts that are no duration
// included. Source: Istio's node metadata, which is read by golang/protobuf's jsonpb.
void RewriteGoDurations(const google::protobuf::Descriptor& type, google::protobuf::Struct* message);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_DURATION_TEXTS_H_
