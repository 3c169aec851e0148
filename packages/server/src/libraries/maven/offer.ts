import { createHash } from "node:crypto";
import type { Call } from "../../core/call.ts";
import { createTurns } from "../../lib/turns.ts";
import type { Row } from "../../store/index.ts";
import { packedRows, smallRows } from "../requests/rows.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { type Rendered, renderedAs } from "../requests/rendering.ts";
import { removedOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { noteBlocked, requireSome } from "../requests/check.ts";
import { type Gate, gateFor } from "../policies/gate.ts";
import { INLINE_BYTES, XML_COST } from "../reading/limits.ts";
import type { UpstreamDocument } from "../upstreams/documents.ts";
import { unlessKept } from "../upstreams/errors.ts";
import { type UpstreamSettings, upstreamFor } from "../upstreams/settings.ts";
import { type MavenPath, nameOf } from "./paths.ts";
import { type Plugin, pluginsOf } from "./plugins.ts";
import { sendDocument } from "./snapshot-metadata.ts";
import { askForAges, saidOf } from "./upstream-ages.ts";
import { upstreamListing } from "./upstream-listing.ts";

/** After how long more of very many releases may be known. */
const MORE_MS = 1_000;
const AFTER_FAILURE_MS = 30_000;

type FolderPath = MavenPath & { kind: "metadata" };

/** What there is in a folder of the group, and whom else to ask. */
interface Folder {
  group: string;
  /** The groupId of the plugins in it. */
  groupId: string;
  artifact: Row<"artifacts"> | undefined;
  plugins: Plugin[];
  gate: Gate;
  settings: UpstreamSettings | undefined;
  /** Versions that the group has removed under a name that it merges: those of the upstream are not served. */
  removed: ReadonlySet<string>;
}

/** GET and HEAD of the metadata in a folder, of an artifact, a groupId, or both, or of one of its sums. */
export async function sendMetadata(exchange: LibraryExchange, path: FolderPath): Promise<void> {
  const folder = await read(exchange, (call) => find(call, exchange, path));
  const listing = await listingOf(exchange, path, folder);
  const foreign = await foreignPlugins(exchange, folder, (await listing?.head())?.plugins ?? []);
  const plugins = mergedPlugins(folder.plugins, foreign);
  const { artifact, gate, settings, removed } = folder;
  // Without an artifact no revision says what was removed with it.
  const key = [artifact?.uid, artifact?.revision, settings?.uid, listing?.revision, removed.size, gate.key];
  const ofPlugins = createHash("sha256").update(JSON.stringify(plugins)).digest("base64url");
  const rendered = await renderedAs(
    `maven ${key.join(" ")} ${nameOf(path)} ${ofPlugins}`,
    () => make(exchange, path, folder, { listing, plugins }),
    exchange.callData.nowMs,
  );
  noteBlocked(exchange, gate, rendered.blocked);
  await sendDocument(exchange, rendered, path.sum);
}

async function find(call: Call, { ecosystem }: LibraryExchange, path: FolderPath): Promise<Folder> {
  const group = await groupFor(call, path.group, ecosystem.read);
  const name = nameOf(path);
  const named = { group, ecosystem, normalized: name };
  const groupId = [path.groupId, path.artifactId].filter((part) => part !== "").join(".");
  if (groupId === "") throw libraryError(404, "Not found: a Maven repository has no metadata of its own");
  // Nobody is asked for a folder of a groupId that is reserved for the group either.
  const isAsked = (await upstreamFor(call, { group, ecosystem, normalized: `${groupId}:` })) !== undefined;
  const settings = isAsked ? await upstreamFor(call, named) : undefined;
  return {
    group,
    groupId,
    artifact: await artifactNamed(call.tx, named),
    plugins: await pluginsOf(call.tx, { group, ecosystem, groupId }),
    gate: await gateFor(call, { ...named, name }),
    settings,
    removed: settings?.isMerged === true ? await removedOf(call.tx, named) : new Set(),
  };
}

type Listing = UpstreamDocument<"maven.metadata">;

/** What the upstream lists. When it fails, what the group has of the artifact is enough to go on. */
async function listingOf(
  exchange: LibraryExchange,
  path: FolderPath,
  { settings, artifact, plugins }: Folder,
): Promise<Listing | undefined> {
  if (settings === undefined) return undefined;
  return await unlessKept(artifact !== undefined || plugins.length > 0, () =>
    upstreamListing(exchange, settings, path),
  );
}

/** Those plugins of the upstream that are not the group's own, nor reserved for it. */
async function foreignPlugins(
  exchange: LibraryExchange,
  { group, groupId }: Folder,
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

/** Made here, and of many releases in a task. */
async function make(
  exchange: LibraryExchange,
  path: FolderPath,
  folder: Folder,
  { listing, plugins }: { listing: Listing | undefined; plugins: Plugin[] },
): Promise<Rendered> {
  const { gate, settings, group, groupId, removed } = folder;
  const { groupId: ofGroup, artifactId } = path;
  const coordinates = { groupId: ofGroup, artifactId };
  const { deps, ecosystem } = exchange;
  const named = { group, ecosystem, normalized: nameOf(path) };
  const rows = await smallRows(exchange, named);
  const bytes = (listing?.size ?? 0) + (rows === "large" ? INLINE_BYTES + 1 : rows.bytes);
  const render = () =>
    deps.reading.run(
      "maven.metadata",
      async () => ({
        coordinates,
        rows: rows === "large" ? await packedRows(exchange, named) : rows,
        document: await listing?.input(),
        fetchedMs: listing?.fetchedMs,
        removed: [...removed],
        plugins,
        said: saidOf(settings, path),
        judge: gate.data,
      }),
      bytes * XML_COST,
    );
  let output = await render();
  let againMs: number | undefined;
  if (settings !== undefined && output.young.length > 0) {
    if (output.hasMore) againMs = MORE_MS;
    if (!(await askForAges(exchange, settings, path, output.young, async (version) => await listing?.entry(version))))
      againMs = AFTER_FAILURE_MS;
    output = await render();
  }
  if ("empty" in output) throw libraryError(404, `Not found: ${nameOf(path)}, and plugins of ${groupId}`);
  requireSome(exchange, gate, "whole" in output ? output.whole : undefined);
  if (!("rendered" in output)) throw new Error("metadata were not rendered");
  const { rendered } = output;
  return againMs === undefined ? rendered : { ...rendered, untilMs: exchange.callData.nowMs + againMs };
}
