package behave

import (
	"database/sql/driver"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/seed42274fcc/stoic/resilient"
)

// Redis is go-redis' interface of commands, whose errors stand behind an accessor.
//
//resilient:service redis
//resilient:error Err
//resilient:idempotent Get,MGet
type Redis interface {
	redis.Cmdable
}

// Conn is what a database driver's connection may do.
//
//resilient:service sql
//resilient:idempotent Ping
type Conn interface {
	driver.Pinger
	driver.ExecerContext
	driver.QueryerContext
}

// Bucket is a part of what S3's client, a struct, can do.
//
//resilient:service s3
//resilient:from s3.Client HeadObject,GetObject,PutObject
//resilient:idempotent HeadObject
type Bucket interface {
	BucketMethods
}

// Pods is client-go's, marked in a way that the compiler checks.
//
//resilient:service kubernetes
type Pods interface {
	corev1.PodInterface
}

var _ = resilient.MarkIdempotent(corev1.PodInterface.Get)

// Tx is a transaction of pgx.
//
//resilient:service postgres
//resilient:idempotent Prepare
type Tx interface {
	pgx.Tx
}

var _ *s3.Client // the import that //resilient:from goes by
