package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func sessionScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "fetch-session",
			Claim: "An incremental Fetch lists a partition that has records, a new high watermark, a new log start or an error, and none that is as before.",
			Run:   runFetchSession,
		},
		{
			Name:  "fetch-session-by-id",
			Claim: "Sessions by topic id are as those by name; one that began by name cannot go on by id, nor the other way.",
			Run:   runFetchSessionByID,
		},
		{
			Name:  "fetch-session-errors",
			Claim: "A wrong epoch is INVALID_FETCH_SESSION_EPOCH and an unknown session FETCH_SESSION_ID_NOT_FOUND, without topics; the session itself goes on.",
			Run:   runFetchSessionErrors,
		},
		{
			Name:  "fetch-session-close",
			Claim: "Epoch -1 with a session's id answers outside of it and closes it; epoch 0 with one opens another and closes the first.",
			Run:   runFetchSessionClose,
		},
		{
			Name:  "fetch-session-forgotten",
			Claim: "A forgotten partition is not answered any more; a session without partitions is closed.",
			Run:   runFetchSessionForgotten,
		},
		{
			Name:  "fetch-session-error-goes",
			Claim: "A partition with an error is listed every time, and once more when the error is gone.",
			Run:   runFetchSessionErrorGoes,
		},
		{
			Name:  "fetch-session-rotation",
			Claim: "Partitions that gave records move behind the others of their session, so that all are served under a small max_bytes.",
			Run:   runFetchSessionRotation,
		},
		{
			Name:  "fetch-session-waits",
			Claim: "An incremental Fetch that names nothing waits for the partitions of its session, and then lists what changed meanwhile.",
			Run:   runFetchSessionWaits,
		},
	}
}

// inSession makes a request one of a session.
func inSession(req *kmsg.FetchRequest, id, epoch int32) *kmsg.FetchRequest {
	req.SessionID, req.SessionEpoch = id, epoch
	if len(req.Topics) == 1 && len(req.Topics[0].Partitions) == 0 {
		req.Topics = nil
	}
	return req
}

func (n *Conn) openSession(step string, v int16, req *kmsg.FetchRequest) int32 {
	return Ask[*kmsg.FetchResponse](n, step, v, inSession(req, 0, 0)).SessionID
}

func runFetchSession(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-session", 3)
	a.Store("store", t, Values("x"))
	for _, v := range []int16{7, 12} {
		id := a.openSession("full "+vn(v), v, fetchFrom(t, 0, 0, 0))
		epoch := int32(0)
		next := func(step string, offsets ...int64) {
			epoch++
			a.Do(step+" "+vn(v), v, inSession(fetchFrom(t, offsets...), id, epoch))
		}
		next("the records again")
		end := int64(1)
		if v == 12 {
			end = 2
		}
		next("from the end", end)
		next("no change")
		a.storeIn("store in 1", t, 1, Values("y"))
		next("records in 1")
		next("records in 1 again")
		next("from the end of 1", end, end)
		a.storeIn("store in 0", t, 0, Values("z"))
		a.Do("delete all of 0", 2, deleteBefore(t, -1))
		next("beyond the start of 0", end, end)
		next("from the end of both", end+1, end)
		next("no change again")
		next("out of range", 100)
		next("still out of range")
		next("in range", end+1)
		next("nothing new")
	}
	a.Do("full v6", 6, fetchFrom(t, 3))
}

func runFetchSessionByID(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-session-by-id", 2)
	a.Store("store", t, Values("x"))
	id := a.openSession("full", 13, fetchFrom(t, 0, 0))
	a.Do("incremental by id", 13, inSession(fetchFrom(t, 1), id, 1))
	a.Do("incremental by name", 12, inSession(fetchFrom(t, 1), id, 2))
	a.Do("incremental by id again", 13, inSession(fetchFrom(t, 0), id, 2))
	a.Do("by name without topics", 12, inSession(fetchFrom(t), id, 3))
	named := a.openSession("full by name", 12, fetchFrom(t, 0, 0))
	a.Do("by id", 13, inSession(fetchFrom(t, 1), named, 1))
	a.Do("by name", 12, inSession(fetchFrom(t, 1), named, 1))
	nowhere := topicRef{id: [16]byte{15: 1}}
	a.Do("an unknown id joins", 13, inSession(fetchFrom(nowhere, 0), id, 3))
	a.Do("an unknown id joins, at the epoch before", 13, inSession(fetchFrom(nowhere, 0), id, 4))
	a.Do("the unknown id stays", 13, inSession(fetchFrom(t), id, 4))
	a.openSession("full with an unknown id", 18, fetchFrom(nowhere, 0))
}

func runFetchSessionErrors(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-session-errors", 1)
	a.Store("store", t, Values("x"))
	for _, v := range []int16{7, 12, 18} {
		id := a.openSession("full "+vn(v), v, fetchFrom(t, 0))
		for _, epoch := range []int32{2, 7, -2} {
			a.Do(fmt.Sprintf("epoch %d %s", epoch, vn(v)), v, inSession(fetchFrom(t, 0), id, epoch))
		}
		a.Do("epoch 1 "+vn(v), v, inSession(fetchFrom(t), id, 1))
		a.Do("epoch 1 again "+vn(v), v, inSession(fetchFrom(t), id, 1))
		a.Do("epoch 2 "+vn(v), v, inSession(fetchFrom(t), id, 2))
		other := id ^ 1
		a.Do("no such session "+vn(v), v, inSession(fetchFrom(t, 0), other, 1))
		a.Do("no such session to close "+vn(v), v, inSession(fetchFrom(t, 0), other, -1))
		a.Do("session 0 epoch 1 "+vn(v), v, inSession(fetchFrom(t, 0), 0, 1))
	}
}

