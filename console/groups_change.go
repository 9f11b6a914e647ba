package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// resetView is the dot of the reset of a group: the form, and once it is filled in, what would happen.
type resetView struct {
	Group      string
	Action     string
	Form       resetForm
	Topics     []string // that the group has offsets in or reads
	Strategies []choice
	WhyNot     string // why it cannot be done now
	Wrong      string // what is wrong with the form
	Rows       []resetRow
	Changes    int
	Plan       string
	Undo       bool // the plan is the way back from another
}

// askReset shows the form, and with a strategy in the address what it would do. A plan in the address is the way back from
// a reset.
func askReset(r *request) (answer, error) {
	name, one, err := r.pathGroup()
	if err != nil {
		return nil, err
	}
	view := resetView{Group: name, Action: path("groups", name, "reset"), Topics: one.topics(), Strategies: resetStrategies, WhyNot: one.whyBusy()}
	view.Form = resetForm{
		Topic: r.query("topic"), Partitions: r.query("partitions"), Strategy: r.query("strategy"), Value: r.query("value"), From: r.query("from"),
	}
	switch {
	case r.query("plan") != "":
		view.Undo = true
		view.Rows, err = parsePlan(r.query("plan"))
		if err == nil {
			err = r.groups().checkPlan(r.Context(), one, view.Rows)
		}
	case view.Form.Strategy != "":
		view.Rows, err = r.groups().plan(r.Context(), one, view.Form)
	}
	if err != nil {
		view.Wrong, view.Rows = err.Error(), nil
	}
	for _, row := range view.Rows {
		if !row.Skip {
			view.Changes++
		}
	}
	view.Plan = printPlan(view.Rows)
	return resetDialog(view, 0), nil
}

func resetDialog(view resetView, status int) dialog {
	return dialog{
		Title: "Reset offsets of " + shownName(view.Group), Nav: "groups", Crumbs: groupTrail(view.Group, crumb{Text: "Reset offsets"}),
		Name: "group-reset", Data: view, Status: status,
	}
}

// pathGroup is the group that the path names.
func (r *request) pathGroup() (string, *group, error) {
	name, err := r.named("group")
	if err != nil {
		return "", nil, err
	}
	one, err := r.group(name)
	return name, one, err
}

// plan works a form out against what is true now.
func (g groupReader) plan(ctx context.Context, one *group, form resetForm) ([]resetRow, error) {
	scope, topics, err := g.scope(ctx, one, form)
	if err != nil {
		return nil, err
	}
	facts, err := g.facts(ctx, one, form, topics)
	if err != nil {
		return nil, err
	}
	return planReset(form, scope, facts)
}

// scope is the partitions that a form is about, in order.
func (g groupReader) scope(ctx context.Context, one *group, form resetForm) ([]partition, []string, error) {
	if form.Topic == "" {
		var scope []partition
		for _, o := range one.Offsets {
			scope = append(scope, partition{o.Topic, o.Partition})
		}
		if len(scope) == 0 {
			return nil, nil, errors.New("choose partitions: the group has no committed offset, so name the topic")
		}
		return scope, one.topics(), nil
	}
	chosen, err := parsePartitions(form.Partitions)
	if err != nil {
		return nil, nil, err
	}
	if chosen == nil {
		meta, err := g.metadata(ctx, form.Topic)
		if err != nil {
			return nil, nil, err
		}
		topic := meta.Topics[form.Topic]
		if topic.Err != nil {
			return nil, nil, fmt.Errorf("look up topic %s: %w", clip(form.Topic, 200), topic.Err)
		}
		chosen = topic.Partitions.Numbers()
	}
	var scope []partition
	for _, p := range chosen {
		scope = append(scope, partition{form.Topic, p})
	}
	return scope, []string{form.Topic}, nil
}

// facts is what a plan needs to know of the topics.
func (g groupReader) facts(ctx context.Context, one *group, form resetForm, topics []string) (resetFacts, error) {
	facts := resetFacts{Committed: map[partition]int64{}}
	for _, o := range one.Offsets {
		if o.Committed >= 0 {
			facts.Committed[partition{o.Topic, o.Partition}] = o.Committed
		}
	}
	meta, err := g.metadata(ctx, topics...)
	if err != nil {
		return facts, err
	}
	logs, err := g.logsOf(ctx, meta.Topics, true)
	if err != nil {
		return facts, err
	}
	facts.Start, facts.End = listedByPartition(logs.start), listedByPartition(logs.end)
	switch form.Strategy {
	case "timestamp":
		facts.AtTime, err = g.atTime(ctx, form.Value, topics)
	case "copy":
		facts.Other, err = g.offsetsOf(ctx, form.From)
	}
	return facts, err
}

