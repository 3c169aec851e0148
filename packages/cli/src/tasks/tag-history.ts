// `moorage tags history`: what a tag pointed to, since when, by whom and why.
import { movesPath } from "../api/image-digest.ts";
import { textIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { timeOfFlag } from "../api/time-flags.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import type { Color } from "../output/color.ts";
import type { Listing } from "../output/listing.ts";
import { type ListFlags, printOrWatch, sizesOf } from "./lists.ts";
import { openSession } from "./session.ts";

export interface HistoryFlags extends ListFlags {
  since?: string;
  until?: string;
}

const COLORS: Readonly<Record<string, Color>> = {
  delete: "red",
  retention: "red",
  rollback: "yellow",
  promote: "green",
};

const MOVES: Listing = {
  field: "moves",
  columns: [
    { header: "WHEN", kind: "time", value: (move) => textIn(move, "time") },
    { header: "WHY", value: whyOf, color: (move) => COLORS[textIn(move, "reason")] },
    { header: "FROM", kind: "digest", value: (move) => textIn(move, "previousDigest") },
    { header: "TO", kind: "digest", value: (move) => textIn(move, "digest") },
    {
      header: "WHO",
      kind: "path",
      flexible: true,
      value: (move, pathOf) => {
        const actor = textIn(move, "actor");
        return actor === "" ? "" : pathOf(actor, "identity");
      },
    },
  ],
  nameOf: (move) => textIn(move, "time"),
  idOf: (move) => textIn(move, "digest"),
};

/** Why the tag moved. What was imported is the word of who imported it, its time included. */
function whyOf(move: JsonObject): string {
  const reason = textIn(move, "reason");
  return reason === "import" ? "import (a claim)" : reason;
}

/** Prints the moves of a tag, newest first. A tag that was deleted has its history as well. */
export async function printHistory(reference: string, flags: HistoryFlags): Promise<void> {
  const session = await openSession(flags);
  const { repo, name, tag, digest, timeMs } = await session.names.imageOf(reference);
  if (digest !== undefined) throw new UsageFailure(`${reference}: a digest has no history: name a tag, as ${name}:1.2`);
  if (tag === undefined) throw new UsageFailure(`${reference}: name a tag, as ${name}:latest`);
  if (timeMs !== undefined && flags.until !== undefined)
    throw new UsageFailure(`${reference}: names a time, and so does --until`);
  const since = flags.since === undefined ? undefined : timeOfFlag("--since", flags.since).firstMs;
  const until = flags.until === undefined ? timeMs : timeOfFlag("--until", flags.until).lastMs;
  if (since !== undefined && until !== undefined && since > until)
    throw new UsageFailure("--since: must not be later than --until");
  const query = {
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(until !== undefined && { before: new Date(until + 1).toISOString() }),
  };
  const load = async function* (): AsyncGenerator<JsonObject> {
    let any = since !== undefined || until !== undefined;
    for await (const move of session.rest.list(movesPath(repo, tag), "moves", { query, ...sizesOf(flags) })) {
      any = true;
      yield move;
    }
    if (!any)
      throw new Failure(`there never was a tag ${name}:${tag}`, {
        exit: EXIT.notFound,
        hint: `see those there are: moorage images list ${name}`,
      });
  };
  await printOrWatch(load, MOVES, flags, { pathOf: session.names.pathOf });
}
