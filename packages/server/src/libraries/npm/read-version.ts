import { valid } from "semver";
import type { Row } from "../../store/index.ts";
import { ORIGIN } from "../artifacts/names.ts";
import { wholeText } from "../requests/rendering.ts";
import { fileNamed, filesOfVersion, versionNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read, urlOf } from "../requests/exchange.ts";
import { sendRendered } from "../requests/send-document.ts";
import { sendFile, sendJson } from "../requests/send.ts";
import { noteBlocked, requireOpen } from "../requests/check.ts";
import { goodUntilMs } from "../upstreams/known.ts";
import { findPackage, type FoundPackage, isRemoved, knownPackage, type Named, notServed } from "./resolve.ts";
import type { Manifest } from "./manifest.ts";
import { factsOf, manifestAt, offerFacts, withDeprecation } from "./offer.ts";
import { manifestsOf } from "./rows.ts";
import { renderedPackage } from "./shown.ts";
import { fetchTarball } from "./fetch.ts";

const ABBREVIATED_TYPE = "application/vnd.npm.install-v1+json";

/** GET of a package: its packument, in the form that the client accepts. */
export async function sendPackument(exchange: LibraryExchange, named: Named): Promise<void> {
  const { accept = "" } = exchange.req.headers;
  const form = accept.includes(ABBREVIATED_TYPE) ? "abbreviated" : "full";
  const found = await findPackage(exchange, named);
  const packument = await renderedPackage(exchange, found, form, urlOf(exchange, named.group.join("/")));
  noteBlocked(exchange, found.gate, packument.blocked);
  exchange.goodUntilMs = goodUntilMs(found, packument);
  const headers: Record<string, string> = {
    "content-type": form === "full" ? "application/json" : ABBREVIATED_TYPE,
    "cache-control": "private, no-cache",
    vary: "accept, accept-encoding, authorization",
  };
  await sendRendered(exchange, packument, headers, { isCompressed: true });
}

/** GET of `<name>/<version or tag>`: what the packument has of that version. */
export async function sendVersion(
  exchange: LibraryExchange,
  { ref, ...named }: Named & { ref: string },
): Promise<void> {
  const found = await findPackage(exchange, named);
  const url = urlOf(exchange, named.group.join("/"));
  const manifest = await manifestNamed(exchange, found, ref, url);
  if (manifest === undefined) throw libraryError(404, `version not found: ${ref}`);
  sendJson(exchange, 200, manifest, { "cache-control": "private, no-cache" });
}

async function manifestNamed(
  exchange: LibraryExchange,
  found: FoundPackage,
  ref: string,
  url: string,
): Promise<Manifest | undefined> {
  const { gate, name, document } = found;
  const number = valid(ref);
  if (number === null) {
    const rendered = await renderedPackage(exchange, found, "tags", url);
    if (ref === "latest") noteBlocked(exchange, gate, rendered.blocked);
    const tags = JSON.parse(await wholeText(rendered)) as Record<string, string>;
    const tagged = Object.hasOwn(tags, ref) ? tags[ref] : undefined;
    if (tagged === undefined) return undefined;
    // It is one of those that are shown.
    const row = await keptManifest(exchange, found, tagged, url);
    const offered = await document?.entry(tagged);
    if (row === undefined) return offered && manifestAt(url, name, offered);
    const isForeign = row.version.origin === ORIGIN.upstream && offered !== undefined;
    return isForeign ? withDeprecation(row.manifest, row.version, offered) : row.manifest;
  }
  const kept = await keptManifest(exchange, found, number, url);
  if (kept !== undefined) {
    requireOpen(exchange, gate, factsOf(kept.version, kept.manifest));
    return kept.manifest;
  }
  const offered = await document?.entry(number);
  if (offered === undefined) return await notServed(found, number);
  requireOpen(exchange, gate, offerFacts(number, offered));
  // What the group has removed of it is left out.
  return (await isRemoved(exchange, found, number)) ? undefined : manifestAt(url, name, offered);
}

async function keptManifest(
  exchange: LibraryExchange,
  { artifact }: FoundPackage,
  version: string,
  url: string,
): Promise<{ version: Row<"artifact_versions">; manifest: Manifest } | undefined> {
  if (artifact === undefined) return undefined;
  return await read(exchange, async ({ tx }) => {
    const row = await versionNamed(tx, artifact.uid, version);
    if (row === undefined) return undefined;
    const files = await filesOfVersion(tx, artifact.uid, row.uid);
    return { version: row, manifest: manifestsOf(artifact, { versions: [row], files }, url)[0]?.[1] ?? {} };
  });
}

/** GET and HEAD of a tarball, whole or a range of it. The first GET has it come from the upstream. */
export async function sendTarball(
  exchange: LibraryExchange,
  { file, ...named }: Named & { file: string },
): Promise<void> {
  const lookUp = () =>
    read(exchange, async (call) => {
      const known = await knownPackage(call, exchange, named);
      const { artifact } = known;
      return { known, kept: artifact && (await fileNamed(call.tx, artifact.uid, file)) };
    });
  let { known, kept } = await lookUp();
  if (kept === undefined && known.settings !== undefined) {
    await fetchTarball(exchange, await findPackage(exchange, named), file);
    ({ known, kept } = await lookUp());
  } else if (kept?.version !== undefined && known.gate.mode !== "none")
    requireOpen(exchange, known.gate, factsOf(kept.version, JSON.parse(kept.version.metadata) as Manifest));
  if (kept === undefined) throw libraryError(404, `Not found: ${file}`);
  await sendFile(exchange, { file: kept.file, contentType: "application/octet-stream" });
}
