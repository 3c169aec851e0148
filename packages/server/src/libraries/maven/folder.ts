import type { Call } from "../../core/call.ts";
import { isMavenPrerelease, mavenKey } from "../../lib/versions/index.ts";
import type { Row } from "../../store/index.ts";
import { artifactNamed, ORIGIN } from "../artifacts/names.ts";
import { type Made, renderedAs } from "../artifacts/rendered.ts";
import { removedOf, versionsOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { noteBlocked, requireSome } from "../policies/check.ts";
import { type Gate, gateFor, shown } from "../policies/gate.ts";
import type { UpstreamDocument } from "../upstreams/documents.ts";
import { unlessKept } from "../upstreams/errors.ts";
import { type UpstreamSettings, upstreamFor } from "../upstreams/settings.ts";
import { listedFacts } from "./facts.ts";
import { folderMetadata } from "./metadata.ts";
import { isSnapshot, type MavenPath, nameOf } from "./paths.ts";
import { type Plugin, pluginsOf } from "./plugins.ts";
import { sendDocument } from "./read.ts";
import { upstreamAges } from "./upstream-ages.ts";
import { upstreamListing } from "./upstream-listing.ts";
import type { UpstreamMetadata } from "./upstream-metadata.ts";

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
  const listed = withoutRemoved(await listing?.value(), folder.removed);
  const plugins = mergedPlugins(folder.plugins, await foreignPlugins(exchange, folder, listed?.plugins ?? []));
  const { artifact, gate, groupId, settings, removed } = folder;
  const isArtifact = artifact !== undefined || (listed?.versions.length ?? 0) > 0;
  if (!isArtifact && plugins.length === 0)
    throw libraryError(404, `Not found: ${nameOf(path)}, and plugins of ${groupId}`);
  // Without an artifact no revision says what was removed with it.
  const key = [artifact?.uid, artifact?.revision, settings?.uid, listing?.revision, removed.size, gate.key];
  const rendered = await renderedAs(
    `maven ${key.join(" ")} ${nameOf(path)} ${JSON.stringify(plugins)}`,
    () => make(exchange, path, folder, { listing, listed, plugins }),
    exchange.callData.nowMs,
  );
  noteBlocked(exchange, gate, rendered.blocked);
  sendDocument(exchange, rendered, path.sum);
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

function withoutRemoved(
  listed: UpstreamMetadata | undefined,
  removed: ReadonlySet<string>,
): UpstreamMetadata | undefined {
  if (listed === undefined || removed.size === 0) return listed;
  return { ...listed, versions: listed.versions.filter(([version]) => !removed.has(version)) };
}

type Listing = UpstreamDocument<UpstreamMetadata>;

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
    for (const plugin of plugins) {
      const normalized = nameOf({ groupId, artifactId: plugin.artifactId });
      const asked = await upstreamFor(call, { group, ecosystem: exchange.ecosystem, normalized });
      if (asked !== undefined) kept.push(plugin);
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

async function make(
  exchange: LibraryExchange,
  path: FolderPath,
  { artifact, gate, settings }: Folder,
  {
    listing,
    listed,
    plugins,
  }: { listing: Listing | undefined; listed: UpstreamMetadata | undefined; plugins: Plugin[] },
): Promise<Made> {
  const kept = artifact === undefined ? [] : await read(exchange, ({ tx }) => versionsOf(tx, artifact.uid));
  const facts = new Map(kept.map((row) => [row.version, listedFacts(row)]));
  const foreign = (listed?.versions ?? []).filter(([version]) => !facts.has(version));
  const ages = settings && (await upstreamAges(exchange, settings, path, gate, foreign));
  for (const one of ages?.facts ?? []) facts.set(one.version, one);
  const all = [...facts.values()].map((one) => ({ one, key: mavenKey(one.version) }));
  all.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const sorted = all.map(({ one }) => one);
  const result = shown(gate, sorted, (one) => one);
  if (plugins.length === 0) requireSome(exchange, gate, result);
  const versions = result.visible.map(({ version }) => version);
  const hasOwn = kept.some(({ origin }) => origin === ORIGIN.published);
  const saidRelease = hasOwn ? "" : (listed?.release ?? "");
  const release = releaseOf(versions, saidRelease);
  const wanted = releaseOf(
    sorted.map(({ version }) => version),
    saidRelease,
  );
  const versioning = {
    groupId: path.groupId,
    artifactId: path.artifactId,
    versions,
    latest: hasOwn || release === "" ? (versions.at(-1) ?? "") : release,
    release,
    updateMs: updatedMs(hasOwn || listed === undefined ? artifact : undefined, listing, listed),
  };
  return {
    text: folderMetadata(versions.length === 0 ? undefined : versioning, plugins),
    untilMs: ages?.againMs === undefined ? result.nextMs : exchange.callData.nowMs + ages.againMs,
    blocked: result.hidden.find(({ version }) => version === wanted),
  };
}

/** The release that the upstream names, when it is shown; else the newest that is no pre-release, or the newest. */
function releaseOf(versions: readonly string[], said: string): string {
  if (said !== "" && versions.includes(said)) return said;
  const releases = versions.filter((version) => !isSnapshot(version));
  if (said === "") return releases.at(-1) ?? "";
  return releases.findLast((version) => !isMavenPrerelease(version)) ?? releases.at(-1) ?? "";
}

function updatedMs(
  artifact: Row<"artifacts"> | undefined,
  listing: Listing | undefined,
  listed: UpstreamMetadata | undefined,
): number {
  const foreignMs = listed === undefined || listed.updateMs === 0 ? (listing?.fetchedMs ?? 0) : listed.updateMs;
  return Math.max(artifact?.update_time ?? 0, foreignMs);
}
