package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (c *Console) brokerRoutes() []route {
	return []route{
		{pattern: "GET /broker", do: showBrokerConfigs},
		{pattern: "GET /broker/config/{key}", do: askBrokerConfig},
		{pattern: "POST /broker/config/{key}", do: setBrokerConfig},
		{pattern: "GET /broker/log-dirs", do: showLogDirs},
		{pattern: "GET /broker/features", do: showFeatures},
		{pattern: "GET /broker/findings", do: showFindings},
	}
}

// Doctor looks at the machine and the broker, as the command doctor does.
type Doctor interface {
	// Findings are what it found now, the worst first or in any order.
	Findings(ctx context.Context) []Finding
}

// Finding is one thing that a doctor looked at.
type Finding struct {
	Level string // ok, warn or fail
	What  string
	Mend  string // what to do about it; empty when nothing is to be done
}

// brokerHead is the top of each of the broker's pages.
type brokerHead struct {
	Cluster    string
	Brokers    []brokerLink
	Broker     int32
	Controller bool
	Tabs       []tab
	About      *About
}

// brokerLink is a broker to choose.
type brokerLink struct {
	ID                  int32
	Address, Rack, Href string
	Lit                 bool
}

// brokerTabs are the parts of the broker's pages.
var brokerTabs = []struct{ text, path string }{
	{"Configs", "/broker"}, {"Log dirs", "/broker/log-dirs"}, {"Features", "/broker/features"}, {"Findings", "/broker/findings"},
}

// brokerHead finds the brokers and which one the page is of: that of the address, else the controller.
func (r *request) brokerHead(lit string) (brokerHead, error) {
	meta, err := r.c.kafka.brokers(r.Context())
	if err != nil {
		return brokerHead{}, err
	}
	if len(meta.Brokers) == 0 {
		return brokerHead{}, problem{Status: http.StatusBadGateway, Message: "The cluster names no broker"}
	}
	head := brokerHead{Cluster: meta.Cluster, Broker: int32(r.number("broker", int(meta.Controller), 0, 1<<31-1))}
	if i := slices.IndexFunc(meta.Brokers, func(b kadm.BrokerDetail) bool { return b.NodeID == head.Broker }); i < 0 {
		if r.query("broker") != "" {
			return head, notFound("There is no broker %d", head.Broker)
		}
		head.Broker = meta.Brokers[0].NodeID
	}
	head.Controller = head.Broker == meta.Controller
	for _, b := range meta.Brokers {
		id := strconv.Itoa(int(b.NodeID))
		head.Brokers = append(head.Brokers, brokerLink{
			ID: b.NodeID, Address: fmt.Sprintf("%s:%d", b.Host, b.Port), Rack: deref(b.Rack), Href: withQuery(r.URL.Path, "broker", id), Lit: b.NodeID == head.Broker,
		})
	}
	for _, t := range brokerTabs {
		head.Tabs = append(head.Tabs, tab{Text: t.text, Href: withQuery(t.path, "broker", r.query("broker")), Lit: t.text == lit})
	}
	if b := r.c.opt.Broker; b != nil {
		about := b.About()
		head.About = &about
	}
	return head, nil
}

func brokerPage(name string, data any) page {
	return page{Title: "Broker", Nav: "broker", Crumbs: []crumb{{Text: "Broker"}}, Name: name, Data: data}
}

// logDirsPage is the dot of the log dirs.
type logDirsPage struct {
	brokerHead
	Dirs  []logDir
	Table table
}

// logDir is one directory that a broker keeps logs in.
type logDir struct {
	Path          string
	Total, Usable int64 // of the volume; -1: not told
	Used          int64 // by the partitions
	Partitions    int
	Problem       string
}

func showLogDirs(r *request) (answer, error) {
	head, err := r.brokerHead("Log dirs")
	if err != nil {
		return nil, err
	}
	described, err := r.c.kafka.admin.DescribeBrokerLogDirs(r.Context(), head.Broker, nil)
	if err != nil {
		return nil, err
	}
	view := logDirsPage{brokerHead: head}
	var parts []kadm.DescribedLogDirPartition
	for _, d := range described.Sorted() {
		dir := logDir{Path: d.Dir, Total: d.TotalBytes, Usable: d.UsableBytes, Problem: problemText(d.Err)}
		for _, p := range d.Topics.Sorted() {
			dir.Used += p.Size
			dir.Partitions++
			parts = append(parts, p)
		}
		view.Dirs = append(view.Dirs, dir)
	}
	view.Table = logDirSheet.show(r, parts)
	return brokerPage("broker-log-dirs", view), nil
}