func listedByPartition(listed kadm.ListedOffsets) map[partition]int64 {
	out := map[partition]int64{}
	listed.Each(func(o kadm.ListedOffset) {
		if o.Err == nil && o.Offset >= 0 {
			out[partition{o.Topic, o.Partition}] = o.Offset
		}
	})
	return out
}

// atTime is the first offset of each partition at or after a time; partitions without one are left out.
func (g groupReader) atTime(ctx context.Context, value string, topics []string) (map[partition]int64, error) {
	millis, err := parseResetTime(value)
	if err != nil {
		return nil, err
	}
	listed, err := g.admin.ListOffsetsAfterMilli(ctx, millis, topics...)
	if err != nil {
		return nil, err
	}
	out := listedByPartition(listed)
	listed.Each(func(o kadm.ListedOffset) {
		if o.Timestamp < 0 { // it is the end, for want of a record that late
			delete(out, partition{o.Topic, o.Partition})
		}
	})
	return out, nil
}

// offsetsOf is where another group is.
func (g groupReader) offsetsOf(ctx context.Context, name string) (map[partition]int64, error) {
	if name == "" {
		return nil, errors.New("choose the group to copy from")
	}
	other, err := g.load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("copy from group %s: %w", clip(name, 200), err)
	}
	out := map[partition]int64{}
	for _, o := range other.Offsets {
		if o.Committed >= 0 {
			out[partition{o.Topic, o.Partition}] = o.Committed
		}
	}
	return out, nil
}

// errMoved says that a plan is of another moment.
var errMoved = errors.New("the group's offsets have changed since this plan was made: make it again")

// checkPlan sees that the group is still where the plan begins, and gives the rows the ends of their logs.
func (g groupReader) checkPlan(ctx context.Context, one *group, rows []resetRow) error {
	now := map[partition]groupOffset{}
	for _, o := range one.Offsets {
		now[partition{o.Topic, o.Partition}] = o
	}
	for i, row := range rows {
		o, ok := now[partition{row.Topic, row.Partition}]
		if !ok {
			o = groupOffset{Committed: -1, Start: -1, End: -1}
		}
		if o.Committed != row.Before {
			return errMoved
		}
		rows[i].Start, rows[i].End = o.Start, o.End
	}
	return nil
}

// resetGroup does what a plan says.
func resetGroup(r *request) (answer, error) {
	name, one, err := r.pathGroup()
	if err != nil {
		return nil, err
	}
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	rows, err := parsePlan(f.text("plan"))
	if err == nil {
		err = r.groups().checkPlan(r.Context(), one, rows)
	}
	if err != nil {
		return nil, badRequest("%v", err)
	}
	if why := one.whyBusy(); why != "" {
		return nil, problem{Status: 409, Message: "The offsets of " + shownName(name) + " cannot be reset now", Hint: why}
	}
	if err := r.groups().apply(r.Context(), one, rows); err != nil {
		return nil, err
	}
	return done{To: path("groups", name), Toast: fmt.Sprintf("Reset %s of %s", plural(len(rows), "partition"), shownName(name)), Undo: undoPath(name, rows)}, nil
}

// undoPath is the page of the way back; "" when there is none, or it does not fit an address.
func undoPath(name string, rows []resetRow) string {
	back := undone(rows)
	if len(back) != len(rows) {
		return ""
	}
	return withQuery(path("groups", name, "reset"), "plan", printPlan(back))
}

// apply sets the offsets of a group, by its kind's own API.
func (g groupReader) apply(ctx context.Context, one *group, rows []resetRow) error {
	var offsets kadm.Offsets
	for _, row := range rows {
		offsets.Add(kadm.Offset{Topic: row.Topic, Partition: row.Partition, At: row.After, LeaderEpoch: -1})
	}
	if one.Kind == shareGroup {
		answered, err := g.admin.AlterShareGroupOffsets(ctx, one.Name, offsets)
		for topic, parts := range answered {
			for p, failed := range parts {
				err = errors.Join(err, inPartition(topic, p, failed))
			}
		}
		return err
	}
	answered, err := g.admin.CommitOffsets(ctx, one.Name, offsets)
	for _, o := range answered.Sorted() {
		err = errors.Join(err, inPartition(o.Topic, o.Partition, o.Err))
	}
	return err
}

func inPartition(topic string, p int32, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("partition %d of %s: %w", p, topic, err)
}

