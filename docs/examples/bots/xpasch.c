/* An X-Pasch bot for arena in C, with nothing but libc: founds rich companies, and takes the lead where it is cheap.
 *   cc -O2 -o xpasch xpasch.c && arena tournament --game x-pasch --bot "cmd:./xpasch" --bot founder --bot raider
 * It reads JSON with a scanner of a few lines: find a key, then walk over its value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPANIES 64
#define SEATS 6

static int income[COMPANIES], bonus[COMPANIES], on_table[COMPANIES], members[COMPANIES][SEATS];
static int seat, players;

/* The end of the value that starts at s. */
static const char *past(const char *s) {
    int depth = 0, quoted = 0;
    for (; *s; s++) {
        if (quoted) {
            if (*s == '\\') s++;
            else if (*s == '"') quoted = 0;
        } else if (*s == '"') quoted = 1;
        else if (*s == '[' || *s == '{') depth++;
        else if (*s == ']' || *s == '}') { if (depth-- == 0) return s; }
        else if (*s == ',' && depth == 0) return s;
    }
    return s;
}

/* The value of a key of the object that starts at s, or NULL. */
static const char *value(const char *s, const char *key) {
    size_t n = strlen(key);
    if (!s || *s != '{') return NULL;
    for (s++; *s == '"';) {
        int found = !strncmp(s + 1, key, n) && s[n + 1] == '"';
        s = strchr(s + 1, '"') + 2; /* keys of this protocol hold no quotes */
        if (found) return s;
        s = past(s);
        if (*s == ',') s++;
    }
    return NULL;
}

static int number(const char *s) { return s ? atoi(s) : 0; }

/* The first item of a list, and the one after an item; NULL at the end. */
static const char *first(const char *list) { return list && list[0] == '[' && list[1] != ']' ? list + 1 : NULL; }
static const char *next(const char *item) { item = past(item); return *item == ',' ? item + 1 : NULL; }

static void learn_companies(const char *line) {
    const char *c = first(value(value(line, "components"), "companies"));
    for (; c; c = next(c)) {
        int company = number(value(c, "company"));
        if (company < 0 || company >= COMPANIES) continue;
        income[company] = number(value(c, "income"));
        bonus[company] = number(value(c, "founding")); /* members that come with it */
    }
}

static void learn_table(const char *view) {
    const char *company = first(value(view, "table")), *board = first(value(view, "members"));
    memset(on_table, 0, sizeof on_table);
    for (; company && board; company = next(company), board = next(board)) {
        int n = number(company), i = 0;
        if (n < 0 || n >= COMPANIES) continue;
        on_table[n] = 1;
        for (const char *m = first(board); m && i < SEATS; m = next(m)) members[n][i++] = number(m);
    }
}

/* What a company's income is worth to me with so many more of my members there: mine counts, others' hurts. */
static double standing(int company, int more) {
    int best = -1, lead = 0, tied = 0;
    for (int i = 0; i < players; i++) {
        int m = members[company][i] + (i == seat ? more : 0);
        if (m > lead) lead = m, best = i, tied = 0;
        else if (m == lead) tied = 1;
    }
    if (lead == 0 || tied) return 0;
    return best == seat ? income[company] : -0.5 * income[company];
}

static double gain(int company, int more) {
    return standing(company, more) - standing(company, 0) + 0.04 * more * income[company];
}

static int is(const char *action, const char *kind) {
    const char *k = value(action, "kind");
    return k && !strncmp(k + 1, kind, strlen(kind)) && k[strlen(kind) + 1] == '"';
}

/* An action has the fields of docs/games/x-pasch.md: {"code":7,"kind":"found","card":3,"dice":[2,2]} */
static double worth(const char *action) {
    int card = number(value(action, "card")), dice = 0;
    if (is(action, "found")) {
        for (const char *d = first(value(action, "dice")); d; d = next(d)) dice++;
        return 1.2 * income[card] + 0.2 * bonus[card] - 0.3 * dice;
    }
    if (is(action, "place")) return gain(number(value(action, "company")), number(value(action, "members")));
    if (is(action, "move")) return gain(number(value(action, "source")), -1) + gain(number(value(action, "target")), 1) - 0.2;
    if (is(action, "draw")) return 0.1;
    if (is(action, "swap")) return 0.2 * (4 - income[card]);
    return 0; /* stop, keep, reroll */
}

static int choose(const char *line) {
    const char *action = first(value(line, "actions"));
    int best = 0;
    double most = -1e9;
    learn_table(value(line, "view"));
    for (; action; action = next(action)) {
        double w = worth(action);
        if (w > most) most = w, best = number(value(action, "code"));
    }
    return best;
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        const char *type = value(line, "type");
        int id = number(value(line, "id"));
        if (!type || !strncmp(type, "\"bye\"", 5)) break;
        if (!strncmp(type, "\"hello\"", 7))
            puts("{\"type\":\"hello\",\"protocol\":1,\"name\":\"xpasch-c\",\"version\":\"1\",\"games\":[\"x-pasch\"],\"wants\":[\"actions\",\"components\"]}");
        else if (!strncmp(type, "\"choose\"", 8))
            printf("{\"type\":\"choice\",\"id\":%d,\"code\":%d}\n", id, choose(line));
        else {
            if (!strncmp(type, "\"new-game\"", 10)) {
                seat = number(value(line, "seat"));
                players = number(value(line, "players"));
                learn_companies(line);
            }
            printf("{\"type\":\"ready\",\"id\":%d}\n", id);
        }
        fflush(stdout); /* or arena would wait forever */
    }
    free(line);
    return 0;
}
