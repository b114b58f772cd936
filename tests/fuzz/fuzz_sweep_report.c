/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep's directory on arbitrary bytes: sweep.json, the state and run.json of the points a and b,
 * metrics.csv and noise.csv, divided by lines "%". It is refused with a reason, or tables and plots are made
 * of it.
 */
#include "fuzz_file.h"

#include <sys/stat.h>

#include "sweep/outcome_tables.h"
#include "sweep/plot_data.h"

static char directory[64];

static const char *const folders[] = {"state",    "points",          "points/a", "points/a/private",
                                      "points/b", "points/b/private"};
static const char *const files[] = {"sweep.json",
                                    "state/a.json",
                                    "points/a/run.json",
                                    "points/b/run.json",
                                    "points/a/private/metrics.csv",
                                    "points/a/private/noise.csv",
                                    "state/b.json"};
#define N_FILES (sizeof files / sizeof files[0])
#define N_FOLDERS (sizeof folders / sizeof folders[0])

static void path_of(const char *name, char path[160])
{
    snprintf(path, 160, "%s/%s", directory, name);
}

static void clean_up(void)
{
    char path[160];
    for (size_t i = 0; i < N_FILES; i++) {
        path_of(files[i], path);
        unlink(path);
    }
    for (size_t i = N_FOLDERS; i-- > 0;) {
        path_of(folders[i], path);
        rmdir(path);
    }
    rmdir(directory);
}

static void make_directory(void)
{
    char path[160];
    strcpy(directory,
           access("/dev/shm", W_OK) == 0 ? "/dev/shm/dpframe-fuzz-XXXXXX" : "/tmp/dpframe-fuzz-XXXXXX");
    PROMISE(mkdtemp(directory));
    for (size_t i = 0; i < N_FOLDERS; i++) {
        path_of(folders[i], path);
        PROMISE(mkdir(path, 0700) == 0);
    }
    atexit(clean_up);
}

static void write_file(const char *name, const uint8_t *bytes, size_t length)
{
    char path[160];
    path_of(name, path);
    FILE *stream = fopen(path, "wb");
    PROMISE(stream && fwrite(bytes, 1, length, stream) == length);
    PROMISE(fclose(stream) == 0);
}

static void use_text(char *text)
{
    PROMISE(text);
    free(text);
}

static struct plot *begin_plot(struct plot *plot)
{
    memset(plot, 0, sizeof *plot);
    return plot;
}

static void use(const struct outcomes *outcomes)
{
    struct noise_source *sources = NULL;
    static struct plot plot;
    use_text(outcome_tables_text(outcomes, SHEET_TEXT, 100));
    use_text(outcome_tables_text(outcomes, SHEET_MARKDOWN, 0));
    use_text(outcome_tables_text(outcomes, SHEET_LATEX, 0));
    use_text(outcome_tables_csv(outcomes));
    use_text(outcome_tables_results(outcomes));
    use_text(outcome_tables_timings(outcomes));
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        for (size_t m = 0; m < outcomes->n_metrics; m++) {
            plot_data_axis(outcomes, d, outcome_metric, outcomes->metrics[m], begin_plot(&plot));
            plot_free(&plot);
        }
    for (size_t m = 0; m < outcomes->n_metrics; m++) {
        plot_data_proved(outcomes, outcomes->metrics[m], begin_plot(&plot));
        plot_free(&plot);
    }
    plot_data_rounds(outcomes, begin_plot(&plot));
    plot_free(&plot);
    const size_t n = plot_data_noise_sources(outcomes, &sources);
    for (size_t i = 0; i < n; i++) {
        plot_data_noise(outcomes, &sources[i], begin_plot(&plot));
        plot_free(&plot);
    }
    free(sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcomes outcomes;
    struct dpf_error error = {0};
    if (!*directory)
        make_directory();
    for (size_t f = 0; f < N_FILES; f++) {
        size_t length;
        const uint8_t *part = fuzz_part(&data, &size, &length);
        write_file(files[f], part, length);
    }
    if (outcomes_read(directory, &outcomes, &error) == 0) {
        use(&outcomes);
        outcomes_free(&outcomes);
        return 0;
    }
    PROMISE(error.fault != DPF_FAULT_NONE && strlen(error.text) > 5);
    PROMISE(!outcomes.items && !outcomes.sweep);
    return 0;
}
