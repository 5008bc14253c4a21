// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend_list.hpp>
#include <hal/device.hpp>

#include <nlohmann/json.hpp>
#include <string>

/// HAL's answers as JSON. The texts for people are drawn from the same documents, so that the two
/// never disagree. docs/halinfo.md describes the keys.
namespace halinfo {

using Json = nlohmann::ordered_json;

/// An object with what every document begins with.
[[nodiscard]] Json new_document();
[[nodiscard]] Json to_json(const hal::Backend& backend);
[[nodiscard]] Json to_json(const hal::DeviceSummary& device);

/// The document as text with a line end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_text(const Json& document);

}  // namespace halinfo
