// The source as text: lines and columns, and the directives that stand in it.
//
// A scan knows comments, strings and lines that a backslash continues, and nothing else of C. What is read of a
// directive is kept with places in the text, so every message can name a line and a column.
#ifndef TASKQC_TEXT_H
#define TASKQC_TEXT_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct Text {
    struct Change { // [at, end) of this text stands where [was_at, was_end) of the text before it stood
        size_t at, end, was_at, was_end;
    };
    struct Naming { // from this line of the file on, the compiler counts from `line` in `name` (#line)
        size_t from, line;
        std::string name;
    };
    std::string name, all;
    std::vector<size_t> starts; // of lines
    std::vector<Naming> namings;

    Text(std::string name, std::string all);
    // The same with macros expanded, line by line: columns are those of the text before.
    Text(std::shared_ptr<const Text> before, std::string all, std::vector<Change> changes);
    size_t line(size_t at) const;   // from 1, in the file
    size_t column(size_t at) const; // from 1
    // As the compiler names the line.
    std::string shown_name(size_t at) const;
    size_t shown_line(size_t at) const;

  private:
    std::shared_ptr<const Text> before;
    std::vector<Change> changes;
    const Naming *naming(size_t line) const;
};

enum class Kind { parallel_taskq, taskq, task, ordered, critical, atomic, flush, other, other_alone };

struct Item { // of a clause's list, or an expression
    std::string text;
    size_t at, end;
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
    bool in_string;    // by _Pragma
    std::vector<Clause> clauses;

    bool ours() const { return kind == Kind::parallel_taskq || kind == Kind::taskq || kind == Kind::task; }
    bool queue() const { return kind == Kind::parallel_taskq || kind == Kind::taskq; }
    const Clause *clause(const std::string &name) const;
};

struct Problem {
    size_t at;
    std::string what;
};

struct Range {
    size_t at, end;
};

struct Conditional { // #if to #endif
    std::vector<Range> lines;
};

struct Scan {
    std::vector<Directive> directives;
    std::vector<Range> lines; // of the preprocessor
    std::vector<Conditional> conditionals;
    std::vector<size_t> boundaries; // between two things of the file's scope
    std::vector<size_t> defines;    // where a macro is defined or undefined
    std::vector<Problem> problems;
};

Scan scan(const Text &text);

// The first place from `at` that is neither white space nor comment.
size_t skip_blank(const std::string &s, size_t at);
bool is_name_char(char c);
// Behind the string or character that begins at `at`.
size_t behind_literal(const std::string &s, size_t at);

#endif
