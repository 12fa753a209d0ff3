package sanitize_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/sanitize"
)

// R23 and R24 to the letter. Texts beyond the limit are those of Message.
func TestExactOutputs(t *testing.T) {
	for _, row := range rows(t, "exact.tsv") {
		t.Run(row[0], func(t *testing.T) {
			input, want := row[1], row[2]
			if utf8.RuneCountInString(input) > 200 {
				assert.Equal(t, want, sanitize.Message(input))
				return
			}
			assert.Equal(t, want, sanitize.String(input))
			assert.Equal(t, strings.ReplaceAll(want, "\n", " "), sanitize.Message(input))
		})
	}
}

// A90: text that only speaks of secrets must stay readable.
func TestWhatIsNoSecretStays(t *testing.T) {
	for _, row := range cleanRows(t) {
		assert.Equal(t, row, sanitize.String(row))
	}
	for _, text := range []string{
		"API token parameter is required",
		"token bucket empty",
		"password must be set",
		"max_tokens=5",
		"token_endpoint=https://idp.internal/token",
		"refresh token: connection refused",
		"refresh token: 401 Unauthorized",
		"parse token: asn1: structure error",
		"password: ORA-01017: invalid username/password",
		"get secret: https://vault.internal:8200/v1/x: 503",
		"get plan: authorization: access denied",
		`login: "enter password:" not answered`,
		"{Password: Port:5432}",
		"open https://h.internal/files/@scope/pkg@1.2.3 failed",
		"http://proxy:8080/users/bob@example.com",
	} {
		assert.Equal(t, text, sanitize.String(text))
	}
}

func TestURLCredentials(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"at signs", "postgres://app:F4KE@a@b@db.internal:5432/x failed", "postgres://***@db.internal:5432/x failed"},
		{"colons", "amqp://svc:F4KE:a:b@mq.internal:5672/vh: EOF", "amqp://***@mq.internal:5672/vh: EOF"},
		{"slash", "postgres://app:F4KE/a@db.internal:5432/x", "postgres://***@db.internal:5432/x"},
		{"question mark", "mysql://app:F4KE?a@db.internal/x", "mysql://***@db.internal/x"},
		{"at sign, then slash", "postgres://app:F4KE@a/b@db.internal/x", "postgres://***@db.internal/x"},
		{"begins with digits, then slash", "postgres://app:123/F4KE@db.internal/x", "postgres://***@db.internal/x"},
		{"token only", "clone https://F4KEtoken@github.example/org/repo: exit 128", "clone https://***@github.example/org/repo: exit 128"},
		{"no user", "redis://:F4KE@cache/0", "redis://***@cache/0"},
		{"user name only", "ssh://deploy@host/x and ftp://anonymous@host/x", "ssh://deploy@host/x and ftp://anonymous@host/x"},
		{"no host", "parse redis://:F4KE@", "parse redis://***@"},
		{"two", "copy s3://ak:F4KE1@src/b to https://u:F4KE2@dst/b", "copy s3://***@src/b to https://***@dst/b"},
		{"two, joined", "http://a:F4KE1@h1,http://b:F4KE2@h2", "http://***@h1,http://***@h2"},
		{"IPv6", "dial postgres://app:F4KE@[::1]:5432/x", "dial postgres://***@[::1]:5432/x"},
		{"in quotes", `Get "https://u:F4KE@h/?token=F4KE2": EOF`, `Get "https://***@h/?token=***": EOF`},
		{"begins with a slash", "postgres://user:/F4KE@host/db", "postgres://***@host/db"},
		{"begins with a slash, on the web", "https://user:/F4KE@host.com/db", "https://***@host.com/db"},
		{"begins like a port, then slash", "postgres://user:1/F4KE@host/db", "postgres://***@host/db"},
		{"begins like a port, then question mark", "postgres://user:1?F4KE@host/db", "postgres://***@host/db"},
		{"slash, no host", "postgres://user:F4KE/a@/db", "postgres://***@/db"},
		{"slash, no user", "redis://:/F4KE@cache", "redis://***@cache"},
		{"comma, then slash", "mongodb://user:F4KE,a/b@host/db", "mongodb://***@host/db"},
		{"comma, then slash, on the web", "https://user:F4KE,a/b@host/db", "https://***@host/db"},
		{"port and path", "http://host:80/path@x, http://h1:80,h2:80/a@b", "http://host:80/path@x, http://h1:80,h2:80/a@b"},
		{"asterisks inside", "postgres://user:F4KE***F4KE@host", "postgres://***@host"},
		{"asterisks first", "postgres://user:***F4KE@host and x://***F4KE@h", "postgres://***@host and x://***@h"},
		{"asterisks last", "postgres://user:F4KE***@host", "postgres://***@host"},
		{"asterisks after a sign", "postgres://user:F4KE=***F4KE@host", "postgres://***@host"},
		{"hidden by others", "https://u:***@h/p@q.io x://***@h:1/p@q u://u:*****@h/p@q.io", "https://u:***@h/p@q.io x://***@h:1/p@q u://u:*****@h/p@q.io"},
		{"hidden before", "https://user:xxxxx@host/p", "https://user:xxxxx@host/p"},
		{"letters beyond ASCII", "redis://:пароль@кеш/0", "redis://***@кеш/0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, sanitize.String(test.text)) })
	}
}

