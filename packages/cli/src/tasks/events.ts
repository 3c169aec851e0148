// The commands made by hand of `moorage events`; what they do is loaded when they run.
import { Argument, Option, type Command } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { addOutputOptions, type OutputFlags } from "../output/output.ts";
import type { WatchFlags } from "./event-watch.ts";
import type { Tasks } from "./tasks.ts";
import { repeatable } from "./options.ts";

/** `watch` and `types`. */
export const EVENT_TASKS: Tasks = {
  names: ["watch", "types"],
  add(noun) {
    addWatch(noun);
    addTypes(noun);
  },
};

function addTypes(noun: Command): void {
  const command = noun
    .command("types")
    .description("list the types of events, without the prefix that an installation puts in front of them");
  addOutputOptions(command).action(async (flags: OutputFlags) => {
    const { printTypes } = await import("./event-types.ts");
    await printTypes(flags);
  });
}

function addWatch(noun: Command): void {
  const command = noun
    .command("watch")
    .description("print events as they happen, a line each, until Ctrl-C; goes on where it was after a lost connection")
    .addArgument(
      completes(
        new Argument("[group]", "acme/team; that of the context, or the only organization, if left out"),
        "group",
      ),
    )
    .addOption(repeatable("--type <type>", "only types that begin so, such as registry.push (repeatable)"))
    .addOption(
      completes(repeatable("--subject <repo>", "only what happens to this repo or group (repeatable)"), "repo"),
    )
    .option("--tagged-only", "of pushes and pulls only those by a tag")
    .option("--since <time>", "begin then: a date, a time, or how long ago, as 10m; with the next event unless given")
    .addOption(new Option("--cursor <cursor>", "go on after this cursor").conflicts("since"));
  addOutputOptions(addServerOptions(command)).action(async (group: string | undefined, flags: WatchFlags) => {
    const { watchEvents } = await import("./event-watch.ts");
    await watchEvents(group, flags);
  });
}
