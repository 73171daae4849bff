// The source as text: lines and columns, and the directives that stand in it.
//
// A scan knows comments, strings and lines that a backslash continues, and nothing else of C. What is read of a
// directive is kept with
// places in the text, so every message can name a line and a column.
#ifndef TASKQC_TEXT_H
#define TASKQC_TEXT_H

#include <cstddef>
#include <string>
#include <vector>

struct Text {
    std::string name, all;
    std::vector<size_t> starts; // of lines

    Text(std::string name, std::string all);
    size_t line(size_t at) const;   // from 1
    size_t column(size_t at) const; // from 1
};

enum class Kind { parallel_taskq, taskq, task, ordered, critical, atomic, flush, other, other_alone };

struct Item { // of a clause's list, or an expression
    std::string text;
    size_t at;
};

struct Clause {
    std::string name;
    size_t at;
    std::string op; // of a reduction
    std::vector<Item> items;
};

struct Directive {
    Kind kind;
    std::string words; // "parallel taskq"
    std::string rest;  // its text behind the words, in one line
    bool intel;        // spelled `intel omp`
    size_t at, end;    // from '#' (or _Pragma) to before the line's end
    size_t name_at;    // of the first word behind omp
    std::vector<Clause> clauses;

    bool ours() const { return kind == Kind::parallel_taskq || kind == Kind::taskq || kind == Kind::task; }
    bool queue() const { return kind == Kind::parallel_taskq || kind == Kind::taskq; }
    const Clause *clause(const std::string &name) const;
};

struct Problem {
    size_t at;
    std::string what;
};

struct Scan {
    std::vector<Directive> directives;
    std::vector<size_t> boundaries; // between two things of the file's scope
    std::vector<size_t> defines;    // where a macro is defined or undefined
    std::vector<Problem> problems;
};

Scan scan(const Text &text);

// The first place from `at` that is neither white space nor comment.
size_t skip_blank(const std::string &s, size_t at);
bool is_name_char(char c);

#endif
