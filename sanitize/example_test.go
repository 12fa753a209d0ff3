package sanitize_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
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

func ExampleNewHandler() {
	plain := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	slog.New(sanitize.NewHandler(plain)).With("api_key", "abc").Warn("login with password=hunter2", slog.Group("db", "url", "redis://:x@h"))
	// Output: level=WARN msg="login with password=***" api_key=*** db.url=redis://***@h
}

func ExampleNewWriter() {
	logger := log.New(sanitize.NewWriter(os.Stdout), "", 0)
	logger.Printf("config %+v", struct{ Host, Password string }{"db1", "correct horse"})
	// Output: config {Host:db1 Password:***}
}

func ExampleNew() {
	secrets, err := sanitize.New(&sanitize.Options{
		Keys:   []string{"tenant_code"},
		Mask:   "[gone]",
		Values: []string{"correct horse"},
		Paths:  []sanitize.PathRule{{Host: "*.hooks.example", Path: "/in/***"}},
	})
	fmt.Println(err)
	fmt.Println(secrets.String("tenantCode=7 said correct horse to https://eu.hooks.example/in/x9/now"))
	// Output:
	// <nil>
	// tenantCode=[gone] said [gone] to https://eu.hooks.example/in/[gone]/now
}

func ExampleAppendBytes() {
	fmt.Println(string(sanitize.AppendBytes([]byte("> "), []byte("token=abc"))))
	fmt.Println(string(sanitize.Bytes([]byte("token expired"))))
	// Output:
	// > token=***
	// token expired
}
