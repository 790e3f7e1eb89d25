# A bot for any game in a few lines of awk: takes the first action whose text sounds safe, else a random one.
#   arena tournament --bot "cmd:awk -W interactive -f docs/examples/bots/cautious.awk" --bot random --bot founder
# (mawk reads line by line only with -W interactive; other awks do so anyway.)
# Keys come in a fixed order and without spaces, so that patterns are enough to read them.

function field(name,    rest) {
    if (!match($0, "\"" name "\":")) return ""
    rest = substr($0, RSTART + RLENGTH)
    if (substr(rest, 1, 1) == "[") return substr(rest, 2, index(rest, "]") - 2)
    sub(/[,}].*/, "", rest)
    return rest
}

function say(line) { print line; fflush() }

/^\{"type":"hello"/     { say("{\"type\":\"hello\",\"protocol\":1,\"name\":\"cautious\",\"wants\":[\"texts\"]}") }
/^\{"type":"new-game"/  { srand(field("seed")); stars = 0; say("{\"type\":\"ready\",\"id\":" field("id") "}") }
/^\{"type":"game-over"/ { say("{\"type\":\"ready\",\"id\":" field("id") "}") }
/^\{"type":"bye"/       { exit }

/^\{"type":"choose"/ {
    n = split(field("legal"), codes, ",")
    split(field("texts"), texts, /","/)
    safe = field("stars") >= 2 ? "leave" : "stay|keep|draw"
    pick = 0
    for (i = 1; i <= n && !pick; i++) if (texts[i] ~ safe) pick = i
    if (!pick) pick = 1 + int(rand() * n)
    say("{\"type\":\"choice\",\"id\":" field("id") ",\"code\":" codes[pick] "}")
}