// R23: every name of the list, in all its spellings.
func TestNames(t *testing.T) {
	for _, name := range []string{
		"api_key", "password", "secret", "credential", "token", "private_key", "connection_string", "access_key",
		"bearer", "session_id", "auth_token", "refresh_token", "client_secret",
	} {
		words := strings.Split(name, "_")
		camel := words[0]
		for _, word := range words[1:] {
			camel += strings.ToUpper(word[:1]) + word[1:]
		}
		for _, spelling := range []string{
			name, strings.ToUpper(name), strings.ReplaceAll(name, "_", "-"), strings.ReplaceAll(name, "_", "."),
			camel, "DB_" + strings.ToUpper(name), "spring.datasource." + name, "vault-" + name,
		} {
			assert.Equal(t, "a "+spelling+"=*** b=c", sanitize.String("a "+spelling+"=F4KE b=c"))
			assert.Equal(t, "a "+spelling+": *** b", sanitize.String("a "+spelling+": F4KE1 b"))
			assert.Equal(t, "{'"+spelling+"': '***', 'b': 1}", sanitize.String("{'"+spelling+"': 'F4KE', 'b': 1}"))
			assert.Equal(t, `{"`+spelling+`": "***", "b": 1}`, sanitize.String(`{"`+spelling+`": 12, "b": 1}`))
		}
	}
}

