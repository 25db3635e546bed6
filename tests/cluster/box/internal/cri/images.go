package cri

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"sigs.k8s.io/yaml"
)

// Image is one line of the image table: what stands in for a container image.
type Image struct {
	// Path is a directory, laid over the host's root as the image's files; or
	// one file, which appears as /<its name> and is the default entry point.
	Path string `json:"path"`
	// Whole says that the directory is all of the root: nothing of the host lies below.
	Whole bool `json:"whole"`
	// Files are more files or directories: place in the container -> on the host.
	Files      map[string]string `json:"files"`
	Entrypoint []string          `json:"entrypoint"`
	Cmd        []string          `json:"cmd"`
	Env        map[string]string `json:"env"`
	User       string            `json:"user"` // a number, or "uid:gid"
	WorkDir    string            `json:"workdir"`

	name  string
	isDir bool
}

// Builtin are images that need no line in the table.
var Builtin = map[string]*Image{}

// table reads the image table. It is read anew for each question, so that images
// may be added while the cluster runs. Relative paths are relative to the file.
func table(file string) (map[string]*Image, error) {
	images := map[string]*Image{}
	var data []byte
	if file != "" {
		var err error
		if data, err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	if err := yaml.UnmarshalStrict(data, &images); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	abs := func(p string) string {
		if p == "" || filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(filepath.Dir(file), p)
	}
	out := map[string]*Image{}
	for name, im := range Builtin {
		own := *im
		own.name = name
		out[normal(name)] = &own
	}
	for name, im := range images {
		if im == nil {
			im = &Image{}
		}
		im.name = name
		im.Path = abs(im.Path)
		for k, v := range im.Files {
			im.Files[k] = abs(v)
		}
		out[normal(name)] = im
	}
	return out, nil
}

// normal brings an image's name to one form: no Docker defaults, no digest.
func normal(name string) string {
	name, _, _ = strings.Cut(name, "@")
	name = strings.TrimPrefix(name, "docker.io/")
	name = strings.TrimPrefix(name, "library/")
	return strings.TrimSuffix(name, ":latest")
}

func untagged(name string) string {
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		return name[:i]
	}
	return name
}

// find returns the image for a name: with that tag, or else any tag. It is nil
// if the table lacks it or its files are missing (err says which).
func find(file, name string) (*Image, error) {
	images, err := table(file)
	if err != nil {
		return nil, err
	}
	im := images[normal(name)]
	if im == nil {
		im = images[untagged(normal(name))]
	}
	if im == nil {
		return nil, nil
	}
	if im.Path != "" {
		info, err := os.Stat(im.Path)
		if err != nil {
			return nil, err
		}
		im.isDir = info.IsDir()
	}
	return im, nil
}

func (im *Image) entrypoint() []string {
	if len(im.Entrypoint) == 0 && im.Path != "" && !im.isDir {
		return []string{"/" + filepath.Base(im.Path)}
	}
	return im.Entrypoint
}

// ids gives the image's user; it is root if the table says nothing.
func (im *Image) ids() (uid, gid int) {
	u, g, _ := strings.Cut(im.User, ":")
	uid, _ = strconv.Atoi(u)
	gid = uid
	if g != "" {
		gid, _ = strconv.Atoi(g)
	}
	return uid, gid
}

func (im *Image) proto(asked string) *runtimeapi.Image {
	out := &runtimeapi.Image{Id: im.name, RepoTags: []string{asked}, Size: 1}
	if uid, _ := im.ids(); im.User != "" {
		out.Uid = &runtimeapi.Int64Value{Value: int64(uid)}
	} else {
		out.Uid = &runtimeapi.Int64Value{}
	}
	return out
}

// PrintImages lists the table with what is missing.
func PrintImages(w io.Writer, file string) error {
	images, err := table(file)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(images))
	for n := range images {
		names = append(names, n)
	}
	sort.Strings(names)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "IMAGE\tSTATE\tPATH\tENTRYPOINT")
	for _, n := range names {
		im, state := images[n], "ok"
		if _, err := find(file, n); err != nil {
			state = "missing"
		}
		for _, p := range im.Files {
			if _, err := os.Stat(p); err != nil {
				state = "missing " + p
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", n, state, im.Path, strings.Join(im.entrypoint(), " "))
	}
	return tw.Flush()
}

type imageService struct {
	runtimeapi.UnimplementedImageServiceServer
	file string
	dir  string
}

func (s *imageService) ListImages(context.Context, *runtimeapi.ListImagesRequest) (*runtimeapi.ListImagesResponse, error) {
	images, err := table(s.file)
	if err != nil {
		return nil, err
	}
	out := &runtimeapi.ListImagesResponse{}
	for name, im := range images {
		out.Images = append(out.Images, im.proto(name))
	}
	return out, nil
}

func (s *imageService) ImageStatus(_ context.Context, r *runtimeapi.ImageStatusRequest) (*runtimeapi.ImageStatusResponse, error) {
	im, err := find(s.file, r.Image.GetImage())
	if err != nil || im == nil {
		return &runtimeapi.ImageStatusResponse{}, nil // not there: kubelet then pulls, and learns why
	}
	return &runtimeapi.ImageStatusResponse{Image: im.proto(r.Image.Image)}, nil
}

func (s *imageService) PullImage(_ context.Context, r *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	im, err := find(s.file, r.Image.GetImage())
	if err != nil {
		return nil, status.Errorf(codes.NotFound, "image %s: %v", r.Image.GetImage(), err)
	}
	if im == nil {
		return nil, status.Errorf(codes.NotFound, "image %s is not in %s", r.Image.GetImage(), s.file)
	}
	return &runtimeapi.PullImageResponse{ImageRef: im.name}, nil
}

func (s *imageService) RemoveImage(context.Context, *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	return &runtimeapi.RemoveImageResponse{}, nil
}

func (s *imageService) ImageFsInfo(context.Context, *runtimeapi.ImageFsInfoRequest) (*runtimeapi.ImageFsInfoResponse, error) {
	fs := []*runtimeapi.FilesystemUsage{{
		Timestamp:  now(),
		FsId:       &runtimeapi.FilesystemIdentifier{Mountpoint: s.dir},
		UsedBytes:  &runtimeapi.UInt64Value{},
		InodesUsed: &runtimeapi.UInt64Value{},
	}}
	return &runtimeapi.ImageFsInfoResponse{ImageFilesystems: fs, ContainerFilesystems: fs}, nil
}
