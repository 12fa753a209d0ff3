package sanitize_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/sanitize"
)

// More of each kind than the corpus has, so that kinds are right and not rows. All
// secrets hold F4KE.
func TestMoreSecrets(t *testing.T) {
	for _, text := range []string{
		// URLs and DSNs
		"nats://svc:F4KE@n1:4222,n2:4222", "amqps://u:F4KE@mq/%2f", "rediss://default:F4KE@cache:6380/1", "ldap://cn=admin:F4KE@dc:389",
		"mssql://sa:F4KE!x@db/x", "snowflake://u:F4KE@acc/db", "https://oauth2:F4KE@gitlab.internal/x.git", "ftp://u:F4KE@h/f", "sftp://u:F4KE@h",
		"root:F4KE@(db:3306)/x", "app:F4KE@tcp([::1]:3306)/x", "user:F4KE@unix(/tmp/s)/x", "dsn=app:F4KE@udp(h:1)/x", "smtps://a%40b:F4KE@m:465",
		"DRIVER={X};SERVER=h;UID=sa;PWD=F4KE;", "User Id=sa;Password=F4KE;Pooling=false", "AccountName=x;AccountKey=F4KE==;EndpointSuffix=y",
		"jdbc:mysql://h/x?user=u&password=F4KE", "jdbc:oracle:thin:@//h:1521/x?password=F4KE", "host=h password=F4KE sslmode=disable",
		"SharedAccessSignature=F4KE123&se=1", "amqp://u:F4KE@", "postgres://u:F4KE@h1:5432,h2:5432/x", "http+unix://u:F4KE@x/y",
		// names
		"WEBHOOK_SECRET=F4KE", "x.y.client-secret=F4KE", "smtpPassword=F4KE", "ROOT_PASSWD=F4KE", "signingKey=F4KE", "APP_KEY=F4KE", "recovery_code=F4KE",
		"userPass=F4KE", "PHPSESSID=F4KE", "sess_id=F4KE", "master-key=F4KE", "ENCRYPTION_KEY=F4KE", "storageAccountKey=F4KE", "kennwort=F4KE", "senha=F4KE",
		"пароль=F4KE", "密码: F4KE1", "mot_de_passe=F4KE", "db_password_new=F4KE", "PASSWORD1=F4KE", "secretAccessKey=F4KE", "SLACK_BOT_TOKEN=F4KE", "apikeys=[\"F4KE\"]",
		"params[\"password\"]=F4KE", "$password = \"F4KE\"", "password := \"F4KE\"", "password ?= F4KE", "psk=F4KE", "cvv=F4KE",
		// structures
		`{"url":"https:\/\/u:F4KE` + strings.Repeat("x", 400) + `@h"}`, `https:\/\/F4KE` + strings.Repeat("x", 400) + `@h`, // longer than a look back
		`{"db_password":{"sensitive":true,"type":"string","value":"F4KE x"}}`, "{\n  \"api_keys\": {\n    \"sensitive\": true,\n    \"value\": \"F4KE\"\n  }\n}",
		`"{\"token\":{\"value\":\"F4KE\"}}"`, `{"secret":["F4KE","F4KE"]}`, `{"clientSecret": "F4KE"`, `{"key":"API_TOKEN","value":"F4KE"}`, "- name: DB_PASSWORD\n  value: F4KE x\n- name: HOST",
		"<Property Name=\"Password\">F4KE</Property>", "<ns:token xsi:type=\"x\">F4KE</ns:token>", "<key>ApiToken</key>\n<string>F4KE</string>", "[db]\npassword = F4KE\n",
		"map[string]string{\"password\":\"F4KE\"}", "&main.C{Token:\"F4KE\", N:1}", "http.Header{\"Authorization\":[]string{\"Bearer F4KE\"}}", "map[api_key:F4KE x]",
		"{Name:x Credentials:{User:a Password:F4KE b} N:1}", "secrets:\n  token: F4KE1\n", "password: >-\n  F4KE\n  F4KE\nx: y", "dict(password='F4KE')", "f(token=u\"F4KE\")",
		// headers
		"Authorization: ApiKey F4KE", "Proxy-Authorization: Digest username=\"u\", response=\"F4KE\"", "authorization: hmac F4KE", "Set-Cookie: sid=F4KE; Path=/; HttpOnly",
		"X-Auth-Token: F4KE", "PRIVATE-TOKEN: F4KE", "X-Csrf-Token: F4KE x", "X-Shopify-Access-Token: F4KE", "> Authorization: Bearer F4KE", "x-auth-key: F4KE",
		"-H 'X-Api-Key: F4KE'", "--header \"Cookie: sid=F4KE\"", "[[\"Authorization\",\"Bearer F4KE\"]]", "Bearer F4KE0123abcdef rejected", "Basic RjRLRTpGNEtF",
		// queries
		"/cb?code=F4KE0123456789&state=1", "?access_token=F4KE#x", "a?X-Amz-Signature=F4KE0&y=1", "&amp;token=F4KE&amp;x=1", "q?sig=F4KE01", "x%3Ftoken%3DF4KE%26a", "redirect=https%3A%2F%2Fu%3AF4KE%40h",
		// commands
		"tool --token F4KE1 x", "tool -password F4KE1", "sshpass -p F4KE ssh h", "mysqldump -uroot -pF4KE db", "java -Ddb.password=F4KE -jar x", "docker login -p 'F4KE' r",
		"curl -ubob:F4KE https://h", "wget --password=F4KE", "psql \"password=F4KE\"", "openssl -passout pass:F4KE", "vault login --token \"F4KE\"",
		// blocks behind what a logger has put before them
		"E1201 10:00:00 load: password: |\n  F4KE1\n  F4KE2\nhost: db1", "  at x: token: >-\n    F4KE\n  next",
		// SQL
		"ALTER USER x IDENTIFIED BY 'F4KE'", "IDENTIFIED WITH sha256_password AS 'F4KE'", "OPTIONS (user 'u', password 'F4KE')", "create user a password ('F4KE')",
		"ALTER USER x IDENTIFIED BY \"F4KE\"", "identified by \"F4KE x\" account unlock", "SET PASSWORD FOR a = 'F4KE'", "set password for 'a'@'%' = 'F4KE'", "SECRET_KEY 'F4KE'",
		"PRAGMA key='F4KE'", "pragma key = 'F4KE x'",
		// options of commands, joined, glued with quotes, by a letter
		"etcdctl --user=root:F4KE member list", "curl --proxy-user='u:F4KE x' https://h", "mysql -u root -p'F4KE x' db", "mysql -p\"F4KE\" db",
		"redis-cli -h h -a F4KE ping", "sqlcmd -S h -U sa -P F4KE!", "ldapsearch -x -D cn=a -w 'F4KE x' -b dc=x", "ssh-keygen -t rsa -N \"F4KE x\" -f k",
		"keytool -storepass F4KE1 -keypass F4KE1 -list", "run [--token F4KE1 --host x]: exit status 1", "tool /password:F4KE",
		// DSNs without an address, and with two slashes
		"app:F4KE@/shop?charset=utf8", "dsn \"app:F4KE@h@/shop\"", "sqlplus scott/F4KE@//db:1521/orcl", "sqlplus scott/F4KE/x@//db/orcl",
		// slashes that JSON escapes
		`{"url":"redis:\/\/:F4KE@h:6379"}`, `{"url":"https:\/\/u:F4KE@h\/x"}`, `{"a":"amqp:\/\/u:F4KE\/F4KE@mq:5672\/v"}`, `{"body":"<password>F4KE<\/password>"}`,
		// names and values apart
		`{"name":"DB_PASSWORD","type":"string","value":"F4KE"}`, `{"Name":"/prod/db/password","Type":"SecureString","Version":3,"Value":"F4KE"}`,
		`{"ParameterKey":"DBPassword","ParameterValue":"F4KE"}`, `{"SecretString":"F4KE"}`, `{"SecretBinary":"F4KE"}`,
		"<property><name>fs.s3a.secret.key</name><value>F4KE</value></property>", "<name>ConnectionPassword</name>\n  <value>F4KE x</value>",
		"<setting name=\"Password\" serializeAs=\"String\"><value>F4KE</value></setting>",
		"secrets:\n  - F4KE1\n  - F4KE2\nhost: db1", "api_keys:\n- F4KEa1 # old\n- \"F4KEb2\"\n", "[password] => F4KE", "user 'bob' password: 'F4KE'", "api_key=yourF4KE", `{"a":"root:F4KE@/db"}`, `{"dsn":"app:F4KE@tcp(db:3306)/x","n":1}`, `{\"dsn\":\"app:F4KE@db:3306\"}`,
		"UNSEAL_KEY=F4KE", "recovery_key: F4KE1", "PresharedKey = F4KE=", "recovery_codes: [\"F4KE\"]", "otp_seed=F4KE", "password_salt=F4KE", "passwordDigest=F4KE", "dbpw=F4KE",
		"adminpass=F4KE", "auth_header=Bearer F4KE", "authHeader: 'Bearer F4KE'", "auth header: Bearer F4KE123", `["docker","login","-u","bob","-p","F4KE"]`, `["redis-cli", "-a", "F4KE"]`,
		"sh -c \"mysql -uroot -p'F4KE x' db\"", `{"cmd":"mysql -p\"F4KE x\" db"}`,
		"stdClass Object ( [api_key] => F4KE [host] => db1 )",
		"Пароль: F4KE1", "ПАРОЛЬ=F4KE", "?SAMLResponse=F4KE&RelayState=x", "?oauth_verifier=F4KE0123", "X-JFrog-Art-Api: F4KE1", "X-ClickHouse-Key: F4KE1", "x-functions-key: F4KE1",
		"x-rapidapi-key: F4KE1", "https://discord.com/api/v10/webhooks/123456789012345678/F4KE-F4KE_F4KE",
	} {
		got := sanitize.String(text)
		assert.NotContains(t, got, "F4KE", "%q", text)
		assert.NotContains(t, got, "RjRL", "%q", text)
		assert.Equal(t, got, sanitize.String(got))
	}
}

