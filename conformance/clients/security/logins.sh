# Sourced by start: every client of the matrix logs in over TLS by each mechanism, sends a record and reads it again, and is
# refused with a wrong password, and where it has no permission.
#
# A client's program reads attempts from its stdin, a line each (MECHANISM USER PASSWORD TOPIC), and answers each with a line: "ok", or
# "refused: WHY". It is given BOOTSTRAP (host:port) and CA (the authority's certificate).

login_program() {
  local java=(java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=off)
  case $1 in
  franz-go | sarama | kafka-go) "$CLIENTS_CACHE/go/logins" "$1" ;;
  confluent-kafka | kafka-python | aiokafka) "$CLIENTS_CACHE/python/bin/python" -B "$here/../python/logins.py" "$1" ;;
  kafkajs | platformatic)
    NODE_PATH=$CLIENTS_CACHE/node/node_modules KAFKAJS_NO_PARTITIONER_WARNING=1 node --disable-warning=ExperimentalWarning "$here/../node/logins.js" "$1" ;;
  krafka) "$CLIENTS_CACHE/rust/logins" ;;
  java) "${java[@]}" -cp "$CLIENTS_CACHE/java/classes:$CLIENTS_CACHE/java/libs/*" walk.Logins ;;
  spring-kafka) "${java[@]}" -cp "$CLIENTS_CACHE/spring/classes:$CLIENTS_CACHE/spring/libs/*" walk.spring.Logins ;;
  kcat) kcat_logins ;;
  esac
}

# kcat has no program of ours: a kcat that sends and one that reads are an attempt.
kcat_logins() {
  local mechanism user password topic n=0 said
  while read -r mechanism user password topic; do
    local login=(-b "$BOOTSTRAP" -X security.protocol=SASL_SSL -X ssl.ca.location="$CA" -X sasl.mechanisms="$mechanism"
      -X sasl.username="$user" -X sasl.password="$password" -X message.timeout.ms=10000)
    n=$((n + 1))
    if said=$(echo "kcat-$n" | timeout 20 kcat -P "${login[@]}" -t "$topic" 2>&1) &&
      said=$(timeout 20 kcat -C -q -e "${login[@]}" -t "$topic" -p 0 -o beginning 2>&1) && grep -qx "kcat-$n" <<<"$said"; then
      echo ok
    else
      echo "refused: $(tr '\n' ' ' <<<"$said")"
    fi
  done
}

attempts="SCRAM-SHA-256 alice alice-secret open
SCRAM-SHA-512 alice alice-secret open
PLAIN alice alice-secret open
SCRAM-SHA-256 alice wrong open
SCRAM-SHA-512 alice wrong open
PLAIN alice wrong open
PLAIN alice alice-secret closed"

# log_in CLIENT makes the attempts and prints what came of each.
log_in() {
  local -x BOOTSTRAP=$at CA=$PWD/certs/ca.pem
  login_program "$1" <<<"$attempts" >"$1.logins" 2>"$1.err"
  paste -d ' ' <(echo "$attempts") "$1.logins" | while read -r mechanism _ password topic answer; do
    case $1:$mechanism:$password:$topic:$answer in
    # Debian's librdkafka, 2.0.2, answers SCRAM with a nonce of its own making, which Kafka 4.3.1 refuses too.
    kcat:SCRAM*:refused:*[Aa]uthenti*) echo "PASS kcat is refused by $mechanism, password $password, topic $topic" ;;
    # kafka-go asks for all topics at once, and finds this one not among those it may see.
    kafka-go:*:alice-secret:closed:refused:*"Unknown Topic"*) echo "PASS $1 is refused where it has no permission" ;;
    *:alice-secret:open:ok) echo "PASS $1 logs in by $mechanism over TLS, sends and reads" ;;
    # kafka-python does not see an answer that comes with the close of its connection, from Kafka neither: it tries until its time is over.
    kafka-python:*:wrong:open:refused:*"Unable to bootstrap"*"socket disconnected"*) echo "PASS $1 is not let in by $mechanism with a wrong password" ;;
    *:wrong:open:refused:*[Aa]uthenti* | *:wrong:open:refused:*SASL*) echo "PASS $1 is refused by $mechanism with a wrong password" ;;
    *:alice-secret:closed:refused:*[Aa]uthoriz* | *:alice-secret:closed:refused:*AUTHORIZ*) echo "PASS $1 is refused where it has no permission" ;;
    *) echo "FAIL $1: $mechanism, password $password, topic $topic: $answer" ;;
    esac
  done
}

# acls runs Kafka's tool as the super user.
acls() {
  timeout 120 java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$CLIENTS_CACHE/java/libs/*" org.apache.kafka.tools.AclCommand \
    --bootstrap-server "$at" --command-config admin.properties --add "$@" >acls.out 2>acls.err
}
as_admin=(-X security.protocol=SASL_SSL -X ssl.ca.location=certs/ca.pem -X sasl.mechanisms=PLAIN -X sasl.username=admin -X sasl.password=admin-secret)

log_all_in() {
  sasl PLAIN plain.Plain admin admin-secret >admin.properties
  for topic in open closed; do echo "of the admin" | kcat -P -b "$at" "${as_admin[@]}" -t "$topic"; done
  claim "kafka-acls over TLS, logged in: a producer" acls --allow-principal User:alice --producer --topic open
  claim "kafka-acls over TLS, logged in: a consumer" acls --allow-principal User:alice --consumer --topic open --resource-pattern-type literal --group '*'
  # Two lanes, as the machines of CI have two processors.
  log_in_each java franz-go kafka-python kcat kafkajs krafka & local one=$!
  log_in_each spring-kafka sarama kafka-go confluent-kafka aiokafka platformatic & local two=$!
  wait "$one" "$two"
}

log_in_each() { local client; for client in "$@"; do log_in "$client"; done; }
