// psthreads-taskqc: a C compiler for programs with the workqueueing directives; or, with --translate, only their
// translator.
//
// Each C file that has directives is translated into a temporary folder and compiled from there; everything else goes
// to the compiler as it is given. docs/taskqc.md says what the directives mean.
#include "command.h"
#include "files.h"
#include "translate.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <set>
#include <unistd.h>

namespace fs = std::filesystem;
using std::string;
using namespace taskqc;

namespace
{

// As make has it.
string for_make(const string &name)
{
    string all;
    for (char c : name)
        all += c == ' ' || c == '#' ? string("\\") + c : c == '$' ? "$$" : string(1, c);
    return all;
}

// The compiler names the temporary file in the dependences: make wants the source. Where the dependences go depends on
// the compiler: every file that it may have written is looked at.
void mend_dependences(const Settings &s, const std::vector<std::pair<string, string>> &temporary)
{
    std::set<string> names;
    if (!s.dependences.empty())
        names.insert(s.dependences);
    for (auto &[file, source] : temporary) {
        fs::path base = fs::path(source).filename().replace_extension(".d"), out = s.out;
        names.insert(base.string());
        names.insert((fs::path("a-") += base).string()); // linked into a.out
        if (!s.out.empty()) {
            names.insert(fs::path(out).replace_extension(".d").string());
            names.insert((fs::path(out).replace_extension("") += fs::path("-") += base).string());
            names.insert((out.parent_path() / base).string());
        }
    }
    for (const string &name : names) {
        string all, was;
        if (!read_file(name, all))
            continue;
        was = all;
        for (auto &[file, source] : temporary)
            for (size_t at = 0; (at = all.find(for_make(file), at)) != string::npos; at += for_make(source).size())
                all.replace(at, for_make(file).size(), for_make(source));
        if (all != was)
            write_file(name, all);
    }
}

int only_translate(const Settings &s)
{
    if (s.inputs.size() != 1)
        wrong("--translate needs one C file, and " + std::to_string(s.inputs.size()) + " are given");
    string result;
    Folder folder;
    if (translate(s, folder.path, s.words[s.inputs[0]], result) < 0)
        return 1;
    if (s.out.empty() || s.out == "-") {
        std::cout << result << std::flush;
        if (!std::cout) {
            std::cerr << "psthreads-taskqc: standard output: " << strerror(errno) << "\n";
            return 1;
        }
        return 0;
    }
    std::error_code none;
    if (fs::exists(s.out, none) && !fs::is_regular_file(s.out, none)) { // a device, a pipe: no file takes its place
        if (write_file(s.out, result))
            return 0;
        std::cerr << "psthreads-taskqc: " << s.out << ": " << strerror(errno) << "\n";
        return 1;
    }
    fs::path out = fs::canonical(s.out, none); // a link stays one
    if (none)
        out = s.out;
    string unready = out.string() + ".part";
    snprintf(unfinished, sizeof unfinished, "%s", unready.c_str());
    if (!write_file(unready, result) || rename(unready.c_str(), out.c_str()) != 0) {
        std::cerr << "psthreads-taskqc: " << s.out << ": " << strerror(errno) << "\n";
        unlink(unready.c_str());
        return 1;
    }
    unfinished[0] = '\0';
    return 0;
}

int compile(Settings s)
{
    Folder folder;
    Strings command = {s.compiler};
    std::vector<std::pair<string, string>> temporary;
    std::vector<std::pair<size_t, string>> replaced;
    bool failed = false;
    for (size_t k = 0; k < s.inputs.size() && !s.only_dependences; k++) {
        const string &name = s.words[s.inputs[k]];
        string result;
        int done = translate(s, folder.path, name, result);
        failed = failed || done < 0;
        if (done <= 0)
            continue;
        fs::path place = folder.path / std::to_string(k);
        fs::create_directory(place);
        place /= fs::path(name).filename();
        if (!write_file(place, result)) {
            std::cerr << "psthreads-taskqc: " << place.string() << ": " << strerror(errno) << "\n";
            return 1;
        }
        replaced.push_back({s.inputs[k], place.string()});
        temporary.push_back({place.string(), name});
    }
    if (failed)
        return 1;
    for (auto &[at, place] : replaced) {
        string from = fs::path(s.words[at]).parent_path().string();
        command.push_back("-iquote");
        command.push_back(from.empty() ? "." : from);
        s.words[at] = place;
    }
    command.insert(command.end(), s.words.begin(), s.words.end());
    if (s.openmp)
        command.push_back("-fopenmp");
    else
        command.insert(command.end(), {"-I", include_folder()});
    bool links = !s.stop_at_objects && !s.only_dependences &&
                 std::any_of(s.words.begin(), s.words.end(), [](const string &w) { return !w.empty() && w[0] != '-'; });
    if (links && !s.openmp) {
        string library = library_folder();
        command.insert(command.end(), {"-L" + library, "-Wl,-rpath," + library, "-lpsthreads", "-pthread"});
    }
    int status = run(command);
    if (s.wants_dependences && !temporary.empty())
        mend_dependences(s, temporary);
    return status;
}

} // namespace

int main(int argc, char **argv)
{
    for (int number : {SIGINT, SIGTERM, SIGHUP})
        signal(number, on_signal);
    Settings s = read_command(argc, argv);
    return s.translate ? only_translate(s) : compile(std::move(s));
}