// Tokens by their prefixes, put together here so that nobody's scanner takes them for
// real ones.
func TestMoreTokens(t *testing.T) {
	body := strings.Repeat("F4KEa0b1", 12)
	for _, prefix := range []string{"ghp_", "gho_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-", "sk-", "sk-proj-", "sk-ant-api03-", "sk_live_",
		"rk_live_", "whsec_", "AIza", "ya29.", "GOCSPX-", "SG.", "npm_", "pypi-", "hf_", "hvs.", "dop_v1_", "shpat_", "lin_api_", "gsk_", "PMAK-", "dckr_pat_",
		"tskey-auth-", "NRAK-", "glsa_", "sbp_", "figd_", "ATATT3", "xai-", "pplx-", "r8_", "rubygems_", "pscale_tkn_", "dp.pt.", "sq0atp-", "xkeysib-"} {
		for _, form := range []string{"rejected %", "%", "key \"%\", x", "(%)", "open /srv/%/x", "a=%;", "\\n%"} {
			text := strings.Replace(form, "%", prefix+body, 1)
			assert.NotContains(t, sanitize.String(text), "F4KE", text)
		}
	}
	for _, text := range []string{"AK" + "IAABCDEFGHIJKLMNOP", "AS" + "IA0123456789ABCDEF", "S" + "K0123456789abcdef0123456789abcdef",
		"1234567890:" + "AAF4KEF4KEF4KEF4KEF4KEF4KEF4KEF4KE0", "https://api.telegram.org/bot1234567890:" + "AAF4KEF4KEF4KEF4KEF4KE/sendMessage"} {
		assert.Contains(t, sanitize.String("got "+text+" here"), "***", text)
	}
}

