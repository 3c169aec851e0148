import { createHash } from "node:crypto";
import type { Call } from "../../core/call.ts";
import { matchesEtag } from "../../lib/etags.ts";
import type { Row } from "../../store/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { type Rendered, renderedAs } from "../artifacts/rendered.ts";
import { fileNamed, filesOf, versionNamed, versionsOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { send, sendFile } from "../http/send.ts";
import { latestOf } from "./commands.ts";
import { folderMetadata, snapshotMetadata, type Versioning } from "./metadata.ts";
import { type Coordinates, isSnapshot, type MavenPath, nameOf, type Sum } from "./paths.ts";
import { pluginsOf } from "./plugins.ts";
import { snapshotFileOf } from "./snapshots.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  jar: "application/java-archive",
  pom: "application/xml",
  xml: "application/xml",
  module: "application/vnd.org.gradle.module+json",
  asc: "text/plain",
};
const XML = "application/xml; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";
const CACHING = { "cache-control": "private, no-cache", vary: "authorization" };

/** The artifact that a path names. Throws 403 and 404. */
async function artifactFor(
  call: Call,
  { ecosystem }: LibraryExchange,
  { group: path, ...coordinates }: Coordinates & { group: readonly string[] },
): Promise<Row<"artifacts">> {
  const group = await groupFor(call, path, ecosystem.read);
  const name = nameOf(coordinates);
  const artifact = await artifactNamed(call.tx, { group, ecosystem, normalized: name });
  if (artifact === undefined) throw libraryError(404, `Not found: ${name}`);
  return artifact;
}

/** GET and HEAD of a file, whole or a range of it, or of one of its sums. */
export async function sendContent(exchange: LibraryExchange, path: MavenPath & { kind: "file" }): Promise<void> {
  const { version, file, sum } = path;
  const found = await read(exchange, async (call) => {
    const artifact = await artifactFor(call, exchange, path);
    return await fileNamed(call.tx, artifact.uid, `${version}/${file}`);
  });
  if (found === undefined) throw libraryError(404, `Not found: ${file}`);
  if (sum !== undefined) return sendText(exchange, sumOf(found.file, sum), TEXT);
  const { md5, sha1 } = found.file;
  await sendFile(exchange, {
    file: found.file,
    contentType: CONTENT_TYPES[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream",
    // Resolvers that know these need not ask for the sums.
    headers: { "x-checksum-md5": md5, "x-checksum-sha1": sha1 },
  });
}

/** The sum of a stored file, in hex. */
export function sumOf(file: Row<"artifact_files">, sum: Sum): string {
  return sum === "sha256" ? file.digest.slice(file.digest.indexOf(":") + 1) : file[sum];
}

/** GET and HEAD of the metadata of a snapshot, or of one of its sums. */
export async function sendSnapshotMetadata(
  exchange: LibraryExchange,
  path: MavenPath & { kind: "snapshot-metadata" },
): Promise<void> {
  const { artifact, version } = await read(exchange, async (call) => {
    const found = await artifactFor(call, exchange, path);
    return { artifact: found, version: await versionNamed(call.tx, found.uid, path.version) };
  });
  if (version === undefined) throw libraryError(404, `Not found: ${path.version}`);
  const document = await renderedAs(`${artifact.uid} ${artifact.revision} maven ${version.version}`, () =>
    read(exchange, async ({ tx }) => snapshotText(path, version, await filesOf(tx, artifact.uid))),
  );
  sendDocument(exchange, document, path.sum);
}

/** GET and HEAD of the metadata in a folder, of an artifact, a groupId, or both, or of one of its sums. */
export async function sendMetadata(exchange: LibraryExchange, path: MavenPath & { kind: "metadata" }): Promise<void> {
  const { ecosystem } = exchange;
  const folder = [path.groupId, path.artifactId].filter((name) => name !== "").join(".");
  const { artifact, plugins } = await read(exchange, async (call) => {
    const group = await groupFor(call, path.group, ecosystem.read);
    return {
      artifact: await artifactNamed(call.tx, { group, ecosystem, normalized: nameOf(path) }),
      plugins: await pluginsOf(call.tx, { group, ecosystem, groupId: folder }),
    };
  });
  if (artifact === undefined && plugins.length === 0)
    throw libraryError(404, `Not found: ${nameOf(path)}, and plugins of ${folder}`);
  const key = `${artifact?.uid ?? ""} ${artifact?.revision ?? ""} maven ${JSON.stringify(plugins)}`;
  const document = await renderedAs(key, async () =>
    folderMetadata(artifact && (await versioningOf(exchange, path, artifact)), plugins),
  );
  sendDocument(exchange, document, path.sum);
}

async function versioningOf(
  exchange: LibraryExchange,
  { groupId, artifactId }: Coordinates,
  { uid, update_time: updateMs }: Row<"artifacts">,
): Promise<Versioning> {
  const versions = (await read(exchange, ({ tx }) => versionsOf(tx, uid))).map(({ version }) => version);
  const release = latestOf(versions.filter((one) => !isSnapshot(one)));
  return { groupId, artifactId, versions, latest: versions.at(-1) ?? "", release, updateMs };
}

function sendDocument(exchange: LibraryExchange, { plain, etag }: Rendered, sum: Sum | undefined): void {
  if (sum !== undefined) return sendText(exchange, createHash(sum).update(plain).digest("hex"), TEXT);
  const headers = { ...CACHING, "content-type": XML, etag };
  const isKnown = matchesEtag(exchange.req.headers["if-none-match"], etag);
  send(exchange, isKnown ? 304 : 200, headers, isKnown ? Buffer.alloc(0) : plain);
}

function snapshotText(
  coordinates: Coordinates,
  { uid, version, update_time: updateMs }: Row<"artifact_versions">,
  files: readonly Row<"artifact_files">[],
): string {
  const stamped = files
    .filter((file) => file.version === uid)
    .map(({ name }) => snapshotFileOf(coordinates.artifactId, version, name.slice(version.length + 1)))
    .filter((file) => file !== undefined);
  return snapshotMetadata(coordinates, { version, files: stamped, updateMs });
}

function sendText(exchange: LibraryExchange, text: string, contentType: string): void {
  send(exchange, 200, { ...CACHING, "content-type": contentType }, Buffer.from(text));
}
