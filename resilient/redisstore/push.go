package redisstore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// unpack reads what a script has published: the circuit's name and an answer, each part
// as its length, a colon, itself and a comma. Anybody can publish anything, so whatever
// it is, the result makes sense or is an error.
func unpack(payload string) (circuit string, answer breaker.Answer, err error) {
	var parts []string
	for rest := payload; rest != ""; {
		length, tail, found := strings.Cut(rest, ":")
		n, err := strconv.Atoi(length)
		if !found || err != nil || n < 0 || n >= len(tail) || tail[n] != ',' || len(parts) > answerParts {
			return "", breaker.Answer{}, fmt.Errorf("%w: a message of part %d on makes no sense", breaker.ErrGarbled, len(parts))
		}
		parts = append(parts, tail[:n])
		rest = tail[n+1:]
	}
	if len(parts) == 0 {
		return "", breaker.Answer{}, fmt.Errorf("%w: an empty message", breaker.ErrGarbled)
	}
	answer, err = decode(parts[1:])
	return parts[0], answer, err
}
