package sanitize_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed42274fcc/stoic/sanitize"
)

// FuzzString checks what holds for any text. Besides, a secret in each form of
// R23 must be gone, whatever stands on the lines around it; quotes before it are
// taken out, since they could turn the form itself inside out.
func FuzzString(f *testing.F) {
	const value = "F4KEs3cr3tF4KE"
	forms := []string{
		"x://user:" + value + "@host/p",
		"password=" + value,
		"DB_API_KEY: " + value,
		"clientSecret=\"" + value + "\"",
		"Authorization: Bearer " + value,
		"x-api-key: " + value,
		"{'token': '" + value + "'}",
		`{"session_id": "` + value + `", "n": 1}`,
		"&access_key=" + value + "&n=1",
		"x://user:/" + value + "@host/p",
		"x://user:1?" + value + "***" + value + "@host/p",
		"{'token':\n b'" + value + "'}",
		"{'token': '''" + value + "'''}",
		"password= " + value,
		"connection_string=Server=db;Uid=sa;Pass=" + value,
	}
	for _, row := range rows(f, "exact.tsv") {
		f.Add(row[1])
	}
	for _, row := range rows(f, "corpus.tsv") {
		f.Add(row[2])
	}
	for _, text := range []string{
		"token:[[token: password: [", "}{token:['authorization: {token:", "{token:};>{token:};,token=",
		"authorization: authorization: ]Bearer ", `\"password\": \"a\\\"b`, "password=\xff\xfe", "x://@:@/@://@",
		"{0ApikeY\":000A\"0", "://\xfcl:5/?@\xcb_=T@", "Token: okemarshToken:x", "token:Bearer next token:[:<",
		"\"token\":\u2026tokentoken:\\)*]", "<token>token:<token></", "x://,token:[}</]]@***", "{token:F4KE1token: &token:[{{\"token\":]",
		"://=@token=)***{<@",
		"x://u:a?token=\"b c\"@h", "{x://token:a b,n:1@h}", "x://u:1/token=***@h", "token= token= a", "'token':\n'token':'a", "token='''a\\'''",
		"connection_string=a;b=\"c d\",e=f", "x://u:***a@h:1/b=***@c", "token= b'", "token:[\"0\" \"0", "://[token]='a b'@c", "'token':\r\n\tbR'''",
	} {
		f.Add(text)
	}
	unquote := strings.NewReplacer(`"`, "", "'", "", "`", "")

	f.Fuzz(func(t *testing.T, text string) {
		once := sanitize.String(text)
		if again := sanitize.String(once); again != once {
			t.Fatalf("not stable:\n%q\n%q\n%q", text, once, again)
		}
		message := sanitize.Message(text)
		if n := utf8.RuneCountInString(message); n > 203 {
			t.Fatalf("message of %d characters", n)
		}
		if strings.ContainsAny(message, "\r\n\t") {
			t.Fatalf("more than one line: %q", message)
		}
		if !utf8.ValidString(message) || utf8.ValidString(text) && !utf8.ValidString(once) {
			t.Fatalf("a rune was cut: %q", once)
		}
		for _, form := range forms {
			around := unquote.Replace(text) + "\n" + form + "\n" + text
			if got := sanitize.String(around); strings.Contains(got, value) {
				t.Fatalf("%q survives in %q", form, got)
			}
		}
	})
}
