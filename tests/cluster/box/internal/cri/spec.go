package cri

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"fairlead.dev/tests/cluster/internal/box"
)

// process puts the program together from image and container.
func process(c *container) (box.Process, error) {
	p := box.Process{Dir: c.config.WorkingDir, TTY: c.config.Tty}
	if p.Dir == "" {
		p.Dir = c.image.WorkDir
	}
	switch {
	case len(c.config.Command) > 0:
		p.Args = append(append([]string{}, c.config.Command...), c.config.Args...)
	case len(c.config.Args) > 0:
		p.Args = append(append([]string{}, c.image.entrypoint()...), c.config.Args...)
	default:
		p.Args = append(append([]string{}, c.image.entrypoint()...), c.image.Cmd...)
	}

	env := map[string]string{
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME": "/", "HOSTNAME": c.pod.config.GetHostname(),
	}
	if c.config.Tty {
		env["TERM"] = "xterm"
	}
	for k, v := range c.image.Env {
		env[k] = v
	}
	for _, e := range c.config.Envs {
		env[e.Key] = e.Value
	}
	for k, v := range env {
		p.Env = append(p.Env, k+"="+v)
	}
	sort.Strings(p.Env)

	sc := c.config.GetLinux().GetSecurityContext()
	p.UID, p.GID = c.image.ids()
	if sc.GetRunAsUsername() != "" {
		return p, fmt.Errorf("users by name (%q) are not supported: give a number", sc.RunAsUsername)
	}
	if sc.GetRunAsUser() != nil {
		p.UID = int(sc.RunAsUser.Value)
		p.GID = 0
	}
	if sc.GetRunAsGroup() != nil {
		p.GID = int(sc.RunAsGroup.Value)
	}
	p.Groups = []int{p.GID}
	for _, g := range sc.GetSupplementalGroups() {
		p.Groups = append(p.Groups, int(g))
	}
	p.NoNewPrivs = sc.GetNoNewPrivs()
	if sc.GetPrivileged() {
		p.Caps = box.AllCaps()
	} else {
		p.Caps = box.CapSet(sc.GetCapabilities().GetAddCapabilities(), sc.GetCapabilities().GetDropCapabilities())
	}
	return p, nil
}

// spec puts the container's files together.
func (s *server) spec(c *container) box.Spec {
	sc := c.config.GetLinux().GetSecurityContext()
	sp := box.Spec{
		NetNS: c.pod.netns, Hostname: c.pod.config.GetHostname(),
		Rootfs: filepath.Join(c.dir, "root"), Upper: filepath.Join(c.dir, "upper"), Work: filepath.Join(c.dir, "work"),
		ReadOnly: sc.GetReadonlyRootfs(), Privileged: sc.GetPrivileged(), Process: c.process,
	}
	// Files of the host are bound from its real root, so that what is built anew
	// there is seen by the next start.
	host := func(p string) string { return filepath.Join(s.cfg.Root, p) }
	if c.image.isDir {
		sp.Lower = append(sp.Lower, host(c.image.Path))
	} else if c.image.Path != "" {
		sp.Mounts = append(sp.Mounts, box.Mount{Source: host(c.image.Path), Target: "/" + filepath.Base(c.image.Path), ReadOnly: true})
	}
	if !c.image.isDir || !c.image.Whole {
		sp.Lower = append(sp.Lower, s.cfg.Root)
	}
	for to, from := range c.image.Files {
		sp.Mounts = append(sp.Mounts, box.Mount{Source: host(from), Target: to, ReadOnly: true})
	}
	own := map[string]bool{}
	for _, m := range c.config.Mounts {
		own[filepath.Clean(m.ContainerPath)] = true
	}
	for _, n := range []string{"resolv.conf", "hostname"} {
		if !own["/etc/"+n] {
			sp.Mounts = append(sp.Mounts, box.Mount{Source: filepath.Join(c.pod.dir, n), Target: "/etc/" + n})
		}
	}
	// A mount point inside another mount must come after it.
	mounts := append([]*runtimeapi.Mount{}, c.config.Mounts...)
	sort.SliceStable(mounts, func(i, j int) bool {
		return strings.Count(filepath.Clean(mounts[i].ContainerPath), "/") < strings.Count(filepath.Clean(mounts[j].ContainerPath), "/")
	})
	for _, m := range mounts {
		sp.Mounts = append(sp.Mounts, box.Mount{Source: m.HostPath, Target: m.ContainerPath, ReadOnly: m.Readonly, Recursive: !m.Readonly})
	}
	return sp
}