var logDirSheet = sheet[kadm.DescribedLogDirPartition]{
	ID: "t", Noun: "partition", Sort: "-size", Empty: "No partition has a log yet.", Command: "doze topic create my-topic -b HOST:PORT",
	Find: func(p kadm.DescribedLogDirPartition) string { return p.Topic },
	Columns: []column[kadm.DescribedLogDirPartition]{
		{Key: "topic", Title: "Topic", Order: func(a, b kadm.DescribedLogDirPartition) int {
			return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
		}, Cell: func(p kadm.DescribedLogDirPartition) cell { return linkCell(p.Topic, path("topics", p.Topic)) }},
		{Title: "Partition", Num: true, Cell: func(p kadm.DescribedLogDirPartition) cell { return numCell(int64(p.Partition)) }},
		{Key: "size", Title: "Size", Num: true, Order: by(func(p kadm.DescribedLogDirPartition) int64 { return p.Size }), Cell: func(p kadm.DescribedLogDirPartition) cell {
			if p.IsFuture {
				return sizeCell(p.Size).with(badge{"future", "info", "It will replace the current log"})
			}
			return sizeCell(p.Size)
		}},
		{Key: "behind", Title: "Behind", Num: true, Hint: "Offsets that this replica has still to get", Order: by(func(p kadm.DescribedLogDirPartition) int64 { return p.OffsetLag }), Cell: func(p kadm.DescribedLogDirPartition) cell { return numCell(p.OffsetLag) }},
		{Title: "Directory", Cell: func(p kadm.DescribedLogDirPartition) cell { return codeCell(p.Dir) }},
	},
}

// featuresPage is the dot of the features.
type featuresPage struct {
	brokerHead
	Features []feature
	Epoch    int64
	APIs     table
}

// feature is a feature of the cluster: which levels the broker supports and which one holds.
type feature struct {
	Name           string
	Least, Most    int16
	Level          int16
	Finalized, Old bool // a level is in force; it is not the highest
}

// api is an API that a broker serves.
type api struct {
	Key, Least, Most int16
	Name             string
}

func showFeatures(r *request) (answer, error) {
	head, err := r.brokerHead("Features")
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = ClientID, "1"
	answered, err := r.c.kafka.client.Broker(int(head.Broker)).Request(r.Context(), req)
	if err != nil {
		return nil, err
	}
	resp := answered.(*kmsg.ApiVersionsResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	view := featuresPage{brokerHead: head, Features: featuresOf(resp), Epoch: resp.FinalizedFeaturesEpoch}
	var apis []api
	for _, k := range resp.ApiKeys {
		apis = append(apis, api{k.ApiKey, k.MinVersion, k.MaxVersion, kmsg.NameForKey(k.ApiKey)})
	}
	view.APIs = apiSheet.show(r, apis)
	return brokerPage("broker-features", view), nil
}

func featuresOf(resp *kmsg.ApiVersionsResponse) []feature {
	byName := map[string]*feature{}
	for _, s := range resp.SupportedFeatures {
		byName[s.Name] = &feature{Name: s.Name, Least: s.MinVersion, Most: s.MaxVersion}
	}
	for _, f := range resp.FinalizedFeatures {
		if byName[f.Name] == nil {
			byName[f.Name] = &feature{Name: f.Name}
		}
		one := byName[f.Name]
		one.Finalized, one.Level = true, f.MaxVersionLevel
	}
	var out []feature
	for _, name := range sortedKeys(byName) {
		one := *byName[name]
		one.Old = one.Finalized && one.Level < one.Most
		out = append(out, one)
	}
	return out
}

var apiSheet = sheet[api]{
	ID: "t", Noun: "API", Sort: "key", Size: 100, Empty: "The broker names no API.",
	Find: func(a api) string { return a.Name },
	Columns: []column[api]{
		{Key: "key", Title: "Key", Num: true, Order: by(func(a api) int16 { return a.Key }), Cell: func(a api) cell { return numCell(int64(a.Key)) }},
		{Key: "name", Title: "API", Order: by(func(a api) string { return a.Name }), Cell: func(a api) cell { return textCell(a.Name) }},
		{Title: "Versions", Cell: func(a api) cell { return textCell(fmt.Sprintf("%d to %d", a.Least, a.Most)) }},
	},
}

// findingsPage is the dot of the findings.
type findingsPage struct {
	brokerHead
	Findings []Finding
	None     bool // there is no doctor to ask
}

func showFindings(r *request) (answer, error) {
	head, err := r.brokerHead("Findings")
	if err != nil {
		return nil, err
	}
	view := findingsPage{brokerHead: head, None: r.c.opt.Doctor == nil}
	if !view.None {
		view.Findings = slices.Clone(r.c.opt.Doctor.Findings(r.Context()))
		rank := map[string]int{"fail": 0, "warn": 1}
		worst := func(f Finding) int {
			if n, bad := rank[f.Level]; bad {
				return n
			}
			return 2
		}
		slices.SortStableFunc(view.Findings, func(a, b Finding) int { return worst(a) - worst(b) })
	}
	return brokerPage("broker-findings", view), nil
}
