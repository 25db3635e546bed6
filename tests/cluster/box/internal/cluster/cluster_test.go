package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

func TestADirectoryThatIsNoClustersIsLeftAlone(t *testing.T) {
	c := Cluster{Dir: t.TempDir()}
	file := filepath.Join(c.Dir, "run", "precious")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.emptyDirs(); err == nil {
		t.Error("it is taken for a cluster's")
	}
	if err := c.Down(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestADirectoryOfAClusterIsEmptied(t *testing.T) {
	c := Cluster{Dir: filepath.Join(t.TempDir(), "new")}
	if err := c.emptyDirs(); err != nil {
		t.Fatal(err)
	}
	old := c.path("log", "old.log")
	if err := os.WriteFile(old, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.emptyDirs(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("an earlier cluster's log is still there")
	}
}

func TestDownRemovesWhatACrashedClusterLeft(t *testing.T) {
	c := Cluster{Dir: t.TempDir()}
	if err := c.emptyDirs(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.path("pid"), []byte("999999999 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.Down(); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"pid", "run"} {
		if _, err := os.Stat(c.path(left)); err == nil {
			t.Errorf("%s is still there", left)
		}
	}
}
