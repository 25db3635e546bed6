package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/tests/cluster/internal/cri"
	"fairlead.dev/tests/cluster/internal/lb"
)

// ready is the last line that the node tells Up.
const ready = "ready"

// Node is process 1 of the cluster's namespaces. It never returns while all is well.
func (c *Cluster) Node() error {
	for _, fd := range []int{progressFD, listenerFD, starterFD} {
		unix.CloseOnExec(fd) // the node's own children do not get them
	}
	progress := os.NewFile(progressFD, "progress")
	tell := func(format string, a ...any) {
		line := fmt.Sprintf(format, a...)
		fmt.Fprintln(progress, line)
		fmt.Fprintln(os.Stderr, time.Now().Format("15:04:05.000"), line)
	}
	ended := make(chan error, 8)
	if c.Attended {
		starter := os.NewFile(starterFD, "starter")
		go func() {
			io.Copy(io.Discard, starter) //nolint:errcheck // its end is what counts
			ended <- fmt.Errorf("the program that started the cluster has ended")
		}()
	}
	go func() {
		if err := c.boot(tell, ended); err != nil {
			ended <- err
			return
		}
		c.booted.Store(true)
		tell(ready)
		progress.Close()
	}()
	err := <-ended
	tell("failed: %v", err)
	return err
}

// boot brings the node up, in the order of what needs what.
func (c *Cluster) boot(tell func(string, ...any), ended chan<- error) error {
	if err := c.buildRoot(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(nodeName)); err != nil {
		return err
	}
	if err := buildNetwork(); err != nil {
		return err
	}
	if err := c.linkPrograms(); err != nil {
		return err
	}
	if err := c.writePKI(); err != nil {
		return err
	}
	if err := c.writeConfigs(); err != nil {
		return err
	}
	tell("files, network and keys are made")

	start := func(p program) error { return c.start(p, ended) }
	if err := start(c.etcd()); err != nil {
		return err
	}
	if err := start(c.apiserver()); err != nil {
		return err
	}
	if c.API != "" {
		if err := publish(os.NewFile(listenerFD, "listener")); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.inside())
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 50, 100
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := until("the apiserver", time.Minute, func(ctx context.Context) error {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}); err != nil {
		return err
	}
	tell("the apiserver is ready")

	cri.Builtin[coreDNSImage] = &cri.Image{Path: c.coredns()}
	cri.Builtin[shellImage] = &cri.Image{Entrypoint: []string{"/bin/sleep", "infinity"}}
	if err := cri.Serve(cri.Config{
		Socket: c.run("cri.sock"), Images: c.Images, Dir: c.run("cri"), Root: hostRoot,
		Bridge: bridge, Gateway: podGateway, NodeIP: nodeIP, Hostname: nodeName,
	}); err != nil {
		return err
	}
	for _, p := range []program{c.controllerManager(), c.scheduler(), c.kubelet(), c.proxy()} {
		if err := start(p); err != nil {
			return err
		}
	}
	if err := lb.Start(client, lbNet); err != nil {
		return err
	}
	if err := until("the add-ons", time.Minute, func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, c.kube(), "kubectl", "--kubeconfig", c.inside(), "apply", "--server-side", "--force-conflicts", "--validate=false", "-f", c.path("conf", "addons.yaml"))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := until("the node", 2*time.Minute, func(ctx context.Context) error { return nodeReady(ctx, client) }); err != nil {
		return err
	}
	tell("the node is ready")
	return until("the cluster's DNS", 2*time.Minute, func(ctx context.Context) error {
		d, err := client.AppsV1().Deployments("kube-system").Get(ctx, "coredns", metav1.GetOptions{})
		if err == nil && d.Status.ReadyReplicas == 0 {
			err = fmt.Errorf("not ready")
		}
		return err
	})
}

func nodeReady(ctx context.Context, client kubernetes.Interface) error {
	n, err := client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, cond := range n.Status.Conditions {
		if cond.Type == corev1.NodeReady && cond.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("not ready")
}

// until tries until there is no error.
func until(what string, limit time.Duration, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// linkPrograms gives each Kubernetes program its name, for people's use.
func (c *Cluster) linkPrograms() error {
	if err := os.MkdirAll(c.path("bin"), 0o755); err != nil {
		return err
	}
	for _, p := range []string{"kubectl"} {
		os.Remove(c.path("bin", p))
		if err := os.Symlink(c.kube(), c.path("bin", p)); err != nil {
			return err
		}
	}
	return nil
}
