import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { leaseOn } from "@moorage/kernel/work";
import { libraryError } from "../http/errors.ts";
import { noteChange } from "../artifacts/events.ts";
import { type ArtifactName, ORIGIN } from "../artifacts/names.ts";
import { fileNamed, versionNamed } from "../artifacts/visible.ts";
import {
  addFile,
  addVersion,
  type NewFile,
  type NewVersion,
  settleArtifact,
  takeArtifact,
} from "../artifacts/write.ts";
import { ecosystemOf } from "../ecosystem/lookup.ts";
import { DIVIDED, LIKE_A_PIECE, piecesOf } from "./row-names.ts";
import { upstreamFor } from "./settings.ts";

/** What is found out anew when it is lost. */
const AGAIN = { isolation: "read committed", durability: "deferred" } as const;

/** A document of an upstream: see the table `upstream_documents`. */
export interface KeptDocument {
  upstream: string;
  name: string;
  url: string;
  revision: string;
  etag: string;
  lastModified: string;
  size: number;
  content: Uint8Array;
  /** Its entries are in pieces, which were written before. */
  isDivided: boolean;
  /** The one in whose place it comes was divided. */
  wasDivided: boolean;
}

/** Whoever reads the pieces of a revision when another one comes has so long to read on. */
const REPLACED_MS = 10 * 60_000;

/** Stores what an upstream says, in place of what it said before. */
export const keepDocument = command(
  "libraries.keepDocument",
  async (
    call: Call,
    { upstream, name, url, revision, etag, lastModified, size, content, isDivided, wasDivided }: KeptDocument,
  ): Promise<void> => {
    const { tx, nowMs } = call;
    const row = {
      url,
      revision,
      etag,
      size,
      status: 200,
      last_modified: lastModified,
      content: Buffer.from(content),
      fetch_time: nowMs,
      check_time: nowMs,
    };
    const [own, other] = isDivided ? [name + DIVIDED, name] : [name, name + DIVIDED];
    await tx
      .insertInto("upstream_documents")
      .values({ upstream, name: own, ...row })
      .onConflict((conflict) => conflict.columns(["upstream", "name"]).doUpdateSet(row))
      .execute();
    if (!isDivided && !wasDivided) return;
    await tx.deleteFrom("upstream_documents").where("upstream", "=", upstream).where("name", "=", other).execute();
    const { from, to } = piecesOf(name);
    await tx
      .deleteFrom("upstream_documents")
      .where("upstream", "=", upstream)
      .where("name", ">=", from)
      .where("name", "<", to)
      .where("revision", "<>", revision)
      .where("fetch_time", "<", nowMs - REPLACED_MS)
      .execute();
  },
  AGAIN,
);

/** Stores pieces of a document that comes to be kept. */
export const keepPieces = command(
  "libraries.keepPieces",
  async (
    call: Call,
    {
      pieces,
      ...common
    }: Pick<KeptDocument, "upstream" | "url" | "revision"> & { pieces: { name: string; content: Uint8Array }[] },
  ): Promise<void> => {
    const { tx, nowMs } = call;
    const about = { ...common, status: 200, etag: "", last_modified: "", fetch_time: nowMs, check_time: nowMs };
    const rows = pieces.map(({ name, content }) => ({
      ...about,
      name,
      size: content.length,
      content: Buffer.from(content),
    }));
    await tx
      .insertInto("upstream_documents")
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(["upstream", "name"]).doUpdateSet((row) => ({
          ...about,
          size: row.ref("excluded.size"),
          content: row.ref("excluded.content"),
        })),
      )
      .execute();
  },
  AGAIN,
);

/** Notes that a document is still what the upstream says, or with `isMissing` that the upstream has it no longer. */
export const checkDocument = command(
  "libraries.checkDocument",
  async (
    call: Call,
    { upstream, name, isMissing }: Pick<KeptDocument, "upstream" | "name"> & { isMissing: boolean },
  ): Promise<void> => {
    await call.tx
      .updateTable("upstream_documents")
      .set({ check_time: call.nowMs, ...(isMissing && { status: 404 }) })
      .where("upstream", "=", upstream)
      .where("name", "in", [name, name + DIVIDED])
      .execute();
  },
  AGAIN,
);

/** Notes how an upstream answered last. `error`: empty when it did as it should. */
export const noteUpstream = command(
  "libraries.noteUpstream",
  async (call: Call, { uid, url, error }: { uid: string; url: string; error: string }): Promise<void> => {
    await call.tx
      .updateTable("upstreams")
      .set(
        error === ""
          ? { last_error: "", last_error_time: null, last_success_time: call.nowMs }
          : { last_error: error, last_error_time: call.nowMs },
      )
      .where("uid", "=", uid)
      .where("url", "in", [url, `${url}/`])
      .execute();
  },
  AGAIN,
);

/** What is fetched at present. Each fetch says how long it may take. */
const FETCHES = leaseOn({ table: "upstream_fetches", key: ["id"], holdMs: 0 });

