package sanitize_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/seed42274fcc/stoic/sanitize"
)

func ExampleString() {
	fmt.Println(sanitize.String("dial postgres://app:hunter2@db:5432/plans: refused"))
	fmt.Println(sanitize.String(`bad config {'api_key': 'abc', "region": "eu"} DB_PASSWORD=hunter2`))
	fmt.Println(sanitize.String("401 Authorization: Bearer abc"))
	fmt.Println(sanitize.String("token expired; max_tokens=5"))
	// Output:
	// dial postgres://***@db:5432/plans: refused
	// bad config {'api_key': '***', "region": "eu"} DB_PASSWORD=***
	// 401 Authorization: ***
	// token expired; max_tokens=5
}

func ExampleMessage() {
	fmt.Println(sanitize.Message("login failed\npassword: hunter2\n"))
	// Output: login failed password: ***
}

func ExampleError() {
	err := sanitize.Error(fmt.Errorf("secret=hunter2: %w", fs.ErrNotExist))
	fmt.Println(err)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// secret=***: file does not exist
	// true
}

func ExampleReplaceAttr() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return sanitize.ReplaceAttr(groups, a)
		},
	}))
	logger.Warn("retrying", "token", "abc", "err", errors.New("GET https://u:p@h: EOF"))
	// Output: level=WARN msg=retrying token=*** err="GET https://***@h: EOF"
}