// More of what must stay.
func TestMoreCleanText(t *testing.T) {
	for _, text := range []string{
		"token: invalid", "the token is invalid", "unexpected token: EOF", "secret \"db\" not found", "password: must be set", "passwords do not match",
		"no such key: \"user\"", "cache key=user:42 miss", "key: value", "keys=12", "total_tokens=3", "next_page_token=abc", "num_tokens: 7", "{\"max_tokens\":\"auto\"}",
		`{"tokens":{"prompt":3,"value":4}}`, `{"password":{"min":8,"max":9}}`, `{"password":{}}`, `{"password":{"value":null},"region":{"value":"eu"}}`,
		"auth: failed", "auth=none", "session=12", "session: 5 active", "cookies: 3", "signature: mismatch", "code=404", "pin=cpu0", "id=42", "trace_id=abc123",
		"user@host:22", "scp a user@host:/x", "image repo/app:1.2@sha256:abcdef", "go get example.com/x@v1.2.3", "mailto:a@b.c", "@every 5m: run", "a@b.c:25", "sip:a@b.c:5060 x",
		"https://h/p?q=1&page=2", "https://h/@user", "postgres://h/db", "ssh://git@h/x", "https://h:8080/x", "file:///etc/passwd", "//cdn.internal/x.js",
		"parse \"http://h:port/\": invalid port \":port\" after host", "parse \"%zz\": invalid URL escape \"%zz\"",
		"sk-learn-contrib-pipeline-utilities", "task-0123456789abcdef0123456789", "risk-abcdefghijklmnop1234567", "eyJust a word", "AKIA is a prefix", "ghp_ is one too",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "--- FAIL: TestToken2 (0.00s)", "flag -token: needed", "use --password to set it", "[--token string]", "--token TOKEN",
		"func f(password string) error", "password text NOT NULL", "sorted by \"name\"", "  enter password: |\n  then press enter", "| token: |\n| x |", "SELECT * FROM t WHERE a = 'b'", "IDENTIFIED BY x", "UPDATE t SET a = 'b'", "SELECT password FROM users", "invalid token 'x'", "(\"token\", \"secret\")", "[\"password\", \"host\"]",
		"<password/>", "<token></token>", "<a href=\"x\">token</a>", "passwordless=true", "tokenization: done", "secretName: db-creds", "token_endpoint: https://h/token",
		"Authorization header is missing", "authorization: denied", "Bearer token", "basic usage", "Basic auth is required", "bearer of news",
		"password=<password>", "token=${TOKEN}", "secret={{ .Values.secret }}", "password=$(cat /run/x)", "PASSWORD=", "password:", "password=\"\"", "secret=null",
		"SELECT id FROM t WHERE token = ?", "UPDATE t SET password = $1 WHERE id = $2", "SET password = :password", "WHERE token = @token AND x = @p1", "SET password=@p1, x=@p2",
		"VALUES (%(name)s, %(password)s)", "password = (known after apply)", "password = (sensitive value)", "  + token = (sensitive)", "password=(not set)", "token: (unset)",
		"password=<not set>", "token=expired user=bob", "level=warn token=missing", "{\"token\":\"expired\",\"n\":1}", "password: ${DB_PASSWORD:-}", "PASSWORD: ${PASSWORD:?required}",
		"token: ${{ secrets.API_TOKEN }}", "token=${{ secrets.API_TOKEN }}", "password: {{ .Values.password | quote }}", "password: \"{{ lookup('env', 'PW') }}\"",
		"docker run --user 1000:1000 img", "docker run -u 1000:1000 img", "docker run --user=1000:1000 img", "secrets:\n  - db_password\n  - server-cert", "secrets:\n- name: regcred", "passwords:\n  - at least 8 characters",
		"tokens:\n- IDENT\n- NUMBER", "{\"name\":\"password\",\"type\":\"string\",\"required\":true}", "{\"name\":\"token\",\"in\":\"query\"},{\"name\":\"x\",\"value\":\"y\"}",
		"[password] is required", "docker login x && docker run -p 8080:80 x", "read -sp 'Password: ' PASSWORD", "print('token: ', x)", "api_key=YOUR_API_KEY", "Authorization: Bearer YOUR_TOKEN",
		"password: your-password", "Authorization header: missing", "auth header: got none", "security code: invalid", "salt=abc", "digest=sha256:abc", "key digest: ok", "recovery codes: 10 left",
		`Config{DSN:"db:3306", User:"bob@h:22"}`, `{"a":"x:y","mail":"bob@h.example"}`, "[token] = x", "open /password: denied", "[--token string]", "[--token TOKEN] [--host h]", "<name>token</name><type>string</type>", "mail x/y@h:25", "jdbc:oracle:thin:@dbhost:1521:orcl", "jdbc:oracle:thin:@//h:1521/x", "from:\"@/components/x\"",
		"parse error: unexpected token: 'x1'", "unexpected token: 42", "https:\\/\\/h\\/@user", "{\"u\":\"https:\\/\\/h:8080\\/x@v1\"}",
		"2026-01-02 15:04:05.000 [main] INFO c.x.TokenService - done", "http: TLS handshake error from 10.0.0.1:5432: EOF", "50% done: 3@4", "a:b@c", "x=y@z:w",
	} {
		assert.Equal(t, text, sanitize.String(text))
	}
}
