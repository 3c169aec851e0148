import { responseSink } from "../../oci/index.ts";
import { matchesEtag } from "../../lib/etags.ts";
import type { Call } from "../../core/call.ts";
import { type Row, statement } from "../../store/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { renderedAs } from "../artifacts/rendered.ts";
import { fileNamed, filesOf, versionsOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { send, sendFile } from "../http/send.ts";
import { normalizedName } from "./names.ts";
import { type SimpleFile, simpleFormOf, simpleIndexParts, simpleProject } from "./simple-pages.ts";

const METADATA_ENDING = ".metadata";
const NAMES_PER_READ = 5_000;
const CACHING = { "cache-control": "private, no-cache", vary: "accept, accept-encoding, authorization" };

/** Sends the client to the path that ends with a slash, or has the project's normalized name. */
export function redirect(exchange: LibraryExchange, location: string): void {
  send(exchange, 301, { location, "content-type": "text/plain; charset=utf-8" }, Buffer.from(`See ${location}\n`));
}

/** GET of a project's page. */
export async function sendProject(
  exchange: LibraryExchange,
  { group: path, project }: { group: readonly string[]; project: string },
): Promise<void> {
  const { form, mediaType } = wantedForm(exchange);
  const { accept: _, "if-none-match": known, "accept-encoding": encodings = "" } = exchange.req.headers;
  const artifact = await read(exchange, (call) => projectFor(call, exchange, path, project));
  const page = await renderedAs(`${artifact.uid} ${artifact.revision} simple ${form}`, async () => {
    const { versions, files } = await read(exchange, async ({ tx }) => ({
      versions: await versionsOf(tx, artifact.uid),
      files: await filesOf(tx, artifact.uid),
    }));
    return simpleProject(form, {
      name: artifact.normalized,
      versions: versions.map(({ version }) => version),
      files: simpleFiles(versions, files),
    });
  });
  const headers = { ...CACHING, "content-type": mediaType, etag: page.etag };
  if (matchesEtag(known, page.etag)) return send(exchange, 304, headers, Buffer.alloc(0));
  if (!/\bgzip\b/.test(String(encodings))) return send(exchange, 200, headers, page.plain);
  send(exchange, 200, { ...headers, "content-encoding": "gzip" }, page.gzipped);
}

function wantedForm(exchange: LibraryExchange): NonNullable<ReturnType<typeof simpleFormOf>> {
  const wanted = simpleFormOf(exchange.req.headers.accept);
  if (wanted === undefined)
    throw libraryError(406, "Not acceptable: this index is there as HTML and as JSON of version 1 (PEP 691)");
  return wanted;
}

async function projectFor(
  call: Call,
  { ecosystem }: LibraryExchange,
  path: readonly string[],
  project: string,
): Promise<Row<"artifacts">> {
  const group = await groupFor(call, path, ecosystem.read);
  const artifact = await artifactNamed(call.tx, { group, ecosystem, normalized: normalizedName(project) });
  if (artifact === undefined) throw libraryError(404, `Not found: project ${project}`);
  return artifact;
}

/** The files in the order of their versions. */
function simpleFiles(
  versions: readonly Row<"artifact_versions">[],
  files: readonly Row<"artifact_files">[],
): SimpleFile[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const byVersion = Map.groupBy(files, ({ version }) => version);
  return versions.flatMap(({ uid, yanked }) =>
    (byVersion.get(uid) ?? [])
      .filter(({ name }) => !name.endsWith(METADATA_ENDING))
      .map((file) => ({
        filename: file.name,
        sha256: hexOf(file.digest),
        sizeBytes: file.size,
        uploadTimeMs: file.create_time,
        requiresPython: (JSON.parse(file.metadata) as { requiresPython?: string }).requiresPython ?? "",
        metadataSha256: hexOf(byName.get(file.name + METADATA_ENDING)?.digest ?? ""),
        yanked: yanked ?? undefined,
      })),
  );
}

function hexOf(digest: string): string {
  return digest.slice(digest.indexOf(":") + 1);
}

/** GET and HEAD of a file or of a wheel's metadata, whole or a range of it. */
export async function sendDistribution(
  exchange: LibraryExchange,
  { group: path, project, file }: { group: readonly string[]; project: string; file: string },
): Promise<void> {
  const found = await read(exchange, async (call) => {
    const artifact = await projectFor(call, exchange, path, project);
    return await fileNamed(call.tx, artifact.uid, file);
  });
  if (found === undefined) throw libraryError(404, `Not found: ${file}`);
  await sendFile(exchange, { file: found.file, contentType: "application/octet-stream" });
}

const selectNames = statement<{ normalized: string }>(
  `select normalized from artifacts where parent = ? and ecosystem = ? and normalized > ? order by normalized limit ${NAMES_PER_READ}`,
  ["text", "bigint", "text"],
);

/** GET of the list of all projects of the group, written as it is read: there may be a million. */
export async function sendIndex(
  exchange: LibraryExchange,
  { group: path }: { group: readonly string[] },
): Promise<void> {
  const { form, mediaType } = wantedForm(exchange);
  const { res, req, ecosystem } = exchange;
  const group = await read(exchange, (call) => groupFor(call, path, ecosystem.read));
  res.statusCode = 200;
  for (const [name, value] of Object.entries({ ...CACHING, "content-type": mediaType })) res.setHeader(name, value);
  res.setHeader("x-content-type-options", "nosniff");
  if (req.method === "HEAD") return void res.end();
  const { head, tail, item, between } = simpleIndexParts(form);
  const sink = responseSink(exchange);
  let [after, separator] = ["", head];
  for (;;) {
    const names = await read(exchange, ({ tx }) => selectNames(tx, group, ecosystem.number, after));
    for (const { normalized } of names) {
      await sink(Buffer.from(separator + item(normalized)));
      separator = between;
    }
    const last = names.at(-1);
    if (last === undefined || names.length < NAMES_PER_READ) break;
    after = last.normalized;
  }
  await sink(Buffer.from((separator === head ? head : "") + tail));
  res.end();
}
