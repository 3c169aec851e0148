import { valid } from "semver";
import type { Row } from "@moorage/kernel/store";
import { ORIGIN } from "../ecosystem/origin.ts";
import { filesOfVersion, versionNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { noteBlocked, requireOpen } from "../requests/check.ts";
import { noteDocument } from "../requests/document.ts";
import { type LibraryExchange, read, urlOf } from "../requests/exchange.ts";
import { answerFile } from "../requests/file.ts";
import { wholeText } from "../requests/rendering.ts";
import { sendRendered } from "../requests/send-document.ts";
import { sendFile, sendJson } from "../requests/send.ts";
import { offeredTarball } from "./fetch.ts";
import type { Manifest } from "./manifest.ts";
import { factsOf, manifestAt, offerFacts, withDeprecation } from "./offer.ts";
import { renderedPackage } from "./packument.ts";
import { findPackage, type FoundPackage, isRemoved, notServed, packageNamed, type PackagePath } from "./resolve.ts";
import { manifestsOf } from "./rows.ts";

const ABBREVIATED_TYPE = "application/vnd.npm.install-v1+json";

/** GET of a package: its packument, in the form that the client accepts. */
export async function sendPackument(exchange: LibraryExchange, path: PackagePath): Promise<void> {
  const { accept = "" } = exchange.req.headers;
  const form = accept.includes(ABBREVIATED_TYPE) ? "abbreviated" : "full";
  const found = await findPackage(exchange, path);
  const packument = await renderedPackage(exchange, found, form, urlOf(exchange, path.group.join("/")));
  noteDocument(exchange, found, packument);
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
  { ref, ...path }: PackagePath & { ref: string },
): Promise<void> {
  const found = await findPackage(exchange, path);
  const url = urlOf(exchange, path.group.join("/"));
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
  const {
    gate,
    named: { name },
    document,
  } = found;
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
export async function sendTarball(exchange: LibraryExchange, path: PackagePath & { file: string }): Promise<void> {
  const { file } = path;
  await answerFile(exchange, {
    named: packageNamed(path),
    file,
    missing: `Not found: ${file}`,
    facts: (_, { version }) => version && factsOf(version, JSON.parse(version.metadata) as Manifest),
    offer: (asked) => offeredTarball(exchange, asked, file),
    send: (kept) => sendFile(exchange, { file: kept, contentType: "application/octet-stream" }),
  });
}
