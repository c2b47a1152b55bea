// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Field numbers are those of wandb_internal.proto.
#include "core/ingest/stores/wandbmessage.h"

#include <protozero/pbf_reader.hpp>

namespace nanscope::ingest {

namespace {

using Wire = protozero::pbf_wire_type;
using Item = WandbMessage::Item;

constexpr std::uint32_t number(std::uint32_t field)
{
    return protozero::tag_and_type(field, Wire::varint);
}

constexpr std::uint32_t bytes(std::uint32_t field)
{
    return protozero::tag_and_type(field, Wire::length_delimited);
}

std::string_view textIn(protozero::pbf_reader& reader)
{
    const auto view = reader.get_view();
    return {view.data(), view.size()};
}

/// Of a history, a configuration or a summary.
Item itemIn(protozero::pbf_reader item)
{
    Item result;
    while (item.next()) {
        switch (item.tag_and_type()) {
        case bytes(1):
        case bytes(2):
            result.path.push_back(textIn(item));
            break;
        case bytes(16):
            result.json = textIn(item);
            break;
        default:
            item.skip();
        }
    }
    return result;
}

void addItem(protozero::pbf_reader& from, std::vector<Item>& items)
{
    if (auto item = itemIn(from.get_message()); !item.path.empty() && !item.json.empty()) {
        items.push_back(std::move(item));
    }
}

void readHistory(protozero::pbf_reader history, WandbMessage& message)
{
    while (history.next()) {
        if (history.tag_and_type() == bytes(1)) {
            addItem(history, message.history);
        } else if (history.tag_and_type() == bytes(2)) {
            message.step = 0; // a step of 0 is left out, as protobuf has it
            for (auto step = history.get_message(); step.next(1, Wire::varint);) {
                message.step = step.get_int64();
            }
        } else {
            history.skip();
        }
    }
}

void readConfig(protozero::pbf_reader config, WandbMessage& message)
{
    while (config.next(1, Wire::length_delimited)) {
        addItem(config, message.config);
    }
}

void readOutput(protozero::pbf_reader output, WandbMessage& message)
{
    message.stream = WandbMessage::Stream::errors;
    while (output.next()) {
        if (output.tag_and_type() == number(1)) {
            message.stream = output.get_enum() == 0 ? WandbMessage::Stream::errors : WandbMessage::Stream::output;
        } else if (output.tag_and_type() == bytes(3)) {
            message.text = textIn(output);
        } else {
            output.skip();
        }
    }
}

void readCommit(protozero::pbf_reader repository, WandbMessage& message)
{
    while (repository.next(2, Wire::length_delimited)) {
        message.facts.emplace_back("git.commit", textIn(repository));
    }
}

/// Neither the machine's name nor the user's: nobody needs them.
void readRun(protozero::pbf_reader run, WandbMessage& message)
{
    while (run.next()) {
        switch (run.tag_and_type()) {
        case bytes(1):
            message.facts.emplace_back("wandb.run_id", textIn(run));
            break;
        case bytes(3):
            message.facts.emplace_back("wandb.project", textIn(run));
            break;
        case bytes(4):
            readConfig(run.get_message(), message);
            break;
        case bytes(6):
            message.facts.emplace_back("wandb.group", textIn(run));
            break;
        case bytes(8):
            message.facts.emplace_back("wandb.run_name", textIn(run));
            break;
        case bytes(21):
            readCommit(run.get_message(), message);
            break;
        default:
            run.skip();
        }
    }
}

void readEnvironment(protozero::pbf_reader environment, WandbMessage& message)
{
    while (environment.next()) {
        switch (environment.tag_and_type()) {
        case bytes(2):
            message.facts.emplace_back("python.version", textIn(environment));
            break;
        case bytes(9):
            readCommit(environment.get_message(), message);
            break;
        case bytes(18):
            message.facts.emplace_back("gpu.name", textIn(environment));
            break;
        default:
            environment.skip();
        }
    }
}

void readMetric(protozero::pbf_reader metric, WandbMessage& message)
{
    while (metric.next(4, Wire::length_delimited)) {
        message.stepMetric = textIn(metric);
    }
}

/// An exit code of 0 is left out, too.
void readExit(protozero::pbf_reader exit, WandbMessage& message)
{
    message.exitCode = 0;
    while (exit.next(1, Wire::varint)) {
        message.exitCode = exit.get_int32();
    }
}

} // namespace

WandbMessage wandbMessage(std::string_view record)
{
    WandbMessage message;
    protozero::pbf_reader reader(record.data(), record.size());
    while (reader.next()) {
        switch (reader.tag_and_type()) {
        case bytes(2):
            readHistory(reader.get_message(), message);
            break;
        case bytes(5):
            readConfig(reader.get_message(), message);
            break;
        case bytes(4):
        case bytes(13):
            readOutput(reader.get_message(), message);
            break;
        case bytes(12):
            readMetric(reader.get_message(), message);
            break;
        case bytes(17):
            readRun(reader.get_message(), message);
            break;
        case bytes(18):
            readExit(reader.get_message(), message);
            break;
        case bytes(26):
            readEnvironment(reader.get_message(), message);
            break;
        default:
            reader.skip();
        }
    }
    return message;
}

} // namespace nanscope::ingest
