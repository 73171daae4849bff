// manycore [OPTIONS] PROGRAM.elf [ARGUMENTS...]
#include "base/text.h"
#include "cli/config_file.h"
#include "cli/output.h"
#include "cli/semihost.h"
#include "kernel/watched.h"
#include "program/elf.h"
#include "trace/gdb.h"
#include "trace/log.h"
#include "trace/stats.h"
#include "trace/watch.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <zlib.h>

namespace mc
{
namespace
{

constexpr int kFaulted = 70; // the exit status of a program that did what it must not (sysexits: EX_SOFTWARE)
constexpr int kUsage = 64;
constexpr int kInterrupted = 128 + SIGINT;

struct Options {
    std::vector<std::string> files, settings, program;
    std::string kernel = "run-ahead", trace, profile, log, stats_json, checkpoint, restore;
    std::optional<uint64_t> from, to, checkpoint_at;
    std::optional<int64_t> clusters, cores;
    unsigned hot = 8;
    int gdb = -1;
    bool stats = false, parameters = false;
};

// The first lines of --help: CLI11 does not know that the options stand before a program and its arguments.
struct Help : CLI::Formatter {
    Help() { column_width(25); }
    std::string make_description(const CLI::App *) const override { return ""; }
    std::string make_usage(const CLI::App *app, std::string) const override
    {
        return "Usage: manycore [OPTIONS] PROGRAM.elf [ARGUMENTS...]\n\n" + app->get_description() + "\n";
    }
};

void tell(const Machine &m, const Elf &elf, const Fault &f)
{
    if (f.core) {
        uint32_t pc = m.pc(*f.core);
        fprintf(stderr, "manycore: cycle %llu, core %u.%u, pc 0x%08x in %s: %s\n", (unsigned long long)m.clock.now - 1,
                f.core->cluster, f.core->local, pc, elf.place(pc).c_str(), f.text.c_str());
        return;
    }
    fprintf(stderr, "manycore: cycle %llu: %s\n", (unsigned long long)m.clock.now - 1, f.text.c_str());
    for (const Core &c : m.cores) {
        uint32_t pc = m.pc(c);
        std::string what = waits_for(c);
        fprintf(stderr, "  core %u.%u at 0x%08x in %s%s%s\n", c.cluster, c.local, pc, elf.place(pc).c_str(),
                what.empty() ? "" : " waits for ", what.c_str());
    }
}

Machine *running;
void (*second_interrupt)(int);

// The first Ctrl-C ends the run as run.limit does: each core says where it is. The second one ends this process.
void interrupt(int number)
{
    running->clock.interrupt();
    std::signal(number, second_interrupt);
}

void watch_interrupts(Machine &m)
{
    running = &m;
    second_interrupt = std::signal(SIGINT, interrupt);
    if (second_interrupt == SIG_IGN) // as a shell wants it for what runs in the background
        std::signal(SIGINT, SIG_IGN);
}

// The cycles that --trace, --profile and --log are for.
Window watched(const Options &o)
{
    bool watches = !o.trace.empty() || !o.profile.empty() || !o.log.empty();
    if (watches && o.gdb >= 0)
        throw ConfigError("--gdb goes with none of --trace, --profile and --log");
    if (!watches && (o.from || o.to))
        throw ConfigError(
            "--from and --to say which cycles --trace, --profile or --log is for; none of these is given");
    if (!o.checkpoint.empty() && (watches || o.gdb >= 0))
        throw ConfigError("--checkpoint goes with none of --gdb, --trace, --profile and --log");
    if (o.checkpoint_at.has_value() == o.checkpoint.empty())
        throw ConfigError("--checkpoint FILE and --checkpoint-at CYCLE go together");
    Window w;
    w.from = o.from.value_or(w.from);
    w.to = o.to.value_or(w.to);
    if (w.to < w.from)
        throw ConfigError(
            text("--to %llu is before --from %llu", (unsigned long long)w.to, (unsigned long long)w.from));
    return w;
}

// Two outputs in one file would overwrite each other.
void check_outputs(const Options &o)
{
    std::vector<std::string> names;
    for (const std::string *name : {&o.trace, &o.profile, &o.log, &o.stats_json, &o.checkpoint})
        if (!name->empty())
            names.push_back(*name);
    std::sort(names.begin(), names.end());
    if (auto same = std::adjacent_find(names.begin(), names.end()); same != names.end())
        throw ConfigError("two outputs are to be written to " + *same);
}

// What a checkpoint has beside the machine.
struct Outside : Companion {
    Outside(Semihost &s, Regions &r) : semihost(s), regions(r) {}
    Semihost &semihost;
    Regions &regions;
    void archive(Writer &a) override { a(semihost, regions); }
    void archive(Reader &a) override { a(semihost, regions); }
};

void restore(Machine &m, Companion &outside, const std::string &path)
{
    std::vector<uint8_t> bytes, buffer(65536);
    // (a file that is not compressed comes as it is)
    std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(path.c_str(), "r"), gzclose_r);
    // No machine's state is larger. (A file without end is refused as damaged.)
    const uint64_t most = m.config.l2_size + m.config.memory_size + m.config.tcdm_size * m.config.platform_clusters +
                          m.cores.size() * (uint64_t(1) << 20) + (uint64_t(1) << 26);
    for (int n; in && bytes.size() <= most && (n = gzread(in.get(), buffer.data(), unsigned(buffer.size()))) > 0;)
        bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + n);
    int status = Z_ERRNO;
    if (in)
        gzerror(in.get(), &status);
    if (status == Z_ERRNO)
        throw ConfigError(path + ": cannot be read: " + std::strerror(errno));
    in.reset();
    try {
        mc::restore(m, outside, bytes);
    } catch (const CheckpointError &e) {
        throw ConfigError(path + ": " + e.what());
    }
}

