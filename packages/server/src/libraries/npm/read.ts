import { valid } from "semver";
import { matchesEtag } from "../../lib/etags.ts";
import { renderedAs } from "../artifacts/rendered.ts";
import { fileNamed, filesOf, versionNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read, urlOf } from "../http/exchange.ts";
import { send, sendFile, sendJson } from "../http/send.ts";
import { noteBlocked, requireOpen } from "../policies/check.ts";
import { goodUntilMs } from "../upstreams/known.ts";
import { findPackage, type FoundPackage, knownPackage, type Named } from "./found.ts";
import type { Manifest } from "./manifest.ts";
import { factsOf, manifestAt, offeredOf, offerFacts } from "./offered.ts";
import { type Form, packumentKey, packumentOf } from "./packument.ts";
import { manifestsOf } from "./rows.ts";
import { fetchTarball } from "./upstream-tarball.ts";

const ABBREVIATED_TYPE = "application/vnd.npm.install-v1+json";

/** GET of a package: its packument, in the form that the client accepts. */
export async function sendPackument(exchange: LibraryExchange, named: Named): Promise<void> {
  const { accept = "", "if-none-match": known, "accept-encoding": encodings = "" } = exchange.req.headers;
  const form: Form = accept.includes(ABBREVIATED_TYPE) ? "abbreviated" : "full";
  const url = urlOf(exchange, named.group.join("/"));
  const found = await findPackage(exchange, named);
  const packument = await renderedAs(
    packumentKey(found, form, url),
    async () => {
      const offered = await offeredOf(exchange, found, url);
      const { nextMs: untilMs, blocked } = offered;
      return { text: JSON.stringify(packumentOf(offered, form)), untilMs, blocked };
    },
    exchange.callData.nowMs,
  );
  noteBlocked(exchange, found.gate, packument.blocked);
  exchange.goodUntilMs = goodUntilMs(found, packument);
  const headers: Record<string, string> = {
    "content-type": form === "full" ? "application/json" : ABBREVIATED_TYPE,
    "cache-control": "private, no-cache",
    vary: "accept, accept-encoding, authorization",
    etag: packument.etag,
  };
  if (matchesEtag(known, packument.etag)) return send(exchange, 304, headers, Buffer.alloc(0));
  if (!/\bgzip\b/.test(String(encodings))) return send(exchange, 200, headers, packument.plain);
  send(exchange, 200, { ...headers, "content-encoding": "gzip" }, packument.gzipped);
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
  const { artifact, gate, name, document } = found;
  const number = valid(ref);
  if (number === null) {
    const { tags, versions, blocked } = await offeredOf(exchange, found, url);
    if (ref === "latest") noteBlocked(exchange, gate, blocked);
    const tagged = Object.hasOwn(tags, ref) ? tags[ref] : undefined;
    return versions.find(({ version }) => version === tagged)?.manifest;
  }
  const kept = await read(exchange, async ({ tx }) => {
    const row = artifact && (await versionNamed(tx, artifact.uid, number));
    if (artifact === undefined || row === undefined) return undefined;
    const files = await filesOf(tx, artifact.uid);
    return { row, manifest: manifestsOf(artifact, { versions: [row], files }, url)[0]?.[1] ?? {} };
  });
  if (kept !== undefined) {
    requireOpen(exchange, gate, factsOf(kept.row, kept.manifest));
    return kept.manifest;
  }
  // With what the group has removed of it left out.
  const offers = (await document?.value())?.versions ?? {};
  const offered = Object.hasOwn(offers, number) ? offers[number] : undefined;
  if (offered === undefined) return undefined;
  requireOpen(exchange, gate, offerFacts(number, offered));
  if (found.settings?.isMerged !== true) return manifestAt(url, name, offered);
  return (await offeredOf(exchange, found, url)).versions.find(({ version }) => version === number)?.manifest;
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
