package gen_test

import (
	"bytes"
	"flag"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/seed42274fcc/stoic/gen"
	"github.com/seed42274fcc/stoic/internal/testmodule"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// A scenario is one file of testdata. Its comment says what it shows, in lines of
// prose, and what is expected, in lines "key: value":
//
//	flags: -strict        as the command takes them; besides -dir DIR to run in, and
//	                      -work to use the go.work
//	refused: text         a problem that begins with the text; nothing is written
//	note: text            a note that begins with the text
//
// A text begins with its place: file:line:column, the file as seen from the scenario.
//
// Files named want/… are golden. Scenarios without flags and without a go.mod of their
// own are packages of one module, so that one run of the go command serves all.
type scenario struct {
	name    string
	file    string
	archive *txtar.Archive
	flags   []string
	refused []string
	notes   []string
	alone   bool
}

func scenarios(t *testing.T) []*scenario {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all []*scenario
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		s := &scenario{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive}
		for line := range strings.Lines(string(archive.Comment)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "flags":
				s.flags, s.alone = strings.Fields(value), true
			case "refused":
				s.refused = append(s.refused, value)
			case "note":
				s.notes = append(s.notes, value)
			}
		}
		for _, f := range archive.Files {
			s.alone = s.alone || f.Name == "go.mod"
		}
		all = append(all, s)
	}
	return all
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, content, 0o666))
}

// crlf changes line endings.
func crlf(source []byte) []byte { return bytes.ReplaceAll(source, []byte("\n"), []byte("\r\n")) }

// gofmt formats what can be.
func gofmt(source []byte) []byte {
	if formatted, err := format.Source(source); err == nil {
		return formatted
	}
	return source
}

func asItIs(source []byte) []byte { return source }

// sources writes the files of a scenario, those of Go with the change.
func (s *scenario) sources(t *testing.T, dir string, change func(source []byte) []byte) {
	t.Helper()
	for _, f := range s.archive.Files {
		if strings.HasPrefix(f.Name, "want/") {
			continue
		}
		data := f.Data
		if strings.HasSuffix(f.Name, ".go") {
			data = change(data)
		}
		if f.Name == "go.mod" || strings.HasSuffix(f.Name, "/go.mod") {
			data = bytes.ReplaceAll(data, []byte("$ROOT"), []byte(testmodule.Root()))
			write(t, filepath.Join(dir, f.Name), data)
			require.NoError(t, testmodule.WriteSum(filepath.Join(dir, filepath.Dir(f.Name))))
			continue
		}
		write(t, filepath.Join(dir, f.Name), data)
	}
}

// behaves reports whether there are tests among the files. To run them takes longer than
// all else about a scenario with a module of its own.
func (s *scenario) behaves() bool {
	return slices.ContainsFunc(s.archive.Files, func(f txtar.File) bool { return path.Base(f.Name) == "behave_test.go" })
}

func (s *scenario) want() map[string]string {
	want := map[string]string{}
	for _, f := range s.archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
			want[name] = string(f.Data)
		}
	}
	return want
}

// golden compares what was made with what is wanted, or takes it over with -update.
func (s *scenario) golden(t *testing.T, got map[string]string) {
	t.Helper()
	if !*update {
		assert.Equal(t, s.want(), got, s.name)
		return
	}
	s.archive.Files = slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want/") })
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s.archive.Files = append(s.archive.Files, txtar.File{Name: "want/" + name, Data: []byte(got[name])})
	}
	require.NoError(t, os.WriteFile(s.file, txtar.Format(s.archive), 0o666))
}

// messages checks that each expected message is there, in its place, and no other.
func messages(t *testing.T, name string, want []string, got []gen.Problem) {
	t.Helper()
	var texts []string
	for _, p := range got {
		texts = append(texts, strings.TrimPrefix(p.Error(), name+"/"))
	}
	if !assert.Len(t, texts, len(want), "%s: %s", name, strings.Join(texts, "\n")) {
		return
	}
	for _, text := range want {
		assert.Regexp(t, `^[^ :]+\.go:[0-9]+(:[0-9]+)?: `, text, name)
		assert.True(t, slices.ContainsFunc(texts, func(got string) bool { return strings.HasPrefix(got, text) }),
			"%s: wanted %q, got\n%s", name, text, strings.Join(texts, "\n"))
	}
}

func run(t *testing.T, config gen.Config) *gen.Result {
	t.Helper()
	if config.Env == nil {
		config.Env = testmodule.Environment()
	}
	result, err := gen.Run(&config)
	require.NoError(t, err)
	return result
}

// made are the files of a result below a folder, by their paths from there.
func made(t *testing.T, dir string, files []gen.File) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, f := range files {
		if name, err := filepath.Rel(dir, f.Path); err == nil && !strings.HasPrefix(name, "..") {
			found[filepath.ToSlash(name)] = string(f.Content)
		}
	}
	return found
}

func command(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v\n%s", args, out)
}

