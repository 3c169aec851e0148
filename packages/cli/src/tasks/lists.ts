// Lists of commands made by hand: what their flags ask for, and how they are printed or watched.
import type { JsonObject, ListOptions } from "../api/rest.ts";
import { interruption } from "../command/interrupt.ts";
import type { Listing, ListExtra } from "../output/listing.ts";
import { printList } from "../output/output.ts";
import type { WatchFlags } from "../terminal/watch-options.ts";
import type { TaskFlags } from "./session.ts";

/** The flags of every list. */
export interface ListFlags extends TaskFlags, WatchFlags {
  limit?: number;
  pageSize?: number;
}

/** The part of the flags that says how much is asked for. */
export function sizesOf({ limit, pageSize }: ListFlags): Pick<ListOptions, "limit" | "pageSize"> {
  return { ...(limit !== undefined && { limit }), ...(pageSize !== undefined && { pageSize }) };
}

/** Prints the list, or watches it with `--watch`. `load` asks for it, each time anew. */
export async function printOrWatch(
  load: () => AsyncIterable<JsonObject>,
  listing: Listing,
  flags: ListFlags,
  extra: ListExtra = {},
): Promise<void> {
  if (flags.watch !== true) return printList(load(), listing, flags, extra);
  const { watchList } = await import("../terminal/watch.ts");
  await watchList(load, listing, flags, { ...extra, signal: interruption() });
}
