import { createTurns } from "@moorage/kernel/lib/turns";
import type { Database, Row } from "@moorage/kernel/store";
import { type LibraryExchange, read } from "./exchange.ts";
import { INLINE_BYTES, LARGE_BYTES_UNDER_WAY } from "../reading/limits.ts";
import { ReadingError } from "../reading/reading-error.ts";
import { type ArtifactName, artifactNamed } from "../artifacts/names.ts";
import { filesAfter, PAGE_ROWS, versionsAfter } from "../artifacts/visible.ts";

/** What is here of an artifact: its versions, the earliest first, and its files, by their names. */
export interface KeptRows {
  versions: Row<"artifact_versions">[];
  files: Row<"artifact_files">[];
}

/** The artifact with what is here of it. Without an artifact there is nothing. */
export interface ArtifactRows extends KeptRows {
  artifact: Row<"artifacts"> | undefined;
}

/** The same as tasks get it: as it is, or of a large artifact in pages of JSON. */
export type RowsInput =
  | ArtifactRows
  | { artifact: Row<"artifacts"> | undefined; pages: { versions: Uint8Array[]; files: Uint8Array[] } };

/** The bytes of a row, beside its texts. */
const ROW_BYTES = 300;

/**
 * What is here of an artifact, at one moment, if it has few bytes; "large" for one whose rows are better read and put
 * together by a task, which gets them from `packedRows`.
 */
export async function smallRows(
  exchange: LibraryExchange,
  name: ArtifactName,
): Promise<(ArtifactRows & { bytes: number }) | "large"> {
  const found = await read(exchange, async ({ tx }) => {
    const artifact = await artifactNamed(tx, name);
    if (artifact === undefined) return { artifact, versions: [], files: [] };
    const [versions, files] = [
      await versionsAfter(tx, artifact.uid, undefined),
      await filesAfter(tx, artifact.uid, ""),
    ];
    return { artifact, versions, files };
  });
  const first = bytesOf(found);
  const isWhole = found.versions.length < PAGE_ROWS && found.files.length < PAGE_ROWS;
  if (first > INLINE_BYTES) return "large";
  if (isWhole || found.artifact === undefined) return { ...found, bytes: first };
  const rest = await rowsAfter(exchange, found, INLINE_BYTES - first);
  return rest === "more" ? "large" : { ...rest, bytes: bytesOf(rest) };
}

/** What is here of an artifact for a task. Throws a ReadingError for more than is read of one artifact. */
export async function packedRows(exchange: LibraryExchange, name: ArtifactName): Promise<RowsInput> {
  const turn = createTurns();
  for (let attempt = 1; ; attempt += 1) {
    const artifact = await read(exchange, ({ tx }) => artifactNamed(tx, name));
    const pages: { versions: Uint8Array[]; files: Uint8Array[] } = { versions: [], files: [] };
    let bytes = 0;
    const add = async (to: Uint8Array[], rows: readonly object[]): Promise<void> => {
      const page = Buffer.from(JSON.stringify(rows));
      bytes += page.length;
      if (bytes > LARGE_BYTES_UNDER_WAY) throw new ReadingError("its versions have too much metadata in all");
      to.push(page);
      await turn();
    };
    if (artifact === undefined) return { artifact, versions: [], files: [] };
    for await (const rows of versionPages(exchange, artifact.uid)) await add(pages.versions, rows);
    for await (const rows of filePages(exchange, artifact.uid)) await add(pages.files, rows);
    const after = await read(exchange, ({ tx }) => artifactNamed(tx, name));
    // A package to which something is published all the time is shown as it was read in the end.
    if (after?.revision === artifact.revision || attempt === MAX_ATTEMPTS) return { artifact, pages };
  }
}

const MAX_ATTEMPTS = 3;

/** The rows of a task. */
export function unpackedRows(input: RowsInput): ArtifactRows {
  if (!("pages" in input)) return input;
  const rowsIn = (pages: readonly Uint8Array[]): unknown[] =>
    pages.flatMap((page) => JSON.parse(Buffer.from(page.buffer, page.byteOffset, page.length).toString()) as unknown[]);
  return {
    artifact: input.artifact,
    versions: rowsIn(input.pages.versions) as Row<"artifact_versions">[],
    files: rowsIn(input.pages.files) as Row<"artifact_files">[],
  };
}

/** What follows the first pages, up to so many bytes; "more" when there are more, or when the artifact has changed. */
async function rowsAfter(
  exchange: LibraryExchange,
  { artifact, versions, files }: ArtifactRows,
  maxBytes: number,
): Promise<ArtifactRows | "more"> {
  if (artifact === undefined) return "more";
  const all: ArtifactRows = { artifact, versions: [...versions], files: [...files] };
  let left = maxBytes;
  if (versions.length === PAGE_ROWS)
    for await (const rows of versionPages(exchange, artifact.uid, versions.at(-1))) {
      all.versions.push(...rows);
      if ((left -= bytesOf({ versions: rows, files: [] })) < 0) return "more";
    }
  if (files.length === PAGE_ROWS)
    for await (const rows of filePages(exchange, artifact.uid, files.at(-1)?.name)) {
      all.files.push(...rows);
      if ((left -= bytesOf({ versions: [], files: rows })) < 0) return "more";
    }
  const { parent: group, normalized } = artifact;
  const after = await read(exchange, ({ tx }) =>
    artifactNamed(tx, { group, ecosystem: exchange.ecosystem, normalized }),
  );
  return after?.revision === artifact.revision ? all : "more";
}

/** The versions of an artifact, page by page, the earliest first. */
export async function* versionPages(
  exchange: LibraryExchange,
  artifact: string,
  after?: Row<"artifact_versions">,
): AsyncGenerator<Row<"artifact_versions">[]> {
  yield* pagesOf(exchange, after, (tx, last: Row<"artifact_versions"> | undefined) =>
    versionsAfter(tx, artifact, last),
  );
}

/** The files of an artifact, page by page, by their names. */
export async function* filePages(
  exchange: LibraryExchange,
  artifact: string,
  after?: string,
): AsyncGenerator<Row<"artifact_files">[]> {
  const first = after === undefined ? undefined : ({ name: after } as Row<"artifact_files">);
  yield* pagesOf(exchange, first, (tx, last: Row<"artifact_files"> | undefined) =>
    filesAfter(tx, artifact, last?.name ?? ""),
  );
}

async function* pagesOf<R>(
  exchange: LibraryExchange,
  after: R | undefined,
  next: (tx: Database, last: R | undefined) => Promise<R[]>,
): AsyncGenerator<R[]> {
  for (let last = after; ;) {
    const rows = await read(exchange, ({ tx }) => next(tx, last));
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    last = rows.at(-1);
  }
}

function bytesOf({ versions, files }: KeptRows): number {
  let bytes = 0;
  for (const { metadata, description } of versions) bytes += metadata.length + description.length + ROW_BYTES;
  for (const { metadata, name } of files) bytes += metadata.length + name.length + ROW_BYTES;
  return bytes;
}
