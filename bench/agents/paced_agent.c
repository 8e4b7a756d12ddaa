/* An ACP agent that costs next to nothing: pieces of text at a given pace, each with its time.

   A prompt is "PACED start every count linger": the monotonic time of the first piece (0: at once)
   and the distance of two, in nanoseconds; how many; the pause before the turn's end. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(long long when) {
    long long left = when - now();
    if (left > 0) {
        struct timespec t = {left / 1000000000LL, left % 1000000000LL};
        nanosleep(&t, NULL);
    }
}

static void say(const char *line) {
    size_t left = strlen(line);
    while (left > 0) {
        ssize_t sent = write(1, line, left);
        if (sent <= 0) exit(1);
        line += sent;
        left -= (size_t)sent;
    }
}

static void play(const char *prompt) {
    char line[512];
    long long start, every, linger;
    long count;
    if (sscanf(prompt, "PACED %lld %lld %ld %lld", &start, &every, &count, &linger) != 4) return;
    if (start == 0) start = now();
    for (long i = 0; i < count; i++) {
        sleep_until(start + i * every);
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"paced\","
                 "\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":"
                 "{\"type\":\"text\",\"text\":\"%lld \"}}}}\n",
                 now());
        say(line);
    }
    sleep_until(now() + linger);
}

int main(void) {
    char *line = NULL, reply[512];
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        const char *id = strstr(line, "\"id\":"), *prompt = strstr(line, "PACED "), *result = "{}";
        if (id == NULL) continue;
        if (strstr(line, "\"initialize\"")) {
            result = "{\"protocolVersion\":1,\"agentCapabilities\":{},\"authMethods\":[]}";
        } else if (strstr(line, "\"session/new\"")) {
            result = "{\"sessionId\":\"paced\"}";
        } else if (prompt != NULL) {
            play(prompt);
            result = "{\"stopReason\":\"end_turn\"}";
        }
        snprintf(reply, sizeof reply, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}\n",
                 strtol(id + 5, NULL, 10), result);
        say(reply);
    }
    return 0;
}
