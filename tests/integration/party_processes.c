/* SPDX-License-Identifier: Apache-2.0 */
#include "integration/party_processes.h"

const char *run_within, *run_program;
char socket_path[128];
const char *run_config = "base.ini";
const char *base_options = "--insecure-test -o privacy.randomness=reproducible";

pid_t start(const char *name, const char *format, ...)
{
    char words[2048], program[512], path[160], *argv[64] = {(char *)(uintptr_t) "dpframe"};
    int n = 1;
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    snprintf(program, sizeof program, "%s/dpframe", getenv("DPFRAME_BUILD_DIR"));
    if (run_program)
        snprintf(program, sizeof program, "%s", run_program);
    for (char *word = strtok(words, " "); word && n < 63; word = strtok(NULL, " "))
        argv[n++] = word;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (chdir(training_directory) != 0)
            _exit(126);
        snprintf(path, sizeof path, "%s.out", name);
        command_redirect(path, STDOUT_FILENO);
        snprintf(path, sizeof path, "%s.err", name);
        command_redirect(path, STDERR_FILENO);
        if (run_within) {
            char *within[70] = {(char *)(uintptr_t) "ip", (char *)(uintptr_t) "netns",
                                (char *)(uintptr_t) "exec", (char *)(uintptr_t)run_within, program};
            memcpy(within + 5, argv + 1, (size_t)n * sizeof *within); /* the end, too */
            execvp("ip", within);
            _exit(127);
        }
        execv(program, argv);
        _exit(127);
    }
    return pid;
}

const char *said(const char *name)
{
    static char text[1 << 16];
    char path[160];
    snprintf(path, sizeof path, "%s.err", name);
    text[0] = '\0';
    if (command_exists(path)) /* else the process is only starting */
        command_slurp(command_path(path), text, sizeof text);
    return text;
}

int ended(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void expect_end(pid_t pid, const char *name, int code, const char *text)
{
    const int got = ended(pid);
    if (got != code || !strstr(said(name), text))
        fail_msg("%s: exit code %d instead of %d, or \"%s\" missing in: %s", name, got, code, text,
                 said(name));
}

pid_t start_server(const char *output, const char *options)
{
    char name[64];
    snprintf(name, sizeof name, "%s-server", output);
    snprintf(socket_path, sizeof socket_path, "%s/%s.sock", training_directory, output);
    return start(name, "serve %s -v -c %s -O %s %s %s", socket_path, run_config, output, base_options,
                 options);
}

pid_t start_party(const char *run, int p, const char *options)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%d", run, p);
    return start(name,
                 "join %s -q -c %s --data mine%d.csv -O %s-out -o federation.state=%s-state -o "
                 "consent.max-epsilon=1e6 %s %s",
                 socket_path, run_config, p, name, name, base_options, options);
}

void start_parties(const char *run, pid_t pids[N_PARTIES + 1], const char *const options[N_PARTIES + 1])
{
    for (int p = 1; p <= N_PARTIES; p++)
        pids[p] = start_party(run, p, options && options[p] ? options[p] : "");
}

int disturbed(char *path, size_t size)
{
    snprintf(path, size, "%s/integration-preload/disturbed.so", getenv("DPFRAME_BUILD_DIR"));
    return access(path, F_OK) == 0;
}

void shell_in_directory(const char *line)
{
    char command[4096];
    snprintf(command, sizeof command, "cd '%s' && exec 2>/dev/null && %s", training_directory, line);
    assert_int_equal(system(command), 0);
}

int has_grpc(void)
{
    char plugin[1100];
    snprintf(plugin, sizeof plugin, "%s/grpc.so", training_plugins("plugins"));
    return access(plugin, F_OK) == 0;
}

void make_certificates(const char *at)
{
    char script[2048];
    snprintf(
        script, sizeof script,
        "exec 2>/dev/null && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "
        "ca.key "
        "-out ca.pem -subj /CN=ca -days 2 && printf 'subjectAltName=%s\\n' > at.ext && for n in server 1 2 3 "
        "4 5 6 7 "
        "8 9 10 11 12 north middle south; do openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
        "-keyout $n.key -out $n.csr -subj /CN=$n && openssl x509 -req -in $n.csr -CA ca.pem -CAkey ca.key "
        "-CAcreateserial -out $n.pem -days 2 -extfile at.ext || exit 1; done",
        at);
    shell_in_directory(script);
}

void grpc_options(const char *name, char *out, size_t size)
{
    snprintf(out, size,
             "-o federation.link=grpc -o federation.link.ca=ca.pem -o federation.link.certificate=%s.pem -o "
             "federation.link.key=%s.key ",
             name, name);
}

void write_survivors(const char *run, const char *file)
{
    char name[64];
    static char lines[1 << 14];
    size_t n = 0;
    snprintf(name, sizeof name, "%s-server", run);
    const char *at = said(name);
    lines[0] = '\0';
    while ((at = strstr(at, "in the sum of round "))) {
        at += strlen("in the sum of ");
        const size_t length = strcspn(at, "\n") + 1;
        assert_true(n + length < sizeof lines);
        memcpy(lines + n, at, length);
        n += length;
        lines[n] = '\0';
    }
    training_file(file, lines);
}

