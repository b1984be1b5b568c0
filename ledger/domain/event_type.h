#pragma once

#include <string_view>

namespace holdfast {

// Whether it is the word for a type of event, as type_name() gives it.
bool is_type_name(std::string_view name);

}  // namespace holdfast