// deleteView is the dot of a question whether something is to be deleted.
type deleteView struct {
	What, Name string
	Action     string
	Means      []string // what goes with it
	WhyNot     string
	Type       bool // the name is to be typed
	Wrong      string
	Button     string
	Hidden     []hidden
}

func askDeleteGroup(r *request) (answer, error) {
	name, one, err := r.pathGroup()
	if err != nil {
		return nil, err
	}
	return deleteGroupDialog(name, one, "", 0), nil
}

func deleteGroupDialog(name string, one *group, wrong string, status int) dialog {
	view := deleteView{What: "group", Name: name, Action: path("groups", name, "delete"), WhyNot: one.whyBusy(), Wrong: wrong, Button: "Delete the group"}
	n := 0
	for _, o := range one.Offsets {
		if o.Committed >= 0 {
			n++
		}
	}
	view.Type = n > 0
	view.Means = []string{fmt.Sprintf("Its committed offsets of %s go with it: a consumer that joins again begins where its auto.offset.reset says.", plural(n, "partition"))}
	return dialog{Title: "Delete group " + shownName(name), Nav: "groups", Crumbs: groupTrail(name, crumb{Text: "Delete"}), Name: "really-delete", Data: view, Status: status}
}

func deleteGroup(r *request) (answer, error) {
	name, one, err := r.pathGroup()
	if err != nil {
		return nil, err
	}
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	if d := deleteGroupDialog(name, one, "Type the group's name to delete it.", 422); d.Data.(deleteView).Type && f.text("typed") != name {
		return d, nil
	}
	answered, err := r.c.kafka.admin.DeleteGroup(r.Context(), name)
	if err = cmpErr(err, answered.Err); err != nil {
		if errors.Is(err, kerr.NonEmptyGroup) {
			return nil, problem{Status: 409, Message: "The group has members", Hint: one.whyBusy()}
		}
		return nil, err
	}
	return done{To: "/groups", Toast: "Deleted group " + shownName(name)}, nil
}

// cmpErr is the first of two errors that is one.
func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// forgetView is the dot of the deletion of offsets.
type forgetView struct {
	Group, Action string
	Topics        []forgetTopic
	WhyNot        string
}

// forgetTopic is a topic that a group has offsets in.
type forgetTopic struct {
	Name       string
	Partitions int
	WhyNot     string
}

func askForgetOffsets(r *request) (answer, error) {
	name, one, err := r.pathGroup()
	if err != nil {
		return nil, err
	}
	view := forgetView{Group: name, Action: path("groups", name, "forget"), WhyNot: one.whyNoOffsets()}
	for _, topic := range one.topics() {
		t := forgetTopic{Name: topic}
		for _, o := range one.Offsets {
			if o.Topic == topic && o.Committed >= 0 {
				t.Partitions++
			}
			if o.Topic == topic && o.Member != "" {
				t.WhyNot = "read by " + o.Member
			}
		}
		if t.Partitions > 0 {
			view.Topics = append(view.Topics, t)
		}
	}
	return dialog{Title: "Delete offsets of " + shownName(name), Nav: "groups", Crumbs: groupTrail(name, crumb{Text: "Delete offsets"}), Name: "group-forget", Data: view}, nil
}

func forgetOffsets(r *request) (answer, error) {
	name, one, err := r.pathGroup()
	if err != nil {
		return nil, err
	}
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	topic := f.text("topic")
	if !slices.Contains(one.topics(), topic) {
		return nil, badRequest("The group has no offset in topic %s", clip(topic, 200))
	}
	if err := r.groups().forget(r.Context(), one, topic); err != nil {
		return nil, err
	}
	return done{To: path("groups", name), Toast: fmt.Sprintf("Deleted the offsets of %s in %s", shownName(name), strings.TrimSpace(topic))}, nil
}

// forget deletes the offsets of a topic.
func (g groupReader) forget(ctx context.Context, one *group, topic string) error {
	if one.Kind == shareGroup {
		answered, err := g.admin.DeleteShareGroupOffsets(ctx, one.Name, topic)
		return cmpErr(err, answered[topic])
	}
	set := kadm.TopicsSet{}
	for _, o := range one.Offsets {
		if o.Topic == topic && o.Committed >= 0 {
			set.Add(topic, o.Partition)
		}
	}
	answered, err := g.admin.DeleteOffsets(ctx, one.Name, set)
	for p, failed := range answered[topic] {
		err = errors.Join(err, inPartition(topic, p, failed))
	}
	return err
}
