//go:build nightly

package sanitize_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
)

// literalModules are popular modules, whose texts speak of secrets and hold none. They
// must be in the module cache, at least twenty of them.
var literalModules = []string{
	"github.com/aws/aws-sdk-go-v2", "github.com/go-sql-driver/mysql", "github.com/redis/go-redis/v9", "github.com/sirupsen/logrus",
	"github.com/spf13/cobra", "github.com/spf13/viper", "github.com/gin-gonic/gin", "github.com/stretchr/testify",
	"go.uber.org/zap", "google.golang.org/grpc", "google.golang.org/protobuf", "golang.org/x/net", "golang.org/x/tools",
	"golang.org/x/crypto", "golang.org/x/oauth2", "gorm.io/gorm", "go.mongodb.org/mongo-driver", "go.opentelemetry.io/otel",
	"k8s.io/apimachinery", "k8s.io/client-go", "github.com/prometheus/client_golang", "github.com/nats-io/nats.go",
	"github.com/segmentio/kafka-go", "github.com/jackc/pgx/v5", "github.com/golang-jwt/jwt/v5", "github.com/hashicorp/go-multierror",
}

// What Go programs have for texts must stay: less than one string literal in ten
// thousand changes, and those that do are known, in testdata/literals.txt, each with
// its reason.
func TestLiteralsStay(t *testing.T) {
	known := knownLiterals(t)
	total, changed := 0, 0
	modules := 0
	count := func(dir string) {
		literals(t, dir, func(file, text string) {
			total++
			got := sanitize.String(text)
			if got == text {
				return
			}
			changed++
			if !known[strconv.Quote(text)] {
				t.Errorf("%s:\n%q\n%q", file, text, got)
			}
		})
	}
	count(filepath.Join(goEnv(t, "GOROOT"), "src"))
	for _, module := range literalModules {
		dirs, err := filepath.Glob(filepath.Join(goEnv(t, "GOMODCACHE"), escapedPath(module)+"@v*"))
		require.NoError(t, err)
		if len(dirs) == 0 {
			continue
		}
		modules++
		count(dirs[len(dirs)-1])
	}
	t.Logf("%d of %d literals changed, of the standard library and %d modules", changed, total, modules)
	assert.GreaterOrEqual(t, modules, 20, "modules in the cache")
	assert.Less(t, changed*10_000, total)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// escapedPath writes a capital as the cache does.
func escapedPath(path string) string {
	var b strings.Builder
	for _, r := range path {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// literals calls f for every string literal in the code, tests apart: those hold secrets
// that are made up.
func literals(t *testing.T, dir string, f func(file, text string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // not Go: a template
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					f(path, text)
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
}

// knownLiterals reads the list: a quoted literal on a line, its reason behind it.
func knownLiterals(t *testing.T) map[string]bool {
	t.Helper()
	data, err := os.ReadFile("testdata/literals.txt")
	require.NoError(t, err)
	known := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		literal, reason, found := strings.Cut(strings.TrimSpace(line), "\t")
		if !strings.HasPrefix(line, "#") {
			require.True(t, found && reason != "", "%s: want a reason", line)
			known[literal] = true
		}
	}
	return known
}
