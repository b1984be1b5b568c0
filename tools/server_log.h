#pragma once

#include <string>

namespace holdfast::tools {

// Sets up spdlog's default logger: lines on standard error, in UTC; `json`: each an object with
// time, level and message.
void set_up_log(const std::string& level, bool json);

}  // namespace holdfast::tools