func TestValues(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"spaced", "password = F4KE host = db1", "password = *** host = db1"},
		{"arrow", `secret => "F4KE", host => "db1"`, `secret => "***", host => "db1"`},
		{"in brackets", "(password=F4KE): denied", "(password=***): denied"},
		{"in a sentence", "login with token=F4KE, then retry", "login with token=***, then retry"},
		{"signs inside", "password=F4KE,a;b&c! user=bob", "password=*** user=bob"},
		{"list", "user=bob,password=F4KE,host=db1", "user=bob,password=***,host=db1"},
		{"index", "password[0]=F4KE", "password[0]=***"},
		{"ends the quote around", `err="auth: password=F4KE" host=db1`, `err="auth: password=***" host=db1`},
		{"with its scheme", "auth_token=Bearer F4KE user=bob", "auth_token=*** user=bob"},
		{"escaped quote", `password="F4KE\"a b" host=db1`, `password="***" host=db1`},
		{"escaped quote in single ones", `{'password': 'F4KE\'a', 'b': 1}`, `{'password': '***', 'b': 1}`},
		{"doubled quote", `password='F4KE''a' host=db1`, `password='***' host=db1`},
		{"unterminated", `login password="F4KE a b`, `login password="***`},
		{"JSON in JSON", `{"b":"{\"token\":\"F4KE\\\"a\",\"n\":1}"}`, `{"b":"{\"token\":\"***\",\"n\":1}"}`},
		{"JSON cut off in JSON", `{"b":"{\"token\":\"F4KE","n":1}`, `{"b":"{\"token\":\"***","n":1}`},
		{"nothing to hide", `{"password":null,"token":true,"secret":""}`, `{"password":null,"token":true,"secret":""}`},
		{"list in JSON", `{"passwords": ["F4KE", "F4KE"], "n": ["a"]}`, `{"passwords": ["***", "***"], "n": ["a"]}`},
		{"line in a quoted text", `"a\npassword: F4KE1" b`, `"a\npassword: ***" b`},
		{"no escape", `C:\token=F4KE`, `C:\token=***`},
		{"number", "password: 83467219 host: db1", "password: *** host: db1"},
		{"short number", "password: 1234\nhost: db1", "password: ***\nhost: db1"},
		{"long and mixed", "token: AbCdEfGhIjKlMnOpQr", "token: ***"},
		{"printed struct", "cfg {Host:db1 Password:F4KE a b Port:1}", "cfg {Host:db1 Password:*** Port:1}"},
		{"printed map", "map[host:db1 token:F4KE]", "map[host:db1 token:***]"},
		{"element", "<password>F4KE a</password>", "<password>***</password>"},
		{"after a tight sign and a blank", "password= FAKE host=db1", "password= *** host=db1"},
		{"after a tight sign and a blank, with its scheme", "token= Bearer FAKE x", "token= *** x"},
		{"after a tight sign, the next name", "password= token: F1 secret= token = F2", "password= token: *** secret= token = ***"},
		{"after a tight sign, the next pair", "password= user=bob token= token= FAKE", "password= user=bob token= token= ***"},
		{"after a tight sign, nothing", "GET /p?token= failed: token= missing, token= - token= is token= \ntoken= ***", "GET /p?token= failed: token= missing, token= - token= is token= \ntoken= ***"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, sanitize.String(test.text)) })
	}
}

// A connection string is a list of pairs itself, and its own names for a password
// are many.
func TestConnectionStrings(t *testing.T) {
	const azure, sql = "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=F4KE==", "Server=db;Uid=sa;Pass=F4KE"
	for _, value := range []string{azure, sql, "cache:6379,auth=F4KE,ssl=True", "mongodb://h/?a=b&c=F4KE", "F4KE"} {
		for _, form := range []string{"connection_string=% at db1", `err="ConnectionString=%" n=1`, "(DB_CONNECTION_STRING=%): EOF"} {
			assert.Equal(t, strings.Replace(form, "%", "***", 1), sanitize.String(strings.Replace(form, "%", value, 1)))
		}
	}
	for _, value := range []string{azure, sql} {
		assert.Equal(t, "connection_string: *** at db1", sanitize.String("connection_string: "+value+" at db1"))
		assert.Equal(t, "connection_string= *** at db1", sanitize.String("connection_string= "+value+" at db1"))
	}
}

func TestPythonStrings(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"bytes", "{'token': b'F4KE', 'n': 1}", "{'token': b'***', 'n': 1}"},
		{"unicode", "{'token': u'F4KE'}", "{'token': u'***'}"},
		{"two letters", `{"token": Rb"F4KE"}`, `{"token": Rb"***"}`},
		{"begins with a blank", "{'token': b' F4KE'}", "{'token': b'***'}"},
		{"in a repr", `"{\'token\': b\'F4KE\'}"`, `"{\'token\': b\'***\'}"`},
		{"name without quotes", "token=b'F4KE a' token: u'F4KE a'", "token=b'***' token: u'***'"},
		{"list", "{'passwords': [b'F4KE', u'F4KE']}", "{'passwords': [b'***', u'***']}"},
		{"tripled", "{'token': '''F4KE''', 'n': 1}", "{'token': '''***''', 'n': 1}"},
		{"tripled, of lines", `token="""F4KE "a"` + "\n" + `F4KE\"""b""" n=1`, `token="""***""" n=1`},
		{"tripled, with a prefix", `{"token": b"""F4KE"""}`, `{"token": b"""***"""}`},
		{"tripled in a repr", `"{\'token\': \'\'\'F4KE\'\'\'}"`, `"{\'token\': \'\'\'***\'\'\'}"`},
		{"tripled, unterminated", "token='''F4KE a' b", "token='''***"},
		{"on the next line", "{'token':\n 'F4KE', 'n': 1}", "{'token':\n '***', 'n': 1}"},
		{"on the next line, with a prefix", "{'token': \r\n  b'F4KE'}", "{'token': \r\n  b'***'}"},
		{"on the next line, a name", "'token':\n  'password': 'F4KE'", "'token':\n  'password': '***'"},
		{"on the next line, prose", "missing 'token':\nabc1", "missing 'token':\nabc1"},
		{"two lines below", "'token':\n\n'abc'", "'token':\n\n'abc'"},
		{"no prefix", `err="password=b" host=db1`, `err="password=***" host=db1`},
		{"empty", "{'token': b'', 'n': ''''''}", "{'token': b'', 'n': ''''''}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, sanitize.String(test.text)) })
	}
}

