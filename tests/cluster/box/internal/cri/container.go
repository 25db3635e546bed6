package cri

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"fairlead.dev/tests/cluster/internal/box"
)

type container struct {
	id      string
	pod     *sandbox
	config  *runtimeapi.ContainerConfig
	image   *Image
	created int64
	dir     string
	process box.Process
	log     *logFile
	streams *fanOut // for attach

	mu       sync.Mutex
	pid      int
	started  int64
	finished int64
	exitCode int
	reason   string
	stdin    io.WriteCloser
	tty      *os.File
	done     chan struct{} // closed at the end
}

func (c *container) state() runtimeapi.ContainerState {
	switch {
	case c.finished != 0:
		return runtimeapi.ContainerState_CONTAINER_EXITED
	case c.started != 0:
		return runtimeapi.ContainerState_CONTAINER_RUNNING
	}
	return runtimeapi.ContainerState_CONTAINER_CREATED
}

func (s *server) containersOf(pod string) (out []*container) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.containers {
		if c.pod.id == pod {
			out = append(out, c)
		}
	}
	return out
}

func (s *server) CreateContainer(_ context.Context, r *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	p, err := s.sandbox(r.PodSandboxId)
	if err != nil {
		return nil, err
	}
	asked := r.Config.GetImage().GetUserSpecifiedImage()
	if asked == "" {
		asked = r.Config.GetImage().GetImage()
	}
	im, err := find(s.cfg.Images, r.Config.GetImage().GetImage())
	if err == nil && im == nil {
		im, err = find(s.cfg.Images, asked)
	}
	if err != nil || im == nil {
		return nil, status.Errorf(codes.NotFound, "image %s: %v", asked, err)
	}
	c := &container{id: newID(), pod: p, config: r.Config, image: im, created: now(), done: make(chan struct{}), streams: &fanOut{}}
	c.dir = filepath.Join(s.cfg.Dir, "containers", c.id)
	for _, d := range []string{"upper", "work", "root"} {
		if err := os.MkdirAll(filepath.Join(c.dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	if c.process, err = process(c); err != nil {
		return nil, err
	}
	if r.Config.LogPath != "" {
		c.log = &logFile{path: filepath.Join(p.config.LogDirectory, r.Config.LogPath)}
	}
	s.mu.Lock()
	s.containers[c.id] = c
	s.mu.Unlock()
	return &runtimeapi.CreateContainerResponse{ContainerId: c.id}, nil
}

func (s *server) StartContainer(_ context.Context, r *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	c, err := s.container(r.ContainerId)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started != 0 || c.finished != 0 {
		return nil, status.Errorf(codes.FailedPrecondition, "container %s was started before", c.id)
	}
	if err := s.start(c); err != nil {
		c.started, c.finished, c.exitCode, c.reason = now(), now(), 128, "StartError"
		close(c.done)
		if c.log != nil {
			c.log.close()
		}
		return nil, err
	}
	return &runtimeapi.StartContainerResponse{}, nil
}

func (s *server) StopContainer(_ context.Context, r *runtimeapi.StopContainerRequest) (*runtimeapi.StopContainerResponse, error) {
	if c, err := s.container(r.ContainerId); err == nil {
		c.stop(time.Duration(r.Timeout) * time.Second)
	}
	return &runtimeapi.StopContainerResponse{}, nil
}

func (s *server) RemoveContainer(_ context.Context, r *runtimeapi.RemoveContainerRequest) (*runtimeapi.RemoveContainerResponse, error) {
	if c, err := s.container(r.ContainerId); err == nil {
		s.remove(c)
	}
	return &runtimeapi.RemoveContainerResponse{}, nil
}

func (s *server) remove(c *container) {
	c.stop(0)
	s.mu.Lock()
	delete(s.containers, c.id)
	s.mu.Unlock()
	os.RemoveAll(c.dir)
}

func (s *server) ListContainers(_ context.Context, r *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	f := r.GetFilter()
	out := &runtimeapi.ListContainersResponse{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.containers {
		c.mu.Lock()
		st := c.state()
		c.mu.Unlock()
		if !idMatches(c.id, f.GetId()) || (f.GetPodSandboxId() != "" && f.GetPodSandboxId() != c.pod.id) ||
			(f.GetState() != nil && f.GetState().State != st) || !matches(c.config.Labels, f.GetLabelSelector()) {
			continue
		}
		out.Containers = append(out.Containers, &runtimeapi.Container{
			Id: c.id, PodSandboxId: c.pod.id, Metadata: c.config.Metadata, Image: c.config.Image,
			ImageRef: c.image.name, ImageId: c.image.name, State: st, CreatedAt: c.created,
			Labels: c.config.Labels, Annotations: c.config.Annotations,
		})
	}
	return out, nil
}

func (s *server) ContainerStatus(_ context.Context, r *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	c, err := s.container(r.ContainerId)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	st := &runtimeapi.ContainerStatus{
		Id: c.id, Metadata: c.config.Metadata, State: c.state(), CreatedAt: c.created, StartedAt: c.started,
		FinishedAt: c.finished, ExitCode: int32(c.exitCode), Image: c.config.Image, ImageRef: c.image.name,
		ImageId: c.image.name, Reason: c.reason, Labels: c.config.Labels, Annotations: c.config.Annotations,
		Mounts: c.config.Mounts,
		User: &runtimeapi.ContainerUser{Linux: &runtimeapi.LinuxContainerUser{
			Uid: int64(c.process.UID), Gid: int64(c.process.GID), SupplementalGroups: int64s(c.process.Groups),
		}},
	}
	if c.log != nil {
		st.LogPath = c.log.path
	}
	return &runtimeapi.ContainerStatusResponse{Status: st}, nil
}

func int64s(in []int) (out []int64) {
	for _, v := range in {
		out = append(out, int64(v))
	}
	return out
}

func (s *server) ReopenContainerLog(_ context.Context, r *runtimeapi.ReopenContainerLogRequest) (*runtimeapi.ReopenContainerLogResponse, error) {
	c, err := s.container(r.ContainerId)
	if err != nil {
		return nil, err
	}
	if c.log != nil {
		if err := c.log.open(); err != nil {
			return nil, err
		}
	}
	return &runtimeapi.ReopenContainerLogResponse{}, nil
}

func (s *server) ContainerStats(_ context.Context, r *runtimeapi.ContainerStatsRequest) (*runtimeapi.ContainerStatsResponse, error) {
	c, err := s.container(r.ContainerId)
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ContainerStatsResponse{Stats: stats(c)}, nil
}

func (s *server) ListContainerStats(_ context.Context, r *runtimeapi.ListContainerStatsRequest) (*runtimeapi.ListContainerStatsResponse, error) {
	out := &runtimeapi.ListContainerStatsResponse{}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := r.GetFilter()
	for _, c := range s.containers {
		if idMatches(c.id, f.GetId()) && (f.GetPodSandboxId() == "" || f.GetPodSandboxId() == c.pod.id) && matches(c.config.Labels, f.GetLabelSelector()) {
			out.Stats = append(out.Stats, stats(c))
		}
	}
	return out, nil
}

// stats are empty: there is no cgroup to count in.
func stats(c *container) *runtimeapi.ContainerStats {
	return &runtimeapi.ContainerStats{Attributes: &runtimeapi.ContainerAttributes{
		Id: c.id, Metadata: c.config.Metadata, Labels: c.config.Labels, Annotations: c.config.Annotations,
	}}
}