// The run up to the checkpoint's cycle, and the file.
void run_to_checkpoint(Machine &m, Companion &outside, const Options &o, Output &to)
{
    run_until(m, o.kernel == "lock-step", nullptr, std::max(*o.checkpoint_at, m.clock.now + 1));
    try {
        std::vector<uint8_t> bytes = checkpoint(m, outside);
        fwrite(bytes.data(), 1, bytes.size(), to.file());
    } catch (const CheckpointError &e) {
        throw ConfigError(o.checkpoint + ": " + e.what());
    }
    to.keep();
}

int run(const Options &o)
{
    Config config;
    for (const std::string &f : o.files)
        read_config(config, f);
    if (o.clusters)
        config.set("platform.clusters", *o.clusters);
    if (o.cores)
        config.set("platform.cores", *o.cores);
    for (const std::string &s : o.settings)
        config.set(s);
    config.check();
    Elf elf(o.program[0]);
    Machine m(config);
    m.hot = o.hot;
    m.translate = o.kernel != "threaded";
    elf.load(m);
    if (!m.put_arguments(o.program))
        throw ConfigError("the program's arguments take more than 64 KB");
    Semihost semihost;
    m.bus.semihost = [&](Core &c) { return semihost.call(m, c); };
    m.start(elf.entry());
    Regions regions(m);
    Outside outside{semihost, regions};
    if (!o.restore.empty())
        restore(m, outside, o.restore);
    const Window window = watched(o);
    if (o.checkpoint_at && *o.checkpoint_at < m.clock.now)
        throw ConfigError(text("--checkpoint-at %llu is before the restored run's cycle %llu",
                               (unsigned long long)*o.checkpoint_at, (unsigned long long)m.clock.now));
    if (o.to && *o.to < m.clock.now)
        throw ConfigError(text("--to %llu is before the restored run's cycle %llu", (unsigned long long)*o.to,
                               (unsigned long long)m.clock.now));
    check_outputs(o);
    Output trace(o.trace), profile(o.profile), log(o.log), json(o.stats_json), state(o.checkpoint);
    if (o.gdb < 0)
        watch_interrupts(m);
    Watchers watchers;
    std::optional<Watch> watch;
    if (trace.file() || profile.file())
        watchers.all.push_back(&watch.emplace(m, elf, trace.file(), profile.file()));
    std::optional<Log> lines;
    if (log.file())
        watchers.all.push_back(&lines.emplace(m, log.file()));
    std::unique_ptr<Gdb> gdb;
    if (o.gdb >= 0)
        watchers.all.push_back((gdb = std::make_unique<Gdb>(m, o.gdb)).get());
    int code = 0;
    auto processor = [] { // this process's own time: other programs beside it do not count
        timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return double(t.tv_sec) + double(t.tv_nsec) / 1e9;
    };
    double begin = processor();
    try {
        if (state.file())
            run_to_checkpoint(m, outside, o, state);
        run_watched(m, o.kernel == "lock-step",
                    watchers.all.size() == 1 ? watchers.all[0]
                    : watchers.all.empty()   ? nullptr
                                             : &watchers,
                    window);
    } catch (const Exit &e) {
        semihost.flush();
        code = e.code;
        if (gdb)
            gdb->ended(code);
    } catch (const Fault &f) {
        semihost.flush();
        tell(m, elf, f);
        if (gdb)
            gdb->faulted(f.core);
        code = m.clock.interrupted() ? kInterrupted : kFaulted;
    }
    double seconds = processor() - begin;
    if (state.file())
        fprintf(stderr, "manycore: %s: not written, since the run ended in cycle %llu\n", o.checkpoint.c_str(),
                (unsigned long long)m.clock.now);
    if (m.clock.now < window.from)
        fprintf(stderr, "manycore: the run ended in cycle %llu, before --from %llu: nothing was watched\n",
                (unsigned long long)m.clock.now, (unsigned long long)window.from);
    regions.end();
    if (o.stats)
        print_stats(m, regions, seconds, stderr);
    if (json.file())
        print_json(m, regions, o.program, json.file());
    for (Output *out : {&trace, &profile, &log, &json})
        out->keep();
    return code;
}

