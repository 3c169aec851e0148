// `moorage feeds add` with the names of presets, on the installation of this machine.
import type { Config } from "@moorage/server";
import { coverageText, dueText, importedText } from "./feed-lines.ts";
import { acceptedOf } from "./feed-plan.ts";
import { viewOfRow } from "./feed-view.ts";
import { printable } from "./printable.ts";

/** What takes the place of what the presets say. */
export interface OtherPlace {
  address: string | undefined;
  /** A duration. */
  interval: string | undefined;
}

/**
 * Adds the presets that the words mean, fetches them, and says what is covered then. Throws a UsageFailure without a
 * terminal and without `yes`, before anything is added.
 */
export async function addPresets(
  config: Config,
  words: readonly string[],
  { address, interval }: OtherPlace,
  { yes, signal }: { yes: boolean; signal: AbortSignal },
): Promise<void> {
  const { withFeeds } = await import("@moorage/server");
  const other = { ...(address !== undefined && { address }), ...(interval !== undefined && { interval }) };
  const planned = (await withFeeds(config, (admin) => admin.plan(words, other))).map((each) => {
    const { name, address: from, licence, intervalMs } = each.definition;
    const { title, covers } = each.preset;
    return { name, title, covers, licence, intervalMs, address: from, isThere: each.isThere, plan: each };
  });
  const missing = await acceptedOf(planned, { yes });
  if (missing.length === 0) return;
  await withFeeds(config, async (admin) => {
    const added = await admin.addPlanned(missing.map(({ plan }) => plan));
    console.log(`added ${added.join(", ")}`);
    for (const name of added) {
      console.error(`fetching ${name} …`);
      await admin.update([name], { signal }, (feed, outcome) => {
        if (outcome instanceof Error) {
          console.error(printable(`moorage: ${feed}: ${outcome.message}`));
          process.exitCode = 1;
        } else console.log(outcome === "unchanged" ? `${feed}: not changed` : importedText(outcome));
      });
      const listed = (await admin.list()).find((feed) => feed.name === name);
      if (listed === undefined) continue;
      const view = viewOfRow(listed);
      console.log(`  covers: ${coverageText(view)}`);
      console.log(`  next update: ${dueText(view)}`);
    }
  });
}