/** Takes the right to fetch something, for the whole installation; false while another process has it. */
export const claimFetch = command(
  "libraries.claimFetch",
  async (
    call: Call,
    { id, holder, holdMs }: { id: string; holder: string; holdMs: number },
  ): Promise<{ claimed: boolean }> => {
    return { claimed: await FETCHES.add(call, { id, holder }, holdMs) };
  },
  AGAIN,
);

/** Gives that right back. */
export const releaseFetch = command(
  "libraries.releaseFetch",
  async (call: Call, { id, holder }: { id: string; holder: string }): Promise<void> => {
    await FETCHES.remove(call, { id, holder });
  },
  AGAIN,
);

/** A file that came from an upstream, whose content is in the blob store. */
export interface FetchedFile extends Omit<ArtifactName, "ecosystem"> {
  /** The number of the ecosystem. */
  ecosystem: number;
  /** As its publisher writes it. */
  name: string;
  /** The version that it is of, which is made when there is none; undefined for a file of the artifact as a whole. */
  version?: Omit<NewVersion, "origin">;
  /** Whether it is no release: such a version is not the latest when there is another. */
  isPrerelease?: boolean;
  file: NewFile;
}

/**
 * Keeps a file of an upstream. What is kept already stays as it is, so that of two processes that fetched the same the
 * first one's counts. Throws 404 when nobody is asked for the name any more: it has become the group's own meanwhile,
 * or the group or its upstream is gone; and when the number is that of a version that the group has removed. The
 * generations are those that `keepFiles` wants.
 */
export const keepFetchedFile = command(
  "libraries.keepFetchedFile",
  async (call: Call, input: FetchedFile): Promise<{ generations: string[] }> => {
    const { group, normalized, name, version, isPrerelease = false, file } = input;
    const ecosystem = ecosystemOf(input.ecosystem);
    const settings = await upstreamFor(call, { group, ecosystem, normalized });
    if (settings === undefined)
      throw libraryError(404, `Not found: ${name} of the upstream: the name is the group's own, or nobody is asked`);
    const artifact = await takeArtifact(call, { group, ecosystem, normalized }, name);
    const kept = await fileNamed(call.tx, artifact.uid, file.name);
    // The content that was stored a second time is not needed.
    if (kept !== undefined) return { generations: [await generationOf(call, kept.file.digest, file)] };
    const found = version === undefined ? undefined : await versionNamed(call.tx, artifact.uid, version.version);
    if (found?.origin === ORIGIN.published)
      throw libraryError(404, `Not found: ${file.name}: ${found.version} of ${name} is the group's own`);
    const row = found ?? (version && (await addVersion(call, artifact, { ...version, origin: ORIGIN.upstream })));
    const { generation } = await addFile(call, artifact, row?.uid ?? "", file);
    const latest =
      artifact.latest_version === "" ? undefined : await versionNamed(call.tx, artifact.uid, artifact.latest_version);
    const isLatest =
      row !== undefined &&
      !settings.isMerged &&
      (latest === undefined || (!isPrerelease && row.sort_key > latest.sort_key));
    await settleArtifact(call, artifact, {
      ...(row !== undefined && { version: row.uid }),
      ...(isLatest && { latestVersion: row.version, description: row.description }),
    });
    await noteChange(call, artifact, { what: "fetched", version: row?.version ?? "", files: [file.name] });
    return { generations: [generation] };
  },
);

async function generationOf({ tx }: Call, kept: string, { digest }: NewFile): Promise<string> {
  if (kept !== digest) return "";
  const row = await tx.selectFrom("blobs").select("generation").where("digest", "=", digest).executeTakeFirst();
  return row?.generation ?? "";
}

/** Removes documents that no upstream needs any more, or that nobody has asked for since `beforeMs`: says how many. */
export const removeUnusedDocuments = command(
  "libraries.removeUnusedDocuments",
  async (call: Call, { beforeMs, limit }: { beforeMs: number; limit: number }): Promise<{ removed: number }> => {
    const { tx } = call;
    const rows = await tx
      .selectFrom("upstream_documents as d")
      .leftJoin("upstreams as u", "u.uid", "d.upstream")
      .select(["d.upstream", "d.name"])
      // Pieces go with their document.
      .where((where) =>
        where.or([
          where("u.uid", "is", null),
          where.and([where("d.check_time", "<", beforeMs), where("d.name", "not like", LIKE_A_PIECE)]),
        ]),
      )
      .limit(limit)
      .execute();
    for (const { upstream, name } of rows) {
      await tx.deleteFrom("upstream_documents").where("upstream", "=", upstream).where("name", "=", name).execute();
      if (!name.endsWith(DIVIDED)) continue;
      const { from, to } = piecesOf(name.slice(0, -DIVIDED.length));
      await tx
        .deleteFrom("upstream_documents")
        .where("upstream", "=", upstream)
        .where("name", ">=", from)
        .where("name", "<", to)
        .execute();
    }
    await tx.deleteFrom("upstream_fetches").where("hold_until", "<", call.agreedMs).execute();
    return { removed: rows.length };
  },
  AGAIN,
);

/** The commands of upstreams. */
export const upstreamCommands = [
  keepDocument,
  checkDocument,
  noteUpstream,
  claimFetch,
  releaseFetch,
  keepFetchedFile,
  removeUnusedDocuments,
  keepPieces,
] as const;
