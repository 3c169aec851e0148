import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import type { Row } from "@moorage/kernel/store";
import { filePages } from "../requests/rows.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { renderedAs } from "../requests/rendering.ts";
import { versionNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { snapshotMetadata } from "./metadata.ts";
import { type Coordinates, type MavenPath, nameOf } from "./paths.ts";
import { sendDocument } from "./send.ts";
import { type SnapshotFile, snapshotFileOf } from "./snapshots.ts";

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
