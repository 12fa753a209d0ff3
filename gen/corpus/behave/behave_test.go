package behave_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	podv1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/seed42274fcc/stoic/gen/corpus/behave"
	"github.com/seed42274fcc/stoic/resilient"
)

var errDown = errors.New("down")

// guards hands out one guard, which does not wait between attempts.
type guards struct{ guard *resilient.Guard }

func (g guards) Guard(string) *resilient.Guard { return g.guard }

func guarded(t *testing.T) guards {
	t.Helper()
	policy := resilient.DefaultPolicy()
	policy.Retry.Backoff = "none"
	g, err := resilient.NewGuard("corpus", policy, nil)
	require.NoError(t, err)
	return guards{g}
}

// flaky fails twice, then succeeds.
type flaky struct{ calls int }

func (f *flaky) err() error {
	f.calls++
	if f.calls < 3 {
		return errDown
	}
	return nil
}

// once checks a call that must not be repeated: it fails with what the fake says.
func once(t *testing.T, f *flaky, err error) {
	t.Helper()
	require.ErrorIs(t, err, errDown)
	assert.Equal(t, 1, f.calls)
}

// thrice checks a call that is repeated until it succeeds.
func thrice(t *testing.T, f *flaky, err error) {
	t.Helper()
	require.NoError(t, err)
	assert.Equal(t, 3, f.calls)
}

type fakeRedis struct {
	redis.Cmdable
	flaky
}

func (f *fakeRedis) Get(ctx context.Context, key string) *redis.StringCmd {
	c := redis.NewStringCmd(ctx, "get", key)
	if err := f.err(); err != nil {
		c.SetErr(err)
		return c
	}
	c.SetVal("value of " + key)
	return c
}

func (f *fakeRedis) Incr(ctx context.Context, key string) *redis.IntCmd {
	c := redis.NewIntCmd(ctx, "incr", key)
	c.SetErr(f.err())
	return c
}

func TestRedis(t *testing.T) {
	f := &fakeRedis{}
	c := behave.NewResilientRedis(f, guarded(t)).Get(t.Context(), "k")
	thrice(t, &f.flaky, c.Err())
	assert.Equal(t, "value of k", c.Val())

	f = &fakeRedis{}
	once(t, &f.flaky, behave.NewResilientRedis(f, guarded(t)).Incr(t.Context(), "k").Err())
}

// What the circuit rejects is a command like any other: with an error, and not nil.
func TestRedisRejected(t *testing.T) {
	g, f := guarded(t), &fakeRedis{}
	g.guard.Circuit().ForceOpen()
	var rejected *resilient.RejectedError
	require.ErrorAs(t, behave.NewResilientRedis(f, g).Incr(t.Context(), "k").Err(), &rejected)
	require.ErrorAs(t, behave.NewResilientRedis(f, g).Get(t.Context(), "k").Err(), &rejected)
	assert.Zero(t, f.calls)
}

type fakeConn struct {
	behave.Conn
	flaky
}

func (f *fakeConn) Ping(context.Context) error { return f.err() }

func (f *fakeConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, f.err()
}

func (f *fakeConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return nil, f.err()
}

func TestDriver(t *testing.T) {
	f := &fakeConn{}
	thrice(t, &f.flaky, behave.NewResilientConn(f, guarded(t)).Ping(t.Context()))

	f = &fakeConn{}
	_, err := behave.NewResilientConn(f, guarded(t)).ExecContext(t.Context(), "UPDATE", nil)
	once(t, &f.flaky, err)

	f = &fakeConn{} // rows are handed out, so that only the opening is guarded
	_, err = behave.NewResilientConn(f, guarded(t)).QueryContext(t.Context(), "SELECT", nil)
	once(t, &f.flaky, err)
}

type fakeBucket struct {
	behave.Bucket
	flaky
}

func (f *fakeBucket) HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error) {
	return &s3.HeadObjectOutput{}, f.err()
}

func (f *fakeBucket) GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return nil, f.err()
}

func (f *fakeBucket) PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	return nil, f.err()
}

// The client itself is what a program wraps.
var _ = behave.NewResilientBucket((*s3.Client)(nil), nil)

func TestS3(t *testing.T) {
	f := &fakeBucket{}
	_, err := behave.NewResilientBucket(f, guarded(t)).HeadObject(t.Context(), nil)
	thrice(t, &f.flaky, err)

	f = &fakeBucket{}
	_, err = behave.NewResilientBucket(f, guarded(t)).PutObject(t.Context(), nil)
	once(t, &f.flaky, err)

	f = &fakeBucket{} // its body is a stream
	_, err = behave.NewResilientBucket(f, guarded(t)).GetObject(t.Context(), nil)
	once(t, &f.flaky, err)
}

type fakePods struct {
	corev1.PodInterface
	flaky
}

func (f *fakePods) Get(context.Context, string, metav1.GetOptions) (*podv1.Pod, error) {
	return &podv1.Pod{}, f.err()
}

func (f *fakePods) Create(context.Context, *podv1.Pod, metav1.CreateOptions) (*podv1.Pod, error) {
	return nil, f.err()
}

func (f *fakePods) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, f.err()
}

func TestKubernetes(t *testing.T) {
	f := &fakePods{}
	pod, err := behave.NewResilientPods(f, guarded(t)).Get(t.Context(), "p", metav1.GetOptions{})
	thrice(t, &f.flaky, err)
	assert.NotNil(t, pod)

	f = &fakePods{}
	_, err = behave.NewResilientPods(f, guarded(t)).Create(t.Context(), nil, metav1.CreateOptions{})
	once(t, &f.flaky, err)

	f = &fakePods{}
	_, err = behave.NewResilientPods(f, guarded(t)).Watch(t.Context(), metav1.ListOptions{})
	once(t, &f.flaky, err)
}

type fakeTx struct {
	pgx.Tx
	flaky
}

func (f *fakeTx) Prepare(context.Context, string, string) (*pgconn.StatementDescription, error) {
	return &pgconn.StatementDescription{}, f.err()
}

func (f *fakeTx) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, f.err()
}

func (f *fakeTx) Query(context.Context, string, ...any) (pgx.Rows, error) { return nil, f.err() }

func TestPgx(t *testing.T) {
	f := &fakeTx{}
	_, err := behave.NewResilientTx(f, guarded(t)).Prepare(t.Context(), "n", "SELECT")
	thrice(t, &f.flaky, err)

	f = &fakeTx{}
	_, err = behave.NewResilientTx(f, guarded(t)).Exec(t.Context(), "UPDATE")
	once(t, &f.flaky, err)

	f = &fakeTx{}
	_, err = behave.NewResilientTx(f, guarded(t)).Query(t.Context(), "SELECT")
	once(t, &f.flaky, err)
}
