package nesting

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Header is the name under which a scope crosses from one process to the next: of the
// HTTP header, and in lower case of the key in gRPC's metadata.
const Header = "Resilience-Scope"

// Bounds of what is written and of what is read.
const (
	maxWire  = 1024 // bytes of the whole value
	maxDepth = 64
	maxPath  = 16 // names
	maxName  = 64 // bytes of one of them, before it is escaped
	maxLeft  = 24 * time.Hour
)

// Wire is the scope as it crosses from one process to the next. Its text is one line of
// at most 1024 bytes, fields with a semicolon between them:
//
//	depth=2;left=1500;path=plan_service.get_plan/vector_store.search
//
// depth (1 … 64) is how many running calls there are. left (0 … 86400000) is for how
// many milliseconds the outermost is still interested in an answer; where it is missing,
// nothing is known. path names the calls, outermost first, in letters, digits and
// -._~ with all else as %XX; of more than 16, or where they do not fit, the outermost
// are missing. Fields that a reader does not know are passed over.
//
// That there is a text at all says that a running call will repeat what fails: nobody
// inside is to repeat it as well. The zero value says nothing.
type Wire struct {
	// Depth is how many running calls there are; 0 is no scope.
	Depth int
	// Path names the innermost of them, as [Path] does.
	Path []string
	// Left is how long the result is of use; 0 says nothing.
	Left time.Duration
}

// Capture returns what is to be said to another process about ctx: the zero value
// unless a running call around it may repeat what runs in it. Left is what its deadline
// leaves, at least a millisecond.
func Capture(ctx context.Context) Wire {
	if !UnderRetry(ctx) {
		return Wire{}
	}
	path := Path(ctx)
	if len(path) == 0 { // they have all returned meanwhile
		return Wire{}
	}
	w := Wire{Depth: len(path), Path: path}
	if deadline, ok := ctx.Deadline(); ok {
		w.Left = max(time.Until(deadline), time.Millisecond)
	}
	return w
}

// String is the text that crosses; empty where there is no scope.
func (w Wire) String() string {
	if w.Depth <= 0 {
		return ""
	}
	text := make([]byte, 0, 128)
	text = append(text, "depth="...)
	text = strconv.AppendInt(text, int64(min(w.Depth, maxDepth)), 10)
	if w.Left > 0 {
		text = append(text, ";left="...)
		text = strconv.AppendInt(text, max(min(w.Left, maxLeft).Milliseconds(), 1), 10)
	}
	for i, name := range w.innermost() {
		if i == 0 {
			text = append(text, ";path="...)
		} else {
			text = append(text, '/')
		}
		text = appendName(text, name)
	}
	return string(text)
}

// innermost are as many of the path's names as fit, the innermost ones.
func (w Wire) innermost() []string {
	const others = len("depth=64;left=86400000;path=")
	path := w.Path[max(0, len(w.Path)-min(maxPath, w.Depth)):]
	room := maxWire - others
	for i := len(path) - 1; i >= 0; i-- {
		if room -= len(appendName(nil, path[i])) + 1; room < 0 {
			return path[i+1:]
		}
	}
	return path
}

// appendName appends a name in the form that it has on the wire, cut to its bound. A
// name is never empty there.
func appendName(text []byte, name string) []byte {
	const hex = "0123456789ABCDEF"
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") // without half a rune at its end
	}
	if name == "" {
		name = "_"
	}
	for i := range len(name) {
		if c := name[i]; plain(c) {
			text = append(text, c)
		} else {
			text = append(text, '%', hex[c>>4], hex[c&15])
		}
	}
	return text
}

// plain reports whether a byte of a name stands for itself.
func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

// ErrWire says that a text is no scope: it is too long, or not in the form of [Wire].
var ErrWire = errors.New("nesting: not a scope in its wire form")

// ParseWire reads what [Wire.String] has written. Whatever the text is, the result is
// within the bounds of the form; what is in a name is the sender's, but for control
// characters and what is no UTF-8, which become "_". The error is [ErrWire].
func ParseWire(text string) (Wire, error) {
	var w Wire
	if len(text) > maxWire {
		return w, ErrWire
	}
	var seen struct{ depth, left, path bool }
	for field := range strings.SplitSeq(text, ";") {
		key, value, ok := strings.Cut(strings.Trim(field, " "), "=")
		if !ok || key == "" {
			return Wire{}, ErrWire
		}
		again := false
		switch key {
		case "depth":
			again, seen.depth = seen.depth, true
			w.Depth, ok = parseNumber(value, 1, maxDepth)
		case "left":
			again, seen.left = seen.left, true
			var ms int
			ms, ok = parseNumber(value, 0, int(maxLeft/time.Millisecond))
			w.Left = max(time.Duration(ms)*time.Millisecond, time.Nanosecond) // 0 ms are over at once
		case "path":
			again, seen.path = seen.path, true
			w.Path, ok = parsePath(value)
		}
		if again || !ok {
			return Wire{}, ErrWire
		}
	}
	if !seen.depth || len(w.Path) > w.Depth {
		return Wire{}, ErrWire
	}
	return w, nil
}

// parseNumber reads a decimal number without a sign.
func parseNumber(text string, least, most int) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil && int(n) >= least && int(n) <= most
}

func parsePath(text string) ([]string, bool) {
	if strings.Count(text, "/") >= maxPath {
		return nil, false
	}
	names := strings.Split(text, "/")
	for i, name := range names {
		var ok bool
		if names[i], ok = parseName(name); !ok {
			return nil, false
		}
	}
	return names, true
}

func parseName(text string) (string, bool) {
	name := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case plain(c):
		case c == '%' && i+2 < len(text):
			n, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil {
				return "", false
			}
			c = byte(n)
			i += 2
		default:
			return "", false
		}
		name = append(name, c)
	}
	if len(name) == 0 || len(name) > maxName {
		return "", false
	}
	return strings.Map(printable, strings.ToValidUTF8(string(name), "_")), true
}

// printable replaces what would be a line of its own, or a command, where a name is shown.
func printable(r rune) rune {
	if !strconv.IsPrint(r) {
		return '_'
	}
	return r
}