void same_file(const char *a, const char *b, const char *name, size_t least)
{
    static char x[1 << 16], y[1 << 16];
    char path[160];
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", i ? b : a, name);
        FILE *stream = fopen(command_path(path), "rb");
        if (!stream)
            fail_msg("%s is not there", path);
        n[i] = fread(i ? y : x, 1, sizeof x, stream);
        fclose(stream);
    }
    assert_int_equal(n[0], n[1]);
    assert_true(n[0] > least);
    if (memcmp(x, y, n[0]) != 0)
        fail_msg("%s and %s differ in %s", a, b, name);
}

void same_release(const char *a, const char *b)
{
    same_file(a, b, "release/item_factors.npy", 280); /* 20 rows of 2 numbers, and the header */
}

void expect_simulated(const char *run, const char *expected, const char *options)
{
    char words[2048], file[64], text[4096];
    snprintf(file, sizeof file, "%s-survivors.txt", run);
    write_survivors(run, file);
    command_slurp(command_path(file), text, sizeof text);
    if (expected && strcmp(text, expected) != 0)
        fail_msg("survivors are\n%sand should be\n%s", text, expected);
    snprintf(words, sizeof words,
             "-q -c %s -O %s-simulated -o privacy.randomness=reproducible -o items.aggregator=chosen-sum -o "
             "items.aggregator.survivors=%s --plugin-dir %s %s",
             run_config, run, file, training_plugins("integration-plugins"), options);
    command_expect(words, 0, "");
    char simulated[80];
    snprintf(simulated, sizeof simulated, "%s-simulated", run);
    same_release(run, simulated);
}

int64_t communication(const char *run, const char *key)
{
    char path[96];
    snprintf(path, sizeof path, "%s/run.json", run);
    json_t *root = command_json(path);
    const int64_t n = json_integer_value(json_object_get(json_object_get(root, "communication"), key));
    json_decref(root);
    return n;
}

void nothing_is_released(const char *run)
{
    char path[96];
    snprintf(path, sizeof path, "%s/release", run);
    assert_false(command_exists(path));
}

void same_row(const char *a, const char *b, int row, size_t columns)
{
    static char bytes[2][1 << 14];
    char path[160];
    size_t at[2];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/private/user_factors.npy", i ? b : a);
        FILE *stream = fopen(command_path(path), "rb");
        assert_non_null(stream);
        const size_t n = fread(bytes[i], 1, sizeof bytes[i], stream), width = columns * sizeof(float);
        fclose(stream);
        assert_true(n > N_PARTIES * width);
        at[i] = n - (size_t)(N_PARTIES - row) * width;
    }
    assert_memory_equal(bytes[0] + at[0], bytes[1] + at[1], columns * sizeof(float));
}

void join_files(const char *name, const int32_t *parties, int64_t n)
{
    static char all[1 << 16], own[1 << 14];
    char path[32];
    all[0] = '\0';
    for (int64_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "mine%d.csv", parties[i] + 1);
        command_slurp(command_path(path), own, sizeof own);
        strcat(all, i == 0 ? own : strchr(own, '\n') + 1); /* one header */
    }
    training_file(name, all);
}

void parties_plugins(const char *more)
{
    char path[2048];
    snprintf(path, sizeof path, "%s%s", more, training_plugins("integration-links"));
    setenv("DPFRAME_PLUGIN_PATH", path, 1);
}

int parties_begin(void **state)
{
    static char all[1 << 16], own[1 << 16];
    if (training_begin(state) != 0)
        return -1;
    parties_plugins("");
    /* Parties write much to the disk before it counts: where there is one in memory, tests use it. */
    if (access("/dev/shm", W_OK) == 0) {
        training_end(state);
        snprintf(training_directory, sizeof training_directory, "/dev/shm/dpframe-test-XXXXXX");
        if (!mkdtemp(training_directory))
            return -1;
    }
    training_file("users.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
    training_file("items.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n");
    if (command_run_it("generate -q -O ratings.csv users=12 items=20 ratings=150 step=1") != 0)
        return -1;
    command_slurp(command_path("ratings.csv"), all, sizeof all);
    for (int p = 1; p <= N_PARTIES; p++) { /* each party has a file of its own */
        char head[16], name[32];
        snprintf(head, sizeof head, "\n%d,", p);
        size_t n = strcspn(all, "\n") + 1;
        memcpy(own, all, n);
        for (const char *at = strstr(all, head); at; at = strstr(at + 1, head)) {
            const size_t length = strcspn(at + 1, "\n") + 1;
            memcpy(own + n, at + 1, length);
            n += length;
        }
        own[n] = '\0';
        snprintf(name, sizeof name, "mine%d.csv", p);
        training_file(name, own);
    }
    return 0;
}
