# Sourced by start: clients that log in with tokens. OAUTHBEARER with tokens that nobody has signed, then with signed ones, and delegation
# tokens by Kafka's tool.

oauth="sasl.mechanism=OAUTHBEARER
sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
over_tls=${trust/=SSL/=SASL_SSL}
oauthbearer=("${librdkafka[@]}" security.protocol=SASL_SSL sasl.mechanism=OAUTHBEARER)

# b64 is base64 of stdin as tokens have it; jwt signs claims with a key; jwks is the set with its public half.
b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
jwt() {
  local said
  said=$(printf '{"alg":"RS256","kid":"walk"}' | b64).$(printf %s "$2" | b64)
  printf '%s.%s' "$said" "$(printf %s "$said" | openssl dgst -sha256 -sign "$1" | b64)"
}
jwks() {
  local n
  n=$(openssl rsa -in "$1" -noout -modulus 2>/dev/null | sed 's/.*=//; s/../\\x&/g')
  n=$(printf "$n" | b64)
  printf '{"keys":[{"kty":"RSA","kid":"walk","use":"sig","alg":"RS256","n":"%s","e":"AQAB"}]}' "$n"
}
claims() { printf '{"sub":"%s","iat":%d,"exp":%d}' "$1" "$(($(date +%s) - 5))" "$(($(date +%s) + 600))"; }

serve --listen 127.0.0.1:0 --oauth-unsecured --log-level debug
claim "Java logs in by OAUTHBEARER with an unsecured token" tool <<<"$over_tls
$oauth unsecuredLoginStringClaim_sub=\"alice\";
sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler"
claim "librdkafka logs in by OAUTHBEARER with an unsecured token" python "${oauthbearer[@]}" enable.sasl.oauthbearer.unsecure.jwt=true \
  sasl.oauthbearer.config="principal=alice"
claim_not "an expired token is refused" env OAUTH_TOKEN="$(printf '{"alg":"none"}' | b64).$(printf '{"sub":"alice","exp":1000000000}' | b64)." \
  "$CLIENTS_CACHE/python/bin/python" -B "$here/librdkafka.py" "$at" "${oauthbearer[@]}"
end TERM

openssl genrsa -out signer.pem 2048 2>/dev/null
openssl genrsa -out other.pem 2048 2>/dev/null
jwks signer.pem >keys.json
serve --listen 127.0.0.1:0 --oauth-jwks keys.json
signed() { # a file that Kafka's client reads tokens from, and the properties
  jwt "$1" "$(claims alice)" >token.jwt
  printf '%s\n' "$over_tls" "$oauth;" "sasl.oauthbearer.token.endpoint.url=file://$WORK/token.jwt" \
    "sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
}
export JAVA_TOOL_OPTIONS="-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://$WORK/token.jwt"
with_token() { OAUTH_TOKEN=$(jwt "$1" "$(claims alice)") python "${oauthbearer[@]}"; }
claim "Java logs in by OAUTHBEARER with a signed token" tool <<<"$(signed signer.pem)"
claim_not "Java with a token of another signer is refused" tool <<<"$(signed other.pem)"
claim "librdkafka logs in by OAUTHBEARER with a signed token" with_token signer.pem
claim_not "librdkafka with a token of another signer is refused" with_token other.pem
jwks other.pem >keys.json
claim "the keys of the file may change while the broker runs" with_token other.pem
claim_not "and a key that is gone lets nobody in" with_token signer.pem
unset JAVA_TOOL_OPTIONS
end TERM

# delegate runs Kafka's tool of delegation tokens with the properties on stdin.
delegate() {
  cat >client.properties
  timeout 120 java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$CLIENTS_CACHE/java/libs/*" \
    org.apache.kafka.tools.DelegationTokenCommand --bootstrap-server "$at" --command-config client.properties "$@" >tool.out 2>tool.err
}
# by_token are the properties of who logs in with the token that the tool made last.
by_token() {
  printf '%s\n' "$over_tls" sasl.mechanism=SCRAM-SHA-256 \
    "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username=\"$id\" password=\"$hmac\" tokenauth=\"true\";"
}
as() { sasl SCRAM-SHA-512 scram.Scram "$1" "$1-secret"; }
lists_token() { grep -q -- "$id *$hmac *User:alice *User:alice *.*User:bob" tool.out; }

printf 'delegation.token.secret.key=%s\n' "$(openssl rand -base64 24)" >tokens.properties
serve --listen 127.0.0.1:0 --user alice:alice-secret --user bob:bob-secret --properties tokens.properties
claim "kafka-delegation-tokens creates one with a renewer" delegate --create --max-life-time-period -1 --renewer-principal User:bob <<<"$(as alice)"
read -r id hmac _ < <(grep 'User:alice' tool.out | tail -1)
claim "it shows the token" lists_token
claim "kafka-delegation-tokens describes it" delegate --describe --owner-principal User:alice <<<"$(as bob)"
claim "to its renewer too" lists_token
claim "Java logs in with the token" tool <<<"$(by_token)"
claim_not "who logged in with a token makes no other" delegate --create --max-life-time-period -1 <<<"$(by_token)"
claim "because such a login may not" grep -q 'DelegationTokenDisabled\|not allowed' tool.err
claim "kafka-delegation-tokens renews it, as its renewer" delegate --renew --hmac "$hmac" --renew-time-period 3600000 <<<"$(as bob)"
right=$hmac hmac=bm90IGl0
claim_not "Java with another secret is refused" tool <<<"$(by_token)"
hmac=$right
claim "kafka-delegation-tokens ends it" delegate --expire --hmac "$hmac" --expiry-time-period -1 <<<"$(as alice)"
claim_not "Java with a token that has ended is refused" tool <<<"$(by_token)"
claim "kafka-delegation-tokens describes none" delegate --describe <<<"$(as alice)"
claim "there is none" grep -q 'Total number of tokens : 0' tool.out
end TERM
