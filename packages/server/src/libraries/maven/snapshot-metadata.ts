import type { Call } from "../../core/call.ts";
import { createTurns } from "../../lib/turns.ts";
import type { Row } from "../../store/index.ts";
import { filePages } from "../requests/rows.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { type Rendered, renderedAs } from "../requests/rendering.ts";
import { versionNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { sendRendered, sumOfRendered } from "../requests/send-document.ts";
import { send, sendFile } from "../requests/send.ts";
import { snapshotMetadata } from "./metadata.ts";
import { offeredFile } from "./resolve.ts";
import { type Coordinates, type MavenPath, nameOf, type Sum } from "./paths.ts";
import { type SnapshotFile, snapshotFileOf } from "./snapshots.ts";

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

/**
 * GET and HEAD of a file, whole or a range of it, or of one of its sums. What an upstream has of it is fetched first.
 */
export async function sendContent(exchange: LibraryExchange, path: MavenPath & { kind: "file" }): Promise<void> {
  const { version, file, sum } = path;
  const found = await offeredFile(exchange, path);
  if (found === undefined) throw libraryError(404, `Not found: ${file} of ${nameOf(path)}:${version}`);
  if (sum !== undefined) return sendText(exchange, sumOf(found, sum), TEXT);
  const { md5, sha1 } = found;
  await sendFile(exchange, {
    file: found,
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
    snapshotText(exchange, path, artifact.uid, version),
  );
  await sendDocument(exchange, document, path.sum);
}

/** Answers with a document that was rendered, or one of its sums. */
export async function sendDocument(exchange: LibraryExchange, document: Rendered, sum: Sum | undefined): Promise<void> {
  if (sum !== undefined) return sendText(exchange, await sumOfRendered(document, sum), TEXT);
  await sendRendered(exchange, document, { ...CACHING, "content-type": XML }, { isCompressed: false });
}

/** Of the files of an artifact, which may have thousands of builds, those of one version count. */
async function snapshotText(
  exchange: LibraryExchange,
  coordinates: Coordinates,
  artifact: string,
  { uid, version, update_time: updateMs }: Row<"artifact_versions">,
): Promise<string> {
  const stamped: SnapshotFile[] = [];
  const turn = createTurns();
  for await (const files of filePages(exchange, artifact)) {
    for (const file of files) {
      if (file.version !== uid) continue;
      const said = snapshotFileOf(coordinates.artifactId, version, file.name.slice(version.length + 1));
      if (said !== undefined) stamped.push(said);
    }
    await turn();
  }
  return snapshotMetadata(coordinates, { version, files: stamped, updateMs });
}

function sendText(exchange: LibraryExchange, text: string, contentType: string): void {
  send(exchange, 200, { ...CACHING, "content-type": contentType }, Buffer.from(text));
}
