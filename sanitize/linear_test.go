package sanitize_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
)

// units are texts that, repeated, make a scanner look for something again and again.
func units() []string {
	heads := []string{"token", "password", "://", "x://u", "--token", "<token", "'token'", `"token"`, `\"token\"`, "Authorization", "cookie",
		"-----BEGIN PRIVATE KEY", "name=token", "{Token", "[token", "u:p", "PASSWORD '", "IDENTIFIED BY \"", "SET PASSWORD FOR a = '", "eyJa", "bearer ", "%3A%2F%2F", "&quot;token&quot;", "sk-", "key",
		"connection_string", "\ntoken", "a", "é", "\xff", "-u b", "parse \"x://h",
		`"name":"token","a":"b"`, "<name>token</name>", "secrets:\n- ", "u/p@//", `:\/\/u`, `u:"p`, "'token: '", "mysql -p", "[--token", "token: {{"}
	tails := []string{"", ":", ": ", "=", "= ", ":[", ":{", "='", `="`, `:\"`, "@", "@h", "/", "://", ">", "</", ">a</", " ", "\n", "\t", ": |\n ", ",", ";a=",
		"&b=", "***", "***@", ".", "-", "_", "-----", "%40", "%3D", "&quot;", "(", "a:1 ", "]", "}", "\\", `\n`, "0", "<![CDATA[", ": x://"}
	var all []string
	for _, head := range heads {
		for _, tail := range tails {
			all = append(all, head+tail)
		}
	}
	return all
}

// The work grows with the length of the text: a byte of a long text takes about as
// long as one of a short text, whatever the text is made of.
func TestLinear(t *testing.T) {
	small, large, step := 2<<10, 32<<10, 13
	if nightly {
		small, large, step = 16<<10, 512<<10, 1
	}
	all := units()
	require.GreaterOrEqual(t, len(all), 1000)
	for i := 0; i < len(all); i += step {
		for _, last := range []string{"", "@h.c:1", "}]\"'>"} {
			short := strings.Repeat(all[i], small/len(all[i])+1)[:small] + last
			long := strings.Repeat(all[i], large/len(all[i])+1)[:large] + last
			var report string
			slow := true
			for try := 1; slow && try <= 6; try++ {
				a := float64(best(short, 3*try)) / float64(len(short))
				b := float64(best(long, 2*try)) / float64(len(long))
				slow = b > 4*a && b > 2 // ns per byte: what is fast at any length is within measuring
				report = fmt.Sprintf("%.1f ns per byte, then %.1f", a, b)
			}
			if slow {
				t.Errorf("%q, %q: %s", all[i], last, report)
			}
		}
	}
}

// best is how long it takes at best. Other programs on the machine only ever add to it,
// up to many times what it is: a median would be theirs as much as ours.
func best(text string, runs int) time.Duration {
	least := time.Hour
	for range runs {
		began := time.Now()
		_ = sanitize.String(text)
		least = min(least, time.Since(began))
	}
	return least
}
