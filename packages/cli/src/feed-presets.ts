// `moorage feeds add` with the names of presets: what is to be fetched is shown, and somebody says yes before it is.
import type { Config, PlannedFeed } from "@moorage/server";
import { coverageText, dueText, importedText, intervalText } from "./feed-lines.ts";
import { plain, printable } from "./printable.ts";
import { confirm } from "./terminal/confirm.ts";

/** What takes the place of what the presets say. */
interface Other {
  address: string | undefined;
  interval: string | undefined;
}

/**
 * Adds the presets that the words mean, fetches them, and says what is covered then. Throws a UsageFailure without a
 * terminal and without `yes`, before anything is added.
 */
export async function addPresets(
  config: Config,
  words: readonly string[],
  { address, interval }: Other,
  { yes, signal }: { yes: boolean; signal: AbortSignal },
): Promise<void> {
  const { withFeeds } = await import("@moorage/server");
  const other = { ...(address !== undefined && { address }), ...(interval !== undefined && { interval }) };
  const planned = await withFeeds(config, (admin) => admin.plan(words, other));
  for (const each of planned) for (const line of planLines(each)) console.log(line);
  const missing = planned.filter(({ isThere }) => !isThere);
  if (missing.length === 0) return;
  const hosts = [...new Set(missing.map(({ definition }) => new URL(definition.address).host))];
  const names = missing.map(({ definition }) => definition.name).join(", ");
  if (!(await confirm(`Adds ${names}, and fetches from ${hosts.join(", ")} from now on.`, { yes }))) return;
  await withFeeds(config, async (admin) => {
    const added = await admin.addPlanned(missing);
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
      console.log(`  covers: ${coverageText(listed)}`);
      console.log(`  next update: ${dueText(listed)}`);
    }
  });
}

function planLines({ preset, definition, isThere }: PlannedFeed): string[] {
  const { name, address, licence, intervalMs } = definition;
  if (isThere) return [`${name}: is there already`];
  return [
    `${name}: ${preset.title}`,
    `  covers: ${preset.covers}`,
    `  from: ${plain(address)}, every ${intervalText(intervalMs)}`,
    `  license: ${plain(licence)}`,
  ];
}