func TestHeaders(t *testing.T) {
	tests := []struct{ text, want string }{
		{"401 Authorization: Bearer x y", "401 Authorization: ***"},
		{"AUTHORIZATION: F4KE\r\nHost: h", "AUTHORIZATION: ***\r\nHost: h"},
		{"authorization: Basic RjRL==", "authorization: ***"},
		{"authorization: Custom abcdefgh", "authorization: ***"},
		{"x-api-key: correct horse battery", "x-api-key: ***"},
		{"private_key=-----BEGIN RSA PRIVATE KEY-----\nF4KE\nF4KE\n-----END RSA PRIVATE KEY----- at db1", "private_key=*** at db1"},
		{"private_key: -----BEGIN KEY-----\nF4KE\nF4KE", "private_key: ***"},
		{"Proxy-Authorization: Basic RjRL== (407 from proxy)", "Proxy-Authorization: *** (407 from proxy)"},
		{"Authorization: Digest username=\"bob\", uri=\"/x\", response=\"F4KE\"\nHost: h", "Authorization: ***\nHost: h"},
		{`curl -H "Authorization: Bearer F4KE" https://h/x`, `curl -H "Authorization: ***" https://h/x`},
		{"X-Api-Key: F4KE a\r\nHost: h", "X-Api-Key: ***\r\nHost: h"},
		{`dump "GET /\r\nauthorization: F4KE" failed`, `dump "GET /\r\nauthorization: ***" failed`},
		{"Authorization: Bearer ***", "Authorization: Bearer ***"},
		{"map[Authorization:[Bearer F4KE] Via:[p]]", "map[Authorization:[***] Via:[p]]"},
		{`{"Authorization":["Bearer F4KE"],"Via":["p"]}`, `{"Authorization":["***"],"Via":["p"]}`},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) { assert.Equal(t, test.want, sanitize.String(test.text)) })
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	text := `GET https://h.internal/p?user=bob: dial tcp 10.0.0.1:5432: {"n": 1} token expired, password: incorrect`
	require.Equal(t, text, sanitize.String(text))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = sanitize.String(text)
		_ = sanitize.Message(text)
	}))
}

// Texts that make a scanner look ahead again and again. Work that grew with the
// square of the length would keep this test from ever ending.
func TestLongTexts(t *testing.T) {
	const size = 1 << 14
	for _, unit := range []string{
		"token", "token:", "token: ", "token=", "token:[", "{token:", "{token:a;", "password: [", "://", "://@", "x://a/@b.c",
		"authorization: a b ", "Authorization: (", "token='", `token:\"`, `\`, "<token>", ",token:", "a=,", "]", "token: x://", "token: 1234 ",
		"bearer: Bearer ", "***", ":a>", "://u:***a", "://u:a=***", "token= ", "'token':\n'", "token='''", "\"token\":\n\"token\":", "'token':b", "token=\"\"", "é", "\xff",
	} {
		for _, last := range []string{"", `"`, "]", "}", " a:", "@h.c"} {
			text := strings.Repeat(unit, size/len(unit)) + last
			assert.LessOrEqual(t, len(sanitize.String(text)), 4*len(text))
		}
	}
}
