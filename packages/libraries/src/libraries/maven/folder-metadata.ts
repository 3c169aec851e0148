import { createHash } from "node:crypto";
import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import { libraryError } from "../http/errors.ts";
import { XML_COST } from "../reading/limits.ts";
import { findDocument, type Found, noteDocument, renderDocument } from "../requests/document.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import type { Named } from "../requests/resolve.ts";
import { upstreamFor } from "../upstreams/settings.ts";
import { offeredListing } from "./offer.ts";
import { type MavenPath, nameOf } from "./paths.ts";
import { pluginsOf } from "./plugins.ts";
import type { Plugin } from "./metadata.ts";
import type { MetadataOutput } from "./render.ts";
import { sendDocument } from "./send.ts";
import { folderMetadata } from "./tasks.ts";
import { askForAges, saidOf } from "./upstream-ages.ts";
import type { MetadataKind } from "./upstream-metadata.ts";

/** After how long more of very many releases may be known. */
const MORE_MS = 1_000;
const AFTER_FAILURE_MS = 30_000;

type FolderPath = MavenPath & { kind: "metadata" };

/** GET and HEAD of the metadata in a folder, of an artifact, a groupId, or both, or of one of its sums. */
export async function sendMetadata(exchange: LibraryExchange, path: FolderPath): Promise<void> {
  const groupId = [path.groupId, path.artifactId].filter((part) => part !== "").join(".");
  let own: Plugin[] = [];
  const named = folderNamed(exchange, path, groupId, (plugins) => (own = plugins));
  const found = await findDocument(exchange, named, offeredListing(path));
  const { group, document } = found;
  const foreign = await foreignPlugins(exchange, { group, groupId }, (await document?.head())?.plugins ?? []);
  const plugins = mergedPlugins(own, foreign);
  const coordinates = { groupId: path.groupId, artifactId: path.artifactId };
  const rendered = await renderDocument(exchange, found, {
    key: createHash("sha256").update(JSON.stringify(plugins)).digest("base64url"),
    task: folderMetadata,
    extra: () => ({ coordinates, plugins, said: saidOf(found.settings, path) }),
    weight: XML_COST,
    findMore: (output) => findAges(exchange, path, found, output),
  });
  noteDocument(exchange, found, rendered);
  await sendDocument(exchange, rendered, path.sum);
}

/** What the path of a folder names: an artifact, and beside it the plugins of the groupId that has the same folder. */
function folderNamed(
  { ecosystem }: LibraryExchange,
  path: FolderPath,
  groupId: string,
  found: (plugins: Plugin[]) => void,
): Named {
  const name = nameOf(path);
  return {
    group: path.group,
    name,
    normalized: name,
    missing: `Not found: ${name}, and plugins of ${groupId}`,
    async mayAsk(call: Call, group: string) {
      if (groupId === "") throw libraryError(404, "Not found: a Maven repository has no metadata of its own");
      // Nobody is asked for a folder of a groupId that is reserved for the group either.
      return (await upstreamFor(call, { group, ecosystem, normalized: `${groupId}:` })) !== undefined;
    },
    async readBeside({ tx }: Call, group: string) {
      const plugins = await pluginsOf(tx, { group, ecosystem, groupId });
      found(plugins);
      return plugins.length > 0;
    },
  };
}

/** Asks for the ages of releases that are too young as far as is known. */
async function findAges(
  exchange: LibraryExchange,
  path: FolderPath,
  { settings, document }: Found<MetadataKind>,
  { young, hasMore }: MetadataOutput,
): Promise<{ untilMs: number | undefined } | undefined> {
  if (settings === undefined || young.length === 0) return undefined;
  const isWhole = await askForAges(exchange, settings, path, young, async (version) => await document?.entry(version));
  const { nowMs } = exchange.callData;
  if (!isWhole) return { untilMs: nowMs + AFTER_FAILURE_MS };
  return { untilMs: hasMore ? nowMs + MORE_MS : undefined };
}

/** Those plugins of the upstream that are not the group's own, nor reserved for it. */
async function foreignPlugins(
  exchange: LibraryExchange,
  { group, groupId }: { group: string; groupId: string },
  plugins: readonly Plugin[],
): Promise<Plugin[]> {
  if (plugins.length === 0) return [];
  return await read(exchange, async (call) => {
    const kept: Plugin[] = [];
    const turn = createTurns();
    for (const plugin of plugins) {
      const normalized = nameOf({ groupId, artifactId: plugin.artifactId });
      const asked = await upstreamFor(call, { group, ecosystem: exchange.ecosystem, normalized });
      if (asked !== undefined) kept.push(plugin);
      await turn();
    }
    return kept;
  });
}

/** The group's own count before those of the upstream, of the same prefix too. */
function mergedPlugins(own: readonly Plugin[], foreign: readonly Plugin[]): Plugin[] {
  const taken = new Set(own.flatMap(({ artifactId, prefix }) => [`artifact ${artifactId}`, `prefix ${prefix}`]));
  const added = foreign.filter((one) => !taken.has(`artifact ${one.artifactId}`) && !taken.has(`prefix ${one.prefix}`));
  return [...own, ...added];
}
