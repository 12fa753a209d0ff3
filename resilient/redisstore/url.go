package redisstore

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// address is the URL of a Redis, in the form that go-redis reads.
type address struct {
	kind deployment
	url  string
}

// deployment is how the servers belong together.
type deployment uint8

const (
	single deployment = iota
	cluster
	sentinels
)

// schemes are the ones that name the deployment, with what go-redis calls them.
var schemes = map[string]struct {
	kind   deployment
	scheme string
	port   string
}{
	"redis-cluster":   {cluster, "redis", "6379"},
	"rediss-cluster":  {cluster, "rediss", "6379"},
	"redis-sentinel":  {sentinels, "redis", "26379"},
	"rediss-sentinel": {sentinels, "rediss", "26379"},
}

// readAddress finds out which deployment a URL means, and puts it into the form that
// go-redis has for that: there further servers are parameters, and the parameters tell
// the deployment. It does no more checking than that takes.
func readAddress(text string) address {
	if strings.Contains(text, "#") {
		return address{kind: single, url: "#"} // go-redis will say no; else it would take what comes before it for the host
	}
	name, rest, _ := strings.Cut(text, "://")
	if form, ok := schemes[name]; ok {
		return address{kind: form.kind, url: rewrite(form.scheme, form.port, form.kind, rest)}
	}
	_, query, _ := strings.Cut(text, "?")
	parameters, err := url.ParseQuery(query)
	switch {
	case err != nil:
		return address{kind: single, url: text} // go-redis will say no
	case parameters.Has("master_name"):
		return address{kind: sentinels, url: text}
	case parameters.Has("addr"):
		return address{kind: cluster, url: text}
	}
	return address{kind: single, url: text}
}

// rewrite turns user:password@host1,host2/path?query into what go-redis reads. Where
// there are sentinels, the user is that of the servers, as with a single one.
func rewrite(scheme, port string, kind deployment, rest string) string {
	end := len(rest)
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		end = at
	}
	authority, path := rest[:end], rest[end:]
	path, query, _ := strings.Cut(path, "?")
	user := ""
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		user, authority = authority[:at], authority[at+1:]
	}
	hosts := slices.DeleteFunc(strings.Split(authority, ","), func(h string) bool { return h == "" })
	for i, host := range hosts {
		hosts[i] = withPort(host, port)
	}
	if len(hosts) == 0 {
		hosts = []string{"localhost:" + port}
	}
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return scheme + "://?" + query // go-redis will say no
	}
	for _, host := range hosts[1:] {
		parameters.Add("addr", host)
	}
	if kind == sentinels {
		user = swapUsers(parameters, user)
	}
	if user != "" {
		user += "@"
	}
	return scheme + "://" + user + hosts[0] + path + "?" + parameters.Encode()
}

func withPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// swapUsers puts the servers' user where go-redis wants it, and returns the sentinels'.
func swapUsers(parameters url.Values, user string) string {
	if name := parameters.Get("master"); name != "" {
		parameters.Set("master_name", name)
		parameters.Del("master")
	}
	if user != "" {
		name, password, _ := strings.Cut(user, ":")
		for key, escaped := range map[string]string{"username": name, "password": password} {
			plain, err := url.PathUnescape(escaped)
			if err != nil {
				plain = escaped
			}
			if plain != "" {
				parameters.Set(key, plain)
			}
		}
	}
	own := url.UserPassword(parameters.Get("sentinel_username"), parameters.Get("sentinel_password"))
	parameters.Del("sentinel_username")
	parameters.Del("sentinel_password")
	if own.String() == ":" {
		return ""
	}
	return own.String()
}
