import { valid } from "semver";
import { matchesEtag } from "../../lib/etags.ts";
import type { Call } from "../../core/call.ts";
import type { Row } from "../../store/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { renderedAs } from "../artifacts/rendered.ts";
import { fileNamed, filesOf, versionNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read, urlOf } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { send, sendFile, sendJson } from "../http/send.ts";
import { stateOf } from "./manifest.ts";
import { type Form, manifestsOf, packumentJson, packumentKey } from "./packument.ts";

interface Named {
  group: readonly string[];
  name: string;
}

const ABBREVIATED_TYPE = "application/vnd.npm.install-v1+json";

/** The package that a path names. Throws 403 and 404. */
export async function packageFor(
  call: Call,
  { ecosystem }: LibraryExchange,
  { group: path, name }: Named,
): Promise<Row<"artifacts">> {
  const group = await groupFor(call, path, ecosystem.read);
  const artifact = await artifactNamed(call.tx, { group, ecosystem, normalized: name });
  if (artifact === undefined) throw libraryError(404, `Not found: ${name}`);
  return artifact;
}

/** GET of a package: its packument, in the form that the client accepts. */
export async function sendPackument(exchange: LibraryExchange, named: Named): Promise<void> {
  const { accept = "", "if-none-match": known, "accept-encoding": encodings = "" } = exchange.req.headers;
  const form: Form = accept.includes(ABBREVIATED_TYPE) ? "abbreviated" : "full";
  const url = urlOf(exchange, named.group.join("/"));
  const artifact = await read(exchange, (call) => packageFor(call, exchange, named));
  const packument = await renderedAs(packumentKey(artifact, form, url), () =>
    // Read again, so that the package and its versions are of one moment.
    read(exchange, async (call) => packumentJson(call.tx, await packageFor(call, exchange, named), form, url)),
  );
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
  const manifest = await read(exchange, async (call) => {
    const artifact = await packageFor(call, exchange, named);
    const { tags } = stateOf(artifact.state);
    const version = valid(ref) ?? (Object.hasOwn(tags, ref) ? tags[ref] : undefined) ?? ref;
    const row = await versionNamed(call.tx, artifact.uid, version);
    if (row === undefined) throw libraryError(404, `version not found: ${ref}`);
    const files = await filesOf(call.tx, artifact.uid);
    return manifestsOf(artifact, { versions: [row], files }, urlOf(exchange, named.group.join("/")))[0]?.[1];
  });
  sendJson(exchange, 200, manifest, { "cache-control": "private, no-cache" });
}

/** GET and HEAD of a tarball, whole or a range of it. */
export async function sendTarball(
  exchange: LibraryExchange,
  { file, ...named }: Named & { file: string },
): Promise<void> {
  const found = await read(exchange, async (call) => {
    const artifact = await packageFor(call, exchange, named);
    return await fileNamed(call.tx, artifact.uid, file);
  });
  if (found === undefined) throw libraryError(404, `Not found: ${file}`);
  await sendFile(exchange, { file: found.file, contentType: "application/octet-stream" });
}
