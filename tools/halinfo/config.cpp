// SPDX-License-Identifier: Apache-2.0
#include <hal/config.hpp>

#include <string>
#include <vector>

#include "commands.hpp"
#include "document.hpp"
#include "layout.hpp"
#include "output.hpp"

namespace halinfo {

namespace {

using hal::config::Variable;

Json document_of(const std::vector<Variable>& variables, const std::vector<std::string>& unknown) {
  Json document = new_document();
  Json& list = document["variables"] = Json::array();
  for (const Variable& variable : variables) {
    list.push_back({{"name", variable.name},
                    {"type", hal::config::name(variable.type)},
                    {"value", variable.value},
                    {"default", variable.default_value},
                    {"origin", hal::config::name(variable.origin)},
                    {"valid", variable.problem.empty()},
                    {"problem", variable.problem},
                    {"accepts", variable.accepts},
                    {"description", variable.description}});
  }
  document["unknown_variables"] = unknown;
  return document;
}

std::string shown(const std::string& value) { return value.empty() ? "(empty)" : printable(value); }

std::string text_of(const std::vector<Variable>& variables,
                    const std::vector<std::string>& unknown) {
  constexpr std::size_t indent = 4;
  constexpr std::size_t label_columns = 10;
  Page page(screen());
  for (const Variable& variable : variables) {
    const bool valid = variable.problem.empty();
    page.heading(variable.name + " = " + shown(variable.value));
    if (!valid)
      page.paragraph(indent, "PROBLEM", label_columns, printable(variable.problem), Colour::red);
    page.paragraph(indent, {}, 0, variable.description);
    page.paragraph(indent, "accepts", label_columns, variable.accepts);
    page.paragraph(indent, "default", label_columns, shown(variable.default_value));
    page.paragraph(indent, "origin", label_columns, hal::config::name(variable.origin));
  }
  for (const std::string& name : unknown) {
    page.paragraph(0, {}, 0,
                   printable(name) + " is set, but is no variable of this version: is it misspelt?",
                   Colour::yellow);
  }
  return page.text();
}

}  // namespace

int run_config(const Options& options) {
  const std::vector<Variable> variables = hal::config::variables();
  const std::vector<std::string> unknown = hal::config::unknown_variables();
  emit(options.json ? to_text(document_of(variables, unknown)) : text_of(variables, unknown));
  int status = 0;
  for (const Variable& variable : variables) {
    if (variable.problem.empty()) continue;
    complain(variable.problem);
    status = 1;
  }
  return status;
}

}  // namespace halinfo
