package conformance

// Scenario is one claim about Kafka as a script of requests.
type Scenario struct {
	Name  string // the recording's name: letters, digits, hyphens
	Claim string // what it shows, in one sentence
	Part  int    // a label that recordings carry, and nothing hangs on: when doze learned it, 1 to 4; 1 when 0
	Kafka string // the release that a recording is made from; the reference, 4.3.1, when empty

	// Set asks for broker properties, in Kafka's names; "" takes away one that the recorder sets itself.
	Set map[string]string
	// Fresh asks for a broker of its own: the scenario looks at all topics, groups or ids there are, or restarts the
	// broker. A scenario that is not Fresh uses names that no other one uses.
	Fresh bool
	// Slow asks for so many requests that the tests play it only when told to (-slow), as CI does.
	Slow bool
	// Group names scenarios that share a broker with each other and with no others.
	Group string

	// Logins asks for a second listener, which asks for a login: see Users, C.As and C.LoginConn.
	Logins bool
	// SignedTokens asks for OAUTHBEARER with signed tokens beside Logins: see SignedTokenProperties.
	SignedTokens bool

	// Elsewhere is the test that holds doze to the recording, when requests alone do not bring doze where they bring Kafka.
	Elsewhere string

	Run func(c *C)
}

// Reference is the release of Apache Kafka that recordings are made from.
const Reference = "4.3.1"

// Scenarios gives every scenario, in the order of their areas.
func Scenarios() []Scenario {
	var all []Scenario
	for _, area := range areas() {
		all = append(all, area...)
	}
	for i := range all {
		all[i].fillDefaults()
	}
	return all
}

func (s *Scenario) fillDefaults() {
	if s.Part == 0 {
		s.Part = 1
	}
	if s.Kafka == "" {
		s.Kafka = Reference
	}
}
