// `moorage search`: images by what a person remembers of them.
import { Argument, type Command, Option } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { addOutputOptions } from "../output/output.ts";
import { addListOptions } from "./options.ts";
import type { SearchFlags } from "./search-results.ts";

/** Adds `moorage search`. */
export function addSearch(program: Command): void {
  const command = program
    .command("search")
    .description("find repos by a part of their path, tags by a part of their name, digests, and labels")
    .addArgument(completes(new Argument("<text>", "2 to 200 characters; key=value for a label"), "none"))
    .addOption(completes(new Option("--in <group>", "only there and in all groups below"), "group"))
    .addOption(new Option("--kind <kind...>", "only these").choices(["repo", "tag", "digest", "label"]));
  addOutputOptions(addServerOptions(addListOptions(command))).action(async (text: string, flags: SearchFlags) => {
    const { printResults } = await import("./search-results.ts");
    await printResults(text, flags);
  });
}
