package quotas

// Entity is who a limit is for; a part is a name, the default, or not there.
type Entity struct{ User, Client Name }

// Name is one part of an entity.
type Name struct {
	Text    string
	Default bool
	Set     bool
}

// Limits are those of one kind of quota, by entity. It does not change once it is made.
type Limits struct {
	of    map[Entity]float64
	kinds kinds
}

// kinds says which kinds of entity there are limits for.
type kinds uint8

const (
	ofClients kinds = 1 << iota
	ofUsers
	ofBoth
)

// NewLimits makes a table of limits; nil for none.
func NewLimits(of map[Entity]float64) *Limits {
	if len(of) == 0 {
		return nil
	}
	l := &Limits{of: of}
	for e := range of {
		switch {
		case e.User.Set && e.Client.Set:
			l.kinds |= ofBoth
		case e.User.Set:
			l.kinds |= ofUsers
		default:
			l.kinds |= ofClients
		}
	}
	return l
}

// Scope is whose use is added up: that of a user, of a client id, or of a user through a client id. "" stands for all.
type Scope struct{ User, Client string }

func named(s string) Name { return Name{Text: s, Set: true} }

var byDefault = Name{Default: true, Set: true}

func (l *Limits) has(user, client Name) bool {
	_, has := l.of[Entity{user, client}]
	return has
}

// scope finds whose use a client's is part of. With limits for one kind of entity alone that is a matter of the kind; else
// the most special one that fits decides.
func (l *Limits) scope(user, client string) Scope {
	switch l.kinds {
	case ofClients:
		return Scope{Client: client}
	case ofUsers:
		return Scope{User: user}
	case ofBoth:
		return Scope{user, client}
	}
	none := Name{}
	switch u, c := named(user), named(client); {
	case l.has(u, c), l.has(u, byDefault):
		return Scope{user, client}
	case l.has(u, none):
		return Scope{User: user}
	case l.has(byDefault, c), l.has(byDefault, byDefault):
		return Scope{user, client}
	case l.has(byDefault, none):
		return Scope{User: user}
	}
	return Scope{Client: client}
}

// limit is that of a scope; false when there is none.
func (l *Limits) limit(s Scope) (float64, bool) {
	u, c, none := named(s.User), named(s.Client), Name{}
	switch {
	case s.User != "" && s.Client != "":
		return l.first(Entity{u, c}, Entity{u, byDefault}, Entity{byDefault, c}, Entity{byDefault, byDefault})
	case s.User != "":
		return l.first(Entity{u, none}, Entity{byDefault, none})
	case s.Client != "":
		return l.first(Entity{none, c}, Entity{none, byDefault})
	}
	return 0, false
}

func (l *Limits) first(entities ...Entity) (float64, bool) {
	for _, e := range entities {
		if limit, has := l.of[e]; has {
			return limit, true
		}
	}
	return 0, false
}
