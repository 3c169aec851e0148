// What is to be fetched is shown, and somebody says yes before it is.
import { intervalText } from "./feed-lines.ts";
import { plain } from "./printable.ts";
import { confirm } from "./terminal/confirm.ts";

/** A feed that is to be added. */
export interface PlannedFeedView {
  name: string;
  /** Empty for a feed of one's own. */
  title: string;
  /** What it says something about, in one line. Empty where that is not known before it was fetched. */
  covers: string;
  address: string;
  intervalMs: number;
  licence: string;
  /** A feed with its name is there: it is left as it is. */
  isThere: boolean;
}

/**
 * Prints the plan and asks whether to fetch what is missing. Returns what to add: nothing where all is there, or nobody
 * wants it. Throws a UsageFailure without a terminal and without `yes`.
 */
export async function acceptedOf<Planned extends PlannedFeedView>(
  planned: readonly Planned[],
  { yes }: { yes: boolean },
): Promise<Planned[]> {
  for (const each of planned) for (const line of planLines(each)) console.log(line);
  const missing = planned.filter(({ isThere }) => !isThere);
  if (missing.length === 0) return [];
  const hosts = [...new Set(missing.map(({ address }) => hostOf(address)))];
  const names = missing.map(({ name }) => name).join(", ");
  const question = `Adds ${plain(names)}, and fetches from ${plain(hosts.join(", "))} from now on.`;
  return (await confirm(question, { yes })) ? missing : [];
}

function planLines({ name, title, covers, address, intervalMs, licence, isThere }: PlannedFeedView): string[] {
  if (isThere) return [`${plain(name)}: is there already`];
  return [
    title === "" ? plain(name) : `${plain(name)}: ${plain(title)}`,
    ...(covers === "" ? [] : [`  covers: ${plain(covers)}`]),
    `  from: ${plain(address)}, every ${intervalText(intervalMs)}`,
    `  license: ${plain(licence)}`,
  ];
}

/** The host of an address; of what is no URL all of it, which the server will reject. */
function hostOf(address: string): string {
  return URL.parse(address)?.host ?? address;
}