// TestGolden runs all scenarios that can share one module: it compares what is written,
// writes it, and then again nothing is to be written; gofmt has nothing to say, go vet
// neither, and the behaviour tests among the files pass. With CRLF in every source (H57),
// or after gofmt, which moves directives, the output is the same.
func TestGolden(t *testing.T) {
	dir, windows, tidy := t.TempDir(), t.TempDir(), t.TempDir()
	for _, module := range []string{dir, windows, tidy} {
		require.NoError(t, testmodule.Write(module, "example.com/cases"))
	}
	var wrapped, refused []*scenario
	var right, wrong []string
	for _, s := range scenarios(t) {
		if s.alone {
			continue
		}
		s.sources(t, filepath.Join(dir, s.name), asItIs)
		if len(s.refused) > 0 {
			refused, wrong = append(refused, s), append(wrong, "./"+s.name+"/...")
			continue
		}
		s.sources(t, filepath.Join(windows, s.name), crlf)
		s.sources(t, filepath.Join(tidy, s.name), gofmt)
		wrapped, right = append(wrapped, s), append(right, "./"+s.name+"/...")
	}

	result := run(t, gen.Config{Dir: dir, Patterns: wrong})
	assert.Empty(t, result.Files, "nothing is written when something is refused")
	for _, s := range refused {
		messages(t, s.name, s.refused, below(s.name, result.Problems))
		messages(t, s.name, s.notes, slices.DeleteFunc(below(s.name, result.Notes), s.ofOthers))
	}

	result = run(t, gen.Config{Dir: dir, Patterns: right})
	messages(t, "all", nil, result.Problems)
	for _, s := range wrapped {
		s.golden(t, made(t, filepath.Join(dir, s.name), result.Files))
		messages(t, s.name, s.notes, slices.DeleteFunc(below(s.name, result.Notes), s.ofOthers))
	}
	for _, f := range result.Files {
		formatted, err := format.Source(f.Content)
		require.NoError(t, err, f.Path)
		assert.Equal(t, string(formatted), string(f.Content), "gofmt changes %s", f.Path)
		require.NoError(t, f.Write())
	}
	t.Run("again", func(t *testing.T) {
		for _, f := range run(t, gen.Config{Dir: dir, Patterns: right}).Files {
			assert.Empty(t, f.Diff())
		}
	})
	for name, changed := range map[string]string{"CRLF": windows, "gofmt": tidy} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, made(t, dir, result.Files), made(t, changed, run(t, gen.Config{Dir: changed, Patterns: right}).Files))
		})
	}
	t.Run("from source", func(t *testing.T) {
		for _, f := range run(t, gen.Config{Dir: dir, Patterns: right, Source: true}).Files {
			assert.Empty(t, f.Diff())
		}
	})
	t.Run("compiles", func(t *testing.T) {
		command(t, dir, testmodule.Environment(), append([]string{"go", "vet"}, right...)...)
	})
	t.Run("behaves", func(t *testing.T) {
		command(t, dir, testmodule.Environment(), append([]string{"go", "test"}, right...)...)
	})
}

func below(name string, all []gen.Problem) []gen.Problem {
	var found []gen.Problem
	for _, p := range all {
		if strings.HasPrefix(p.Pos.Filename, name+"/") {
			found = append(found, p)
		}
	}
	return found
}

// ofOthers reports whether a note is about another scenario's interface too: they are in
// one module, and have services of the same name.
func (s *scenario) ofOthers(note gen.Problem) bool {
	_, named, other := strings.Cut(note.What, "example.com/cases/")
	return other && !strings.HasPrefix(named, s.name+"/") && !strings.HasPrefix(named, s.name+".")
}

// TestAlone runs the scenarios that have flags or modules of their own.
func TestAlone(t *testing.T) {
	for _, s := range scenarios(t) {
		if !s.alone {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, testmodule.Write(dir, "example.com/cases/"+s.name))
			s.sources(t, dir, asItIs)
			config := gen.Config{Dir: dir}
			flags := flag.NewFlagSet(s.name, flag.ContinueOnError)
			flags.StringVar(&config.Tags, "tags", "", "")
			flags.StringVar(&config.Out, "out", "", "")
			flags.BoolVar(&config.Strict, "strict", false, "")
			flags.BoolVar(&config.Source, "source", false, "")
			flags.BoolVar(&config.Tests, "tests", false, "")
			sub := flags.String("dir", "", "")
			work := flags.Bool("work", false, "")
			require.NoError(t, flags.Parse(s.flags))
			config.Dir = filepath.Join(dir, *sub)
			config.Patterns = flags.Args()
			config.Env = testmodule.Environment()
			if *work {
				config.Env = append(config.Env, "GOWORK="+filepath.Join(dir, "go.work"), "GOFLAGS=")
			}
			result := run(t, config)
			messages(t, s.name, s.refused, result.Problems)
			messages(t, s.name, s.notes, result.Notes)
			s.golden(t, made(t, dir, result.Files))
			if len(s.refused) > 0 {
				return
			}
			for _, f := range result.Files {
				require.NoError(t, f.Write())
			}
			for _, f := range run(t, config).Files {
				assert.Empty(t, f.Diff())
			}
			command(t, config.Dir, config.Env, "go", "vet", "-tags="+config.Tags, "./...")
			if s.behaves() {
				command(t, config.Dir, config.Env, "go", "test", "-tags="+config.Tags, "./...")
			}
		})
	}
}
