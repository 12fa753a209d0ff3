package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func (t timing) sorted() []time.Duration { return slices.Sorted(slices.Values(t.times)) }

func (t timing) median() time.Duration {
	times := t.sorted()
	return (times[(len(times)-1)/2] + times[len(times)/2]) / 2
}

func (t timing) least() time.Duration { return t.sorted()[0] }
func (t timing) most() time.Duration  { return t.sorted()[len(t.times)-1] }

type measurement struct {
	dir string // the module with the interfaces
	bin string // the generators
}

// all measures the rows. The generators take turns, so that a machine that is slow for a while is slow for both.
func (m *measurement) all(rows []row, rounds int) ([]verdict, error) {
	verdicts := make([]verdict, len(rows))
	for round := range rounds + 1 { // the first one warms the build cache
		for i, r := range rows {
			v := &verdicts[i]
			v.row, v.ours.name, v.theirs.name = r, r.ours[0], r.theirs[0]
			for _, one := range []struct {
				args []string
				to   *timing
			}{{r.ours, &v.ours}, {r.theirs, &v.theirs}} {
				took, err := m.timed(one.args, r.removable, "")
				if err != nil {
					return nil, err
				}
				if round > 0 {
					one.to.times = append(one.to.times, took)
				}
			}
		}
	}
	return verdicts, nil
}

// cold measures one row, each generator once and with an empty build cache: ours as it is, and with -source.
func (m *measurement) cold(r row) ([]timing, error) {
	var all []timing
	for _, args := range [][]string{r.ours, slices.Insert(slices.Clone(r.ours), 1, "-source"), r.theirs} {
		cache, err := os.MkdirTemp(m.dir, ".cache")
		if err != nil {
			return nil, err
		}
		took, err := m.timed(args, r.removable, cache)
		if err != nil {
			return nil, err
		}
		name := args[0]
		if slices.Contains(args, "-source") {
			name += " -source"
		}
		all = append(all, timing{name, []time.Duration{took}})
	}
	return all, nil
}

// timed runs a generator, whose outputs of before are gone, and checks that it wrote some.
func (m *measurement) timed(args []string, removable, cache string) (time.Duration, error) {
	pattern := filepath.Join(m.dir, filepath.FromSlash(removable))
	outputs, err := filepath.Glob(pattern)
	if err != nil {
		return 0, err
	}
	for _, path := range outputs {
		if err := os.Remove(path); err != nil {
			return 0, err
		}
	}
	c := command(m.dir, filepath.Join(m.bin, args[0]), args[1:]...)
	if cache != "" {
		c.Env = append(c.Env, "GOCACHE="+cache)
	}
	began := time.Now()
	_, err = output(c)
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	if outputs, err = filepath.Glob(pattern); err != nil {
		return 0, err
	}
	if len(outputs) == 0 {
		return 0, fmt.Errorf("%s wrote nothing", strings.Join(args, " "))
	}
	return took, nil
}

func command(dir, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	return c
}

func output(c *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(c.Args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}
