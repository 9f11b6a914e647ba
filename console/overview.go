package console

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

func (c *Console) overviewRoutes() []route {
	return []route{
		{pattern: "GET /{$}", do: overview},
		{pattern: "GET /overview/now", do: func(r *request) (answer, error) { return overviewNow(r) }},
	}
}

// overviewPage is the dot of the template "overview".
type overviewPage struct {
	Live     *liveView
	About    *About // nil: some other Kafka
	Registry string
	Families []tab
	Family   family
}

func overview(r *request) (answer, error) {
	now, err := overviewNow(r)
	if err != nil {
		return nil, err
	}
	view, err := now.view(r, "/overview/now")
	if err != nil {
		return nil, err
	}
	data := overviewPage{Live: view, Registry: r.c.opt.Registry}
	if b := r.c.opt.Broker; b != nil {
		about := b.About()
		data.About = &about
	}
	data.Families, data.Family = families(r)
	return page{Title: "Overview", Nav: "overview", Name: "overview", Data: data}, nil
}

// overviewState is what moves on the overview.
type overviewState struct {
	Cards  []card
	Checks []check
	Recent []Happening
}

type card struct{ Number, Text, Href string }

// check is one finding about health.
type check struct{ Verdict, Tone, What, Hint string }

// maxRecent is how many happenings the overview shows.
const maxRecent = 15

func overviewNow(r *request) (live, error) {
	state := overviewState{}
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	meta, err := r.c.kafka.metadata(ctx)
	if err != nil {
		p := asProblem(err)
		state.Checks = append(state.Checks, check{"down", "bad", "The broker does not answer", p.Message + ". " + p.Hint})
	} else {
		state.Cards = cardsOf(ctx, r, meta)
		state.Checks = append(state.Checks, checksOf(meta)...)
	}
	if r.c.kafka.registry != nil {
		state.Checks = append(state.Checks, registryCheck(ctx, r))
	}
	if r.c.opt.Recent != nil {
		state.Recent = r.c.opt.Recent.Recent(maxRecent)
	}
	return live{ID: "overview-now", Name: "overview-now", Data: state}, nil
}

// cardOf is a number of things with a page.
func cardOf(n int, noun, href string) card {
	if n != 1 {
		noun += "s"
	}
	return card{grouped(n), noun, href}
}

func cardsOf(ctx context.Context, r *request, meta kadm.Metadata) []card {
	topics, partitions := 0, 0
	for _, t := range meta.Topics {
		if !t.IsInternal {
			topics++
			partitions += len(t.Partitions)
		}
	}
	cards := []card{cardOf(topics, "topic", "/topics"), cardOf(partitions, "partition", "/topics")}
	if groups, err := r.c.kafka.admin.ListGroups(ctx); err == nil {
		cards = append(cards, cardOf(len(groups), "group", "/groups"))
	}
	return append(cards, cardOf(len(meta.Brokers), "broker", "/broker"))
}

// checksOf looks at what metadata tells of health.
func checksOf(meta kadm.Metadata) []check {
	checks := []check{{"ok", "good", "The broker answers", "cluster " + meta.Cluster}}
	var leaderless, behind int
	for _, t := range meta.Topics {
		for _, p := range t.Partitions {
			if p.Leader < 0 || p.Err != nil {
				leaderless++
			} else if len(p.ISR) < len(p.Replicas) {
				behind++
			}
		}
	}
	if leaderless > 0 {
		checks = append(checks, check{"bad", "bad", plural(leaderless, "partition") + " without a leader", "Its records can be neither read nor written. The broker's log says why."})
	}
	if behind > 0 {
		checks = append(checks, check{"warn", "warn", plural(behind, "partition") + " with replicas that are behind", ""})
	}
	return checks
}

func registryCheck(ctx context.Context, r *request) check {
	subjects, err := r.c.kafka.registry.Subjects(ctx)
	if err != nil {
		return check{"down", "bad", "The schema registry at " + r.c.opt.Registry + " does not answer", err.Error()}
	}
	return check{"ok", "good", fmt.Sprintf("The schema registry answers: %s", plural(len(subjects), "subject")), ""}
}
