// Watching in a pipe: what changed.
import { hash } from "node:crypto";
import type { JsonObject } from "../api/rest.ts";
import type { PathOf } from "../api/uid-paths.ts";
import { formatOf } from "../output/format.ts";
import { itemPrinter } from "../output/item-printer.ts";
import type { Listing } from "../output/listing.ts";
import { type OutputFlags, printMessage } from "../output/output.ts";
import { createWriter } from "../output/writer.ts";
import { repeat } from "./repeat.ts";
import { intervalOf } from "./watch-options.ts";

/** Prints the items that are new or not what they were before, those that are gone by a word on standard error. */
export async function watchChanges(
  blocks: () => AsyncIterable<readonly JsonObject[]>,
  listing: Listing,
  flags: OutputFlags & { interval?: string },
  { signal, pathOf }: { signal: AbortSignal; pathOf: PathOf },
): Promise<never> {
  const writer = createWriter();
  const print = await itemPrinter(formatOf(flags), { listing, writer, pathOf, headers: flags.headers !== false });
  let known = new Map<string, { content: string; name: string }>();
  return repeat(
    async () => {
      const seen: typeof known = new Map();
      for await (const block of blocks()) {
        const changed: JsonObject[] = [];
        const names = await Promise.all(block.map((item) => listing.nameOf(item, pathOf)));
        for (const [at, item] of block.entries()) {
          const content = hash("sha256", JSON.stringify(item), "base64");
          const uid = item["uid"];
          const key = typeof uid === "string" ? uid : content;
          seen.set(key, { content, name: names[at] ?? "" });
          if (known.get(key)?.content !== content) changed.push(item);
        }
        if (changed.length > 0) await print(changed);
      }
      for (const [key, { name }] of known) if (!seen.has(key)) printMessage(`gone: ${name}`);
      known = seen;
      await writer.flush();
    },
    { intervalMs: intervalOf(flags), signal, failed: (text) => printMessage(`moorage: ${text}; asks again`) },
  );
}
