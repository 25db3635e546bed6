package cluster

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// The fourth version of the protocol of kubectl exec: the error stream carries how the command ended, as a Status.
const execProtocol = "v4.channel.k8s.io"

// serveExec runs the mesh's client in the network of a Pod; no other command is known there.
func (s *Server) serveExec(w http.ResponseWriter, r *http.Request, t *target) {
	network, err := os.ReadFile(filepath.Join(s.folders.Networks, t.namespace+"_"+t.name))
	command := r.URL.Query()["command"]
	if err != nil || len(command) == 0 || command[0] != "client" {
		fail(w, apierrors.NewNotFound(metav1GroupResource(t.resource), t.name))
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{execProtocol}); err != nil {
		return // the handshake has answered
	}
	arrived := make(chan httpstream.Stream, 4)
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, replied <-chan struct{}) error {
		arrived <- stream
		return nil
	})
	if connection == nil {
		return
	}
	defer connection.Close()
	streams := map[string]io.WriteCloser{}
	for len(streams) < 3 {
		select {
		case stream := <-arrived:
			streams[stream.Headers().Get(corev1.StreamType)] = stream
		case <-time.After(10 * time.Second):
			return
		}
	}
	words := append([]string{"netns", "exec", strings.TrimSpace(string(network)), s.folders.Client}, command[1:]...)
	run := exec.CommandContext(r.Context(), "ip", words...)
	run.Stdout, run.Stderr = streams[corev1.StreamTypeStdout], streams[corev1.StreamTypeStderr]
	end(streams[corev1.StreamTypeError], run.Run())
	for _, stream := range streams {
		_ = stream.Close()
	}
}

// end tells how a command ended.
func end(out io.Writer, err error) {
	status := metav1.Status{Status: metav1.StatusSuccess}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		status = metav1.Status{Status: metav1.StatusFailure, Reason: "NonZeroExitCode", Message: err.Error(),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: "1"}}}}
	} else if err != nil {
		status = apierrors.NewInternalError(err).ErrStatus
	}
	_ = json.NewEncoder(out).Encode(status)
}
