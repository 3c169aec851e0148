// The commands made by hand of `moorage tags`; each loads what it does when it runs.
import { Argument, type Command } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { addOutputOptions } from "../output/output.ts";
import type { Tasks } from "./tasks.ts";
import { addListOptions } from "./options.ts";
import type { TaskFlags } from "./session.ts";
import type { DiffFlags } from "./tag-diff.ts";
import type { HistoryFlags } from "./tag-history.ts";
import type { MoveFlags } from "./tag-moves.ts";

const IMAGE = "such as acme/app:1.2";

/** `history`, `diff`, `promote`, `rollback` and `resolve`. */
export const TAG_TASKS: Tasks = {
  names: ["history", "list-moves", "moves", "diff", "promote", "rollback", "resolve"],
  add(noun) {
    addHistory(noun);
    addDiff(noun);
    addMoves(noun);
    addResolve(noun);
  },
};

function image(name: string, description: string): Argument {
  return completes(new Argument(name, description), "image");
}

function addHistory(noun: Command): void {
  const command = noun
    .command("history")
    .alias("list-moves")
    .description("show what a tag pointed to, since when, by whom and why; newest first, deleted tags too")
    .addArgument(image("<image:tag>", IMAGE))
    .option("--since <time>", "only moves since then: a date, a time, or how long ago, as 7d")
    .option("--until <time>", "only moves until then; a date includes its day");
  addOutputOptions(addServerOptions(addListOptions(command))).action(async (reference: string, flags: HistoryFlags) => {
    const { printHistory } = await import("./tag-history.ts");
    await printHistory(reference, flags);
  });
}

function addDiff(noun: Command): void {
  const command = noun
    .command("diff")
    .description(
      "show what differs between two images of a repo: packages, findings, configuration, layers; with one tag, between what it is and what it was before",
    )
    .addArgument(image("<image>", "acme/app:1.2, acme/app@sha256:… or acme/app:1.2@2026-01-31"))
    .addArgument(image("[other]", "the second image; of the same repo also :1.3, @sha256:… or @2026-01-31"))
    .option("--markdown", "print Markdown, for a comment on a change");
  addOutputOptions(addServerOptions(command)).action(
    async (one: string, other: string | undefined, flags: DiffFlags) => {
      const { printDiff } = await import("./tag-diff.ts");
      await printDiff(one, other, flags);
    },
  );
}

function addMoves(noun: Command): void {
  const promotion = noun
    .command("promote")
    .description("make tags point to what another one points to, all of them or none; shown before it is done")
    .addArgument(image("<image>", "whose digest they get: acme/app:build-7, or with @sha256:… or @2026-01-31"))
    .argument("<tags...>", "the tags of the same repo that are moved or made, such as stable");
  addMoveOptions(promotion).action(async (from: string, targets: string[], flags: MoveFlags) => {
    const { promote } = await import("./tag-moves.ts");
    await promote(from, targets, flags);
  });
  const back = noun
    .command("rollback")
    .description("move tags back to what they pointed to before, all of them or none; shown before it is done")
    .addArgument(image("<image:tag>", `${IMAGE}; with @2026-01-31 to what it was then`))
    .argument("[tags...]", "more tags of the same repo")
    .option("--to <digest|time>", "a digest that they once pointed to, or a time");
  addMoveOptions(back).action(async (first: string, others: string[], flags: MoveFlags & { to?: string }) => {
    const { rollback } = await import("./tag-moves.ts");
    await rollback(first, others, flags);
  });
}

function addMoveOptions(command: Command): Command {
  return addOutputOptions(
    addServerOptions(
      command
        .option("--dry-run", "show what would be moved, and move nothing")
        .option("-y, --yes", "do not ask before it is done"),
    ),
  );
}

function addResolve(noun: Command): void {
  const command = noun
    .command("resolve")
    .description("print images pinned by their digests, as they are now or were at a time")
    .addArgument(image("<images...>", "such as acme/app:1.2 or acme/app:1.2@2026-01-31T08:30Z"));
  addOutputOptions(addServerOptions(command)).action(async (references: string[], flags: TaskFlags) => {
    const { resolveImages } = await import("./tag-resolve.ts");
    await resolveImages(references, flags);
  });
}
