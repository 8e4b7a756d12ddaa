/* An ACP agent that costs next to nothing: what is measured beside it is the host.

   It starts in a millisecond and does what a prompt says:

     pulse COUNT EVERY START LINGER   so many updates, one every so often, the first at START (0: now),
                                      and a pause before the turn's end; all in ns of the monotonic
                                      clock. The text of each is its number and the time of its
                                      writing: "0 123456789 "
     say BYTES                        one update with a text of so many bytes
     anything else                    no update

   Every update is one write. A cancelled pulse ends as cancelled; the end of stdin ends the agent.
   It looks for names in a line instead of parsing it, which is enough for clients that mean well. */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

enum { ID_LENGTH = 128, LINE_BEYOND_TEXT = 256 };

static char turn_id[ID_LENGTH];
/* The updates that are left, and the end of the turn as the last step. */
static long steps_left, pulse_number;
static long long every_ns, due_ns, linger_ns;

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void put(const char *line, size_t length) {
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, line, length);
        if (written < 0 && errno != EINTR) exit(0);
        if (written > 0) line += written, length -= (size_t)written;
    }
}

static void answer(const char *id, const char *result) {
    char line[ID_LENGTH + LINE_BEYOND_TEXT];
    int length = snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result);
    put(line, (size_t)length);
}

static void update(const char *text) {
    size_t room = strlen(text) + LINE_BEYOND_TEXT;
    char *line = malloc(room);
    if (line == NULL) exit(1);
    int length = snprintf(line, room,
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"quiet\",\"update\":"
        "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"%s\"}}}}\n", text);
    put(line, (size_t)length);
    free(line);
}

static void end_turn(const char *reason) {
    char result[64];
    snprintf(result, sizeof result, "{\"stopReason\":\"%s\"}", reason);
    answer(turn_id, result);
    turn_id[0] = 0;
    steps_left = 0;
}

/* All that are due: who is late catches up. */
static void pulse(void) {
    while (steps_left > 0 && now_ns() >= due_ns) {
        char text[64];
        if (--steps_left == 0) {
            end_turn("end_turn");
            return;
        }
        snprintf(text, sizeof text, "%ld %lld ", pulse_number++, now_ns());
        update(text);
        due_ns = steps_left > 1 ? due_ns + every_ns : now_ns() + linger_ns;
    }
}

static void say(long bytes) {
    char *text = malloc((size_t)bytes + 1);
    if (text == NULL) exit(1);
    memset(text, 'x', (size_t)bytes);
    text[bytes] = 0;
    update(text);
    free(text);
}

static void prompted(const char *line) {
    const char *order = strstr(line, "\"pulse ");
    long count = 0, bytes = 0;
    if (order != NULL
        && sscanf(order, "\"pulse %ld %lld %lld %lld", &count, &every_ns, &due_ns, &linger_ns) == 4) {
        steps_left = count + 1;
        pulse_number = 0;
        if (due_ns == 0) due_ns = now_ns();
        return;
    }
    order = strstr(line, "\"say ");
    if (order != NULL && sscanf(order, "\"say %ld", &bytes) == 1 && bytes > 0) say(bytes);
    end_turn("end_turn");
}

/* The value of the first such member, as it is written; empty if there is none. */
static void member(const char *line, const char *quoted_name, char *value) {
    const char *found = strstr(line, quoted_name);
    size_t length = 0;
    if (found != NULL) {
        found += strlen(quoted_name);
        found += strspn(found, " :");
        length = *found == '"' ? strcspn(found + 1, "\"") + 2 : strcspn(found, ",} ");
        if (length >= ID_LENGTH) exit(1);
        memcpy(value, found, length);
    }
    value[length] = 0;
}

static void hear(const char *line) {
    char method[ID_LENGTH], id[ID_LENGTH];
    member(line, "\"method\"", method);
    member(line, "\"id\"", id);
    if (strcmp(method, "\"initialize\"") == 0)
        answer(id, "{\"protocolVersion\":1,\"agentCapabilities\":{},\"authMethods\":[],"
                   "\"agentInfo\":{\"name\":\"quiet-agent\",\"version\":\"1\"}}");
    else if (strcmp(method, "\"session/new\"") == 0)
        answer(id, "{\"sessionId\":\"quiet\"}");
    else if (strcmp(method, "\"session/prompt\"") == 0) {
        strcpy(turn_id, id);
        prompted(line);
    } else if (strcmp(method, "\"session/cancel\"") == 0) {
        if (turn_id[0]) end_turn("cancelled");
    } else if (method[0] && id[0])
        answer(id, "{}");
}

/* Takes whole lines out of the buffer; how many bytes are left of one that goes on. */
static size_t hear_lines(char *buffer, size_t held) {
    char *line = buffer, *end;
    while ((end = memchr(line, '\n', held - (size_t)(line - buffer))) != NULL) {
        *end = 0;
        hear(line);
        line = end + 1;
    }
    held -= (size_t)(line - buffer);
    memmove(buffer, line, held);
    return held;
}

/* Whether there is something to read, before the next step is due. */
static int wait_for_input(void) {
    long long left = due_ns - now_ns();
    struct timespec until_due = {.tv_sec = left / 1000000000LL, .tv_nsec = left % 1000000000LL};
    fd_set input;
    FD_ZERO(&input);
    FD_SET(STDIN_FILENO, &input);
    if (left < 0) until_due = (struct timespec){0};
    return pselect(STDIN_FILENO + 1, &input, NULL, NULL, steps_left ? &until_due : NULL, NULL) > 0;
}

int main(void) {
    size_t room = 65536, held = 0;
    char *buffer = malloc(room);
    while (buffer != NULL) {
        if (wait_for_input()) {
            if (held == room && (buffer = realloc(buffer, room *= 2)) == NULL) return 1;
            ssize_t got = read(STDIN_FILENO, buffer + held, room - held);
            if (got <= 0) return 0;
            held = hear_lines(buffer, held + (size_t)got);
        }
        pulse();
    }
    return 1;
}