int start(int argc, char **argv)
{
    Options o;
    CLI::App app("Runs an RV32IMAFC program on a cluster-based manycore and counts its cycles.", "manycore");
    CLI::Validator named([](std::string &s) { return s.empty() ? "a value is missing" : ""; }, "", "");
    app.formatter(std::make_shared<Help>());
    app.set_help_flag("-h,--help", "print this");
    app.set_version_flag("--version", "manycore (psthreads) " PS_VERSION, "print the version");
    app.add_option("--clusters", o.clusters, "clusters, 1 to 64 (platform.clusters)")->check(named)->option_text("N");
    app.add_option("--cores", o.cores, "cores of a cluster, 1 to 16 (platform.cores)")->check(named)->option_text("N");
    app.add_option("--config", o.files, "parameters from a TOML file")->allow_extra_args(false)->option_text("FILE");
    app.add_option("--set", o.settings, "one parameter: section.name=value")
        ->allow_extra_args(false)
        ->option_text("SETTING");
    app.add_option("--kernel", o.kernel,
                   "run-ahead; threaded: the same without translation; lock-step: the oracle, slower")
        ->check(CLI::IsMember({"run-ahead", "threaded", "lock-step"}))
        ->option_text("KERNEL");
    app.add_option("--hot", o.hot, "how often code is met before it is translated, 1 to 200 (changes no counter)")
        ->check(CLI::Range(1, 200))
        ->option_text("N");
    app.add_flag("--stats", o.stats, "print the counters on standard error at the end");
    app.add_option("--stats-json", o.stats_json, "write them to a file")->check(named)->option_text("FILE");
    app.add_option("--trace", o.trace, "write a timeline for Perfetto")->check(named)->option_text("FILE");
    app.add_option("--profile", o.profile, "write folded stacks, in cycles, for a flame graph")
        ->check(named)
        ->option_text("FILE");
    app.add_option("--log", o.log, "write a line for each instruction")->check(named)->option_text("FILE");
    auto cycle = CLI::Range(uint64_t(1), ~uint64_t(0) >> 1);
    app.add_option("--from", o.from, "the first cycle of --trace, --profile and --log")
        ->check(cycle)
        ->option_text("CYCLE");
    app.add_option("--to", o.to, "the last one; outside of both the run has its full speed")
        ->check(cycle)
        ->option_text("CYCLE");
    app.add_option("--checkpoint", o.checkpoint, "write the run's state to a file, and go on")
        ->check(named)
        ->option_text("FILE");
    app.add_option("--checkpoint-at", o.checkpoint_at, "the cycle before which that is done")
        ->check(cycle)
        ->option_text("CYCLE");
    app.add_option("--restore", o.restore,
                   "go on from such a file, of the same program and parameters; its arguments count")
        ->check(named)
        ->option_text("FILE");
    app.add_option("--gdb", o.gdb, "wait for gdb on this TCP port of the local machine (0: any; it is printed)")
        ->check(CLI::Range(0, 65535))
        ->option_text("PORT");
    app.add_flag("--parameters", o.parameters, "print every parameter with default and range");
    app.footer("Exit status: the program's; 70 the program did what it must not, and one line says what and where;\n"
               "64 the command line, a configuration or the program's file is wrong; 130 it was interrupted.");
    app.prefix_command();
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &e) { // --help, --version
        return app.exit(e);
    } catch (const CLI::ParseError &e) {
        fprintf(stderr, "manycore: %s (--help says more)\n", e.what());
        return kUsage;
    }
    if (o.parameters) {
        fputs(Config::table().c_str(), stdout);
        return 0;
    }
    o.program = app.remaining();
    if (o.program.empty() || o.program[0].starts_with("--")) {
        fprintf(stderr, "manycore: %s (--help says more)\n",
                o.program.empty() ? "no program given" : ("no option " + o.program[0]).c_str());
        return kUsage;
    }
    try {
        return run(o);
    } catch (const ConfigError &e) {
        fprintf(stderr, "manycore: %s\n", e.what());
    } catch (const ElfError &e) {
        fprintf(stderr, "manycore: %s\n", e.what());
    }
    return kUsage;
}

} // namespace
} // namespace mc

int main(int argc, char **argv) { return mc::start(argc, argv); }
