import type { Call } from "../../core/call.ts";
import type { Row } from "../../store/index.ts";
import { artifactNamed, ORIGIN } from "../artifacts/names.ts";
import { fileNamed, removedOf, versionNamed } from "../artifacts/visible.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { requireOpen } from "../requests/check.ts";
import { type Gate, gateFor } from "../policies/gate.ts";
import { type UpstreamSettings, upstreamFor } from "../upstreams/settings.ts";
import { keptFacts, upstreamFacts } from "./facts.ts";
import { isSnapshot, type MavenPath, nameOf } from "./paths.ts";
import { fetchFile } from "./fetch.ts";
import { upstreamListing } from "./upstream-listing.ts";

type FilePath = MavenPath & { kind: "file" };

/** What there is of a file when it is asked for. */
interface FoundFile {
  group: string;
  gate: Gate;
  file: Row<"artifact_files"> | undefined;
  version: Row<"artifact_versions"> | undefined;
  /** The upstream that may be asked about this release; undefined when nobody is. */
  settings: UpstreamSettings | undefined;
}

/**
 * The file that a path names, from the group or from its upstream, of which it is kept. Undefined when neither has it.
 * Throws 403 and 404 by the rights of the caller, 403 for what the policy of the group blocks, 502 and 503.
 */
export async function offeredFile(
  exchange: LibraryExchange,
  path: FilePath,
): Promise<Row<"artifact_files"> | undefined> {
  const found = await read(exchange, (call) => find(call, exchange, path));
  const { group, gate, file, version, settings } = found;
  if (file !== undefined) {
    if (gate.mode !== "none" && version !== undefined)
      requireOpen(exchange, gate, await keptFacts(exchange, { group, settings }, path, version));
    return file;
  }
  if (settings === undefined) return undefined;
  const pom = gate.mode === "none" ? undefined : await judge(exchange, path, { ...found, settings });
  if (!(await fetchFile(exchange, { group, settings, path, pom }))) return undefined;
  return (await read(exchange, (call) => find(call, exchange, path))).file;
}

async function find(call: Call, { ecosystem }: LibraryExchange, path: FilePath): Promise<FoundFile> {
  const group = await groupFor(call, path.group, ecosystem.read);
  const name = nameOf(path);
  const named = { group, ecosystem, normalized: name };
  const artifact = await artifactNamed(call.tx, named);
  const file = artifact && (await fileNamed(call.tx, artifact.uid, `${path.version}/${path.file}`));
  const version = artifact && (await versionNamed(call.tx, artifact.uid, path.version));
  // Snapshots come from the group alone, and so do files of its own releases.
  const isOwn = isSnapshot(path.version) || version?.origin === ORIGIN.published;
  const settings = isOwn ? undefined : await upstreamFor(call, named);
  // Nobody gets a version that the group has removed, from anywhere.
  const isRemoved = settings?.isMerged === true && (await removedOf(call.tx, named)).has(path.version);
  return {
    group,
    gate: await gateFor(call, { ...named, name }),
    file: file?.file,
    version,
    settings: isRemoved ? undefined : settings,
  };
}

/**
 * Throws 403 for a release that the policy blocks, before anything of it is fetched but its POM, which is answered.
 */
async function judge(
  exchange: LibraryExchange,
  path: FilePath,
  { group, gate, version, settings }: FoundFile & { settings: UpstreamSettings },
): Promise<Awaited<ReturnType<typeof upstreamFacts>>["pom"]> {
  const place = { group, settings };
  if (version !== undefined) {
    requireOpen(exchange, gate, await keptFacts(exchange, place, path, version));
    return undefined;
  }
  const { facts, pom } = await upstreamFacts(exchange, place, path, async () => {
    const listing = await (await upstreamListing(exchange, settings, path))?.value();
    return listing?.versions.find(([listed]) => listed === path.version)?.[1];
  });
  requireOpen(exchange, gate, facts);
  return pom;
}
