// `moorage eol`: tags whose product is past its end of life, and the ends of life of a product.
import { Argument, type Command, Option } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { addOutputOptions } from "../output/output.ts";
import type { EolFlags } from "./eol-lists.ts";
import { addListOptions } from "./options.ts";

/** Adds `moorage eol`. */
export function addEol(program: Command): void {
  const command = program
    .command("eol")
    .description("list tags whose product is past its end of life; with --product when the releases of a product end")
    .addArgument(completes(new Argument("[place]", "only of this repo, or of this group and all below it"), "repo"))
    .option("--tag <name>", "only tags of this name")
    .option("--as-of <time>", "past their end of life then: a date or a time, also one to come")
    .addOption(
      new Option("--product <product>", "the releases of this product, such as nodejs or pkg:docker/library/node"),
    );
  addOutputOptions(addServerOptions(addListOptions(command))).action(
    async (place: string | undefined, flags: EolFlags) => {
      const { printEol } = await import("./eol-lists.ts");
      await printEol(place, flags);
    },
  );
}
