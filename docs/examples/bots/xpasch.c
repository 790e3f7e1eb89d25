/* An X-Pasch bot for arena in C, with nothing but libc: founds rich companies, and takes the lead where it is cheap.
 *   cc -O2 -o xpasch xpasch.c && arena tournament --game x-pasch --bot "cmd:./xpasch" --bot founder --bot raider
 * It reads JSON with a scanner of a few lines: find a key, then walk over its value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPANIES 64
#define SEATS 6
#define ACTIONS 512

static int income[COMPANIES], on_table[COMPANIES], members[COMPANIES][SEATS];
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
        if (company >= 0 && company < COMPANIES) income[company] = number(value(c, "income"));
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

/* How many dice "2+2+4" shows. */
static int dice_in(const char *text) {
    int n = 1;
    for (; *text && *text != ' ' && *text != '"'; text++) n += *text == '+';
    return n;
}

static double worth(const char *text) {
    int a, b, income_of, bonus;
    const char *mark;
    if (!strncmp(text, "found ", 6) && (mark = strstr(text, "(income ")) && sscanf(mark, "(income %d, bonus %d", &income_of, &bonus) == 2)
        return 1.2 * income_of + 0.2 * bonus - 0.3 * dice_in(strstr(text, " with ") + 6);
    if (!strncmp(text, "place triple ", 13) && (mark = strchr(text, '#')) && sscanf(mark, "#%d", &a) == 1) return gain(a, 5);
    if (!strncmp(text, "place ", 6) && (mark = strchr(text, '#')) && sscanf(mark, "#%d", &a) == 1) return gain(a, dice_in(text + 6));
    if (!strncmp(text, "move #", 6) && (mark = strstr(text, ") to #")) && sscanf(text, "move #%d", &a) == 1 && sscanf(mark, ") to #%d", &b) == 1)
        return gain(a, -1) + gain(b, 1) - 0.2;
    if (!strncmp(text, "draw", 4)) return 0.1;
    if (!strncmp(text, "swap ", 5) && (mark = strstr(text, "(income ")) && sscanf(mark, "(income %d", &income_of) == 1) return 0.2 * (4 - income_of);
    return 0; /* stop, keep, re-roll */
}

static int choose(const char *line) {
    const char *code = first(value(line, "legal")), *text = first(value(line, "texts"));
    int best = number(code);
    double most = -1e9;
    learn_table(value(line, "view"));
    for (; code && text; code = next(code), text = next(text)) {
        double w = worth(text + 1); /* past the opening quote */
        if (w > most) most = w, best = number(code);
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
            puts("{\"type\":\"hello\",\"protocol\":1,\"name\":\"xpasch-c\",\"version\":\"1\",\"games\":[\"x-pasch\"],\"wants\":[\"components\",\"texts\"]}");
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
        fflush(stdout); /* or arena would wait for ever */
    }
    free(line);
    return 0;
}
