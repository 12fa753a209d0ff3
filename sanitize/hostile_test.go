package sanitize_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
)

// An encoder writes a password as programs do. Quoted ones can say where it ends, and
// must never leak. In the others some signs end the value, or there is no telling where
// it does: without lists those that no password there can hold, and loses says why up to
// one in a hundred may still leak.
type encoder struct {
	name    string
	write   func(password string) string
	without string
	loses   string
}

// nasty is what passwords are made of: signs that mean something somewhere.
const nasty = `abcXYZ0189 @:/#?%&=+;,.!$*()[]{}<>'"\|~^_-` + "`" + "é密"

const (
	wordEnds   = "a blank ends it, as it must: the rest of the line is other settings, or prose"
	nextName   = "what reads like the next setting (,abc=) ends it"
	nextURL    = "what reads like the next URL (://) begins one"
	structEnds = "what reads like the next field ( a:) or like the end of the struct (} ) ends it"
)

var encoders = []encoder{
	// quoted
	{name: "JSON", write: func(p string) string { return `{"user":"bob","password":` + jsonText(p) + `,"host":"db1"}` }},
	{name: "JSON, spaced", write: func(p string) string { return `{ "api_key" : ` + jsonText(p) + " , \"n\" : 1 }" }},
	{name: "JSON, list", write: func(p string) string { return `{"passwords":[` + jsonText(p) + `,` + jsonText(p) + `],"n":1}` }},
	{name: "JSON, in a string", write: func(p string) string { return `{"body":` + jsonText(`{"password":`+jsonText(p)+`,"n":1}`) + `}` }},
	{name: "JSON, in a string in a string", write: func(p string) string {
		return `{"a":` + jsonText(`{"b":`+jsonText(`{"secret":`+jsonText(p)+`}`)+`}`) + `,"n":1}`
	}},
	{name: "JSON, truncated", write: func(p string) string { return "near " + strings.TrimSuffix(`{"n":1,"password":`+jsonText(p), `"`) }},
	{name: "JSON, name and value", write: func(p string) string {
		return `[{"name":"DB_PASSWORD","value":` + jsonText(p) + `},{"name":"HOST","value":"db1"}]`
	}},
	{name: "JSON, header list", write: func(p string) string { return `{"headers":{"Authorization":[` + jsonText("Bearer "+p) + `]}}` }},
	{name: "Go %q", write: func(p string) string { return "password=" + strconv.Quote(p) + " host=db1" }},
	{name: "Go %#v", write: func(p string) string { return fmt.Sprintf("cfg %#v", struct{ Host, Password string }{"db1", p}) }},
	{name: "Go %#v map", write: func(p string) string { return fmt.Sprintf("cfg %#v", map[string]string{"host": "db1", "token": p}) }},
	{name: "Go %#v header", write: func(p string) string { return fmt.Sprintf("%#v", http.Header{"X-Api-Key": {p}}) }},
	{name: "logfmt", write: func(p string) string { return "level=error secret=" + strconv.Quote(p) + " msg=failed" }},
	{name: "Python dict", write: func(p string) string { return "{'user': 'bob', 'password': " + pythonText(p) + "}" }},
	{name: "Python bytes", write: func(p string) string { return "{'password': b" + pythonText(p) + ", 'n': 1}" }},
	{name: "Python call", write: func(p string) string { return "connect(host='db1', password=" + pythonText(p) + ", port=1)" }},
	{name: "Python tuple", write: func(p string) string {
		return "[('Authorization', " + pythonText("Bearer "+p) + "), ('Accept', '*/*')]"
	}},
	{name: "Python list of arguments", write: func(p string) string { return "['tool', '--token', " + pythonText("a"+p) + ", '--host', 'db1']" }},
	{name: "Go list of arguments", write: func(p string) string {
		return fmt.Sprintf("exec: %q: exit 1", []string{"tool", "--password", "a" + p, "--host"})
	}},
	{name: "YAML, quoted", write: func(p string) string { return "host: db1\npassword: " + jsonText(p) + "\nport: 1" }},
	{name: "YAML, single quotes", write: func(p string) string {
		return "host: db1\npassword: '" + strings.ReplaceAll(p, "'", "''") + "'\nport: 1"
	}, without: `\`},
	{name: "XML element", write: func(p string) string { return "<db><user>bob</user><password>" + xmlText(p) + "</password></db>" }},
	{name: "XML attribute", write: func(p string) string { return `<db host="db1" password="` + xmlText(p) + `" port="5"/>` }},
	{name: "XML entry", write: func(p string) string { return `<entry key="password">` + xmlText(p) + `</entry>` }},
	{name: "XML key and value", write: func(p string) string { return `<add key="ApiKey" value="` + xmlText(p) + `" />` }},
	{name: "CDATA", write: func(p string) string { return "<token><![CDATA[" + p + "]]></token><h>db1</h>" }},
	{name: "SQL", write: func(p string) string {
		return "CREATE ROLE app PASSWORD '" + strings.ReplaceAll(p, "'", "''") + "' CREATEDB"
	}, without: `\`},
	{name: "SQL, identified by", write: func(p string) string {
		return "CREATE USER bob IDENTIFIED BY '" + strings.ReplaceAll(p, "'", "''") + "'; x"
	}, without: `\`},
	{name: "libpq, quoted", write: func(p string) string {
		return "host=db1 password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p) + "' dbname=x"
	}},
	{name: "ADO.NET, quoted", write: func(p string) string {
		return `Server=db1;Password="` + strings.ReplaceAll(p, `"`, `""`) + `";Encrypt=true`
	}, without: `\`},
	{name: "ODBC", write: func(p string) string {
		return `Driver={SQL};Uid=sa;Pwd={` + strings.ReplaceAll(p, "}", "}}") + "};Server=db1"
	}, without: "\""},
	{name: "JAAS", write: func(p string) string { return `required username="app" password=` + strconv.Quote(p) + `;` }},
	{name: "command line, quoted", write: func(p string) string { return "tool --password " + strconv.Quote(p) + " --host db1" }},
	{name: "curl -u, quoted", write: func(p string) string { return "curl -u " + strconv.Quote("bob:"+p) + " https://h/x" }},
	{name: "curl -H", write: func(p string) string { return `curl -H "Authorization: Bearer ` + p + `" https://h/x` }, without: "\"\\ "},
	{name: "URL, escaped", write: func(p string) string {
		return "dial " + (&url.URL{Scheme: "postgres", User: url.UserPassword("u", p), Host: "db1"}).String()
	}},
	{name: "query, escaped", write: func(p string) string { return "GET https://h/p?a=b&token=" + url.QueryEscape(p) + "&page=2: 403" }},
	{name: "form", write: func(p string) string { return url.Values{"password": {p}, "user": {"bob"}}.Encode() }},
	{name: "URL in a query", write: func(p string) string {
		return "?next=" + url.QueryEscape("https://h/?token="+url.QueryEscape(p)+"&n=1")
	}},
	// unquoted
	{name: "key=value", write: func(p string) string { return "login password=" + p + " user=bob" }, without: " ", loses: nextName},
	{name: "key = value", write: func(p string) string { return "login password = " + p + " host = db1" }, without: " ", loses: nextName},
	{name: "environment", write: func(p string) string { return "DB_PASSWORD=" + p + "\nHOST=db1" }, without: " ", loses: nextName},
	{name: "list with commas", write: func(p string) string { return "user=bob,password=" + p + ",host=db1" }, without: " ,", loses: nextName},
	{name: "ADO.NET", write: func(p string) string { return "Server=db1;Password=" + p + ";Encrypt=true" }, without: " ;", loses: nextName},
	{name: "JDBC", write: func(p string) string { return "jdbc:postgresql://db:5432/x?user=app&password=" + p + "&ssl=true" }, without: " &#", loses: nextName},
	{name: "struct", write: func(p string) string {
		return fmt.Sprintf("cfg %+v", struct{ Host, Password, User string }{"db1", p, "bob"})
	}, loses: structEnds},
	{name: "struct, last", write: func(p string) string { return fmt.Sprintf("cfg %+v", &struct{ Host, Password string }{"db1", p}) }, loses: structEnds},
	{name: "map", write: func(p string) string {
		return fmt.Sprint("cfg ", map[string]string{"host": "db1", "password": p, "user": "bob"})
	}, loses: structEnds},
	{name: "http.Header", write: func(p string) string {
		return fmt.Sprint("got ", http.Header{"Accept": {"*/*"}, "Authorization": {"Bearer " + p}, "Via": {"p"}})
	}, loses: structEnds},
	{name: "url.Values", write: func(p string) string { return fmt.Sprint("form ", url.Values{"password": {p}, "user": {"bob"}}) }, loses: structEnds},
	{name: "URL", write: func(p string) string { return "dial postgres://app:" + p + "@db.internal:5432/x failed" }, without: " ", loses: nextURL},
	{name: "URL that does not parse", write: func(p string) string {
		text := "postgres://app:" + p + "@db.internal:5432/x"
		if _, err := url.Parse(text); err != nil {
			return err.Error()
		}
		return text
	}, without: " ", loses: nextURL},
	{name: "mysql", write: func(p string) string { return "connect root:" + p + "@tcp(db:3306)/x" }, without: " "},
	{name: "header", write: func(p string) string { return "GET / HTTP/1.1\r\nAuthorization: Bearer " + p + "\r\nHost: h" }, loses: "a blank and a bracket begin a remark"},
	{name: "header of a key", write: func(p string) string { return "X-Api-Key: " + p + "\r\nHost: h" }, loses: "a blank and a bracket begin a remark"},
	{name: "cookie", write: func(p string) string { return "Cookie: theme=dark; sid=" + p + "\r\nHost: h" }, loses: "a blank and a bracket begin a remark"},
	{name: "YAML", write: func(p string) string { return "host: db1\npassword: a" + p + "\nport: 1" }, without: "#:", loses: "what complains is prose"},
	{name: "properties", write: func(p string) string { return "db.password=" + p + "\ndb.host=db1" }, without: " ", loses: nextName},
	{name: "command line", write: func(p string) string { return "tool --password a" + p + " --host db1: exit 1" }, without: " ", loses: nextName},
	{name: "SQL, identified by, a name's quotes", write: func(p string) string {
		return "ALTER USER bob IDENTIFIED BY \"" + strings.ReplaceAll(p, "\"", "\"\"") + "\" ACCOUNT UNLOCK"
	}, without: `\`},
	{name: "SQL, set password", write: func(p string) string {
		return "SET PASSWORD FOR bob = '" + strings.ReplaceAll(p, "'", "''") + "'; x"
	}, without: `\`},
}

func jsonText(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

// pythonText is what repr prints.
func pythonText(text string) string {
	text = strings.ReplaceAll(text, `\`, `\\`)
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `\'`) + "'"
}

// passwords is how many of them each encoder gets.
func passwords() int {
	if nightly {
		return 20_000
	}
	return 300
}

// randomPassword has a mark at either end, by which what is left of it is known.
func randomPassword(r *rand.Rand, without string) string {
	alphabet := []rune(nasty)
	var b strings.Builder
	b.WriteString("F4K")
	for range 6 + r.IntN(12) {
		if c := alphabet[r.IntN(len(alphabet))]; !strings.ContainsRune(without, c) {
			b.WriteRune(c)
		}
	}
	b.WriteString("7ZQ")
	return b.String()
}

// leaks says whether a mark of a password is left.
func leaks(text string) bool { return strings.Contains(text, "F4K") || strings.Contains(text, "7ZQ") }

func TestHostilePasswords(t *testing.T) {
	require.GreaterOrEqual(t, len(encoders), 38)
	for i, e := range encoders {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(i)))
			n, bad, example := passwords(), 0, ""
			for range n {
				text := e.write(randomPassword(r, e.without))
				got := sanitize.String(text)
				if leaks(got) {
					bad++
					example = fmt.Sprintf("%q\n%q", text, got)
				}
			}
			allowed := 0
			if e.loses != "" {
				allowed = max(n/100, 3)
			}
			if bad > allowed {
				t.Errorf("%d of %d leak, such as\n%s", bad, n, example)
			} else if bad > 0 {
				t.Logf("%d of %d leak: %s, such as\n%s", bad, n, e.loses, example)
			}
		})
	}
}