func runFetchSessionClose(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-session-close", 2)
	a.Store("store", t, Values("x"))
	id := a.openSession("full", 12, fetchFrom(t, 0, 0))
	a.Do("close", 12, inSession(fetchFrom(t, 0), id, -1))
	a.Do("it is gone", 12, inSession(fetchFrom(t, 0), id, 1))
	a.Do("close it again", 12, inSession(fetchFrom(t), id, -1))
	first := a.openSession("another", 12, fetchFrom(t, 0, 0))
	second := Ask[*kmsg.FetchResponse](a, "a new one in its place", 12, inSession(fetchFrom(t, 0), first, 0)).SessionID
	a.Do("the first", 12, inSession(fetchFrom(t, 0), first, 1))
	a.Do("the second", 12, inSession(fetchFrom(t), second, 1))
	a.openSession("a session of nothing", 12, fetchFrom(t))
	b := c.Conn("b")
	b.Do("the second from another connection", 12, inSession(fetchFrom(t), second, 2))
}

func runFetchSessionForgotten(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-session-forgotten", 2)
	a.Store("store", t, Values("x"))
	forget := func(req *kmsg.FetchRequest, numbers ...int32) *kmsg.FetchRequest {
		f := kmsg.NewFetchRequestForgottenTopic()
		f.Topic, f.TopicID, f.Partitions = t.name, t.id, numbers
		req.ForgottenTopics = append(req.ForgottenTopics, f)
		return req
	}
	for _, v := range []int16{12, 13} {
		id := a.openSession("full "+vn(v), v, fetchFrom(t, 0, 0))
		a.Do("forget 0 "+vn(v), v, forget(inSession(fetchFrom(t), id, 1), 0))
		a.Do("forget 0 again "+vn(v), v, forget(inSession(fetchFrom(t), id, 2), 0, 7))
		a.Do("0 comes back "+vn(v), v, inSession(fetchFrom(t, 0), id, 3))
		a.Do("asked for and forgotten "+vn(v), v, forget(inSession(fetchFrom(t, 0), id, 4), 0))
		a.Do("forget the last "+vn(v), v, forget(inSession(fetchFrom(t), id, 5), 1))
		a.Do("it is gone "+vn(v), v, inSession(fetchFrom(t, 0), id, 6))
	}
}

func runFetchSessionErrorGoes(c *C) {
	a := c.Conn("a")
	there := a.NewTopic("fetch-session-error-there", 1)
	late := topicRef{name: "fetch-session-error-late"}
	req := fetchFrom(there, 0)
	req.Topics = append(req.Topics, fetchFrom(late, 0).Topics...)
	id := a.openSession("full", 12, req)
	a.Do("the error again", 12, inSession(fetchFrom(there), id, 1))
	a.Do("the error once more", 12, inSession(fetchFrom(there), id, 2))
	a.NewTopic(late.name, 1)
	a.Do("it is gone", 12, inSession(fetchFrom(there), id, 3))
	a.Do("nothing new", 12, inSession(fetchFrom(there), id, 4))
}

func runFetchSessionRotation(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("fetch-session-rotation", 5)
	for number := range int32(5) {
		for range 2 {
			a.storeIn("store", t, number, Values("x"))
		}
	}
	small := func(req *kmsg.FetchRequest, epoch, id int32) *kmsg.FetchRequest {
		req.MaxBytes = 1
		return inSession(req, id, epoch)
	}
	id := Ask[*kmsg.FetchResponse](a, "full", 12, small(fetchFrom(t, 0, 0, 0, 0, 0), 0, 0)).SessionID
	for epoch := int32(1); epoch <= 12; epoch++ {
		a.Do(fmt.Sprint("incremental ", epoch), 12, small(fetchFrom(t), epoch, id))
	}
	moved := small(fetchFrom(t, 1), 13, id)
	a.Do("0 moves on", 12, moved)
	a.Do("and then", 12, small(fetchFrom(t), 14, id))
}

func runFetchSessionWaits(c *C) {
	a, b := c.Conn("a"), c.Conn("b")
	t := a.NewTopic("fetch-session-waits", 2)
	id := a.openSession("full", 12, fetchFrom(t, 0, 0))
	a.DoTimed("waits", 12, inSession(waiting(fetchFrom(t), 1), id, 1), longWait)
	a.DoTimed("waits again", 12, inSession(waiting(fetchFrom(t), 1), id, 2), longWait)
	req := inSession(fetchFrom(t), id, 3)
	req.MaxWaitMillis, req.MinBytes = 3000, 100_000
	p := a.Send("waits for more than comes", 12, req)
	p.Parked()
	b.Store("store", t, Values("x"))
	p.Await()
	woken := inSession(fetchFrom(t, 1), id, 4)
	woken.MaxWaitMillis = 15_000
	p = a.Send("waits for a byte", 12, woken)
	p.Parked()
	b.storeIn("store in 1", t, 1, Values("y"))
	p.Await()
}
