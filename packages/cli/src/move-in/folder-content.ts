// What an image needs, out of the folder of a registry: its manifests, and where its blobs are.
// Source: distribution/distribution, registry/storage/paths.go.
import type { ContentPlace } from "@moorage/kernel/blobs";
import type { RegistryFiles } from "./registry-files.ts";
import { isDigest } from "./model.ts";
import { type Descriptor, digestOf, manifestOf, MAX_MANIFEST_BYTES, type ReadManifest } from "./registry-reader.ts";
import { SourceError } from "./source-error.ts";

/** A manifest as it is stored. */
export interface FolderManifest {
  digest: string;
  mediaType: string;
  bytes: Buffer;
}

/** All that a digest needs. */
export interface FolderContent {
  /** The bytes of all manifests. */
  manifestBytes: number;
  /** What a manifest names comes before it, what refers to it after it. */
  manifests: FolderManifest[];
  /** Where the blobs are, with their sizes in bytes, by digest. */
  blobs: Map<string, { place: ContentPlace; size: number }>;
}

/** Reads content. Everything throws a SourceError. */
export interface FolderReader {
  /**
   * What the digest needs, as far as the repository has it: what the folder holds for other repositories alone does
   * not count. Without `repo`, what any repository has counts.
   */
  contentOf(digest: string, repo?: string): Promise<FolderContent>;
  /** A manifest of the repository. */
  manifest(repo: string, digest: string): Promise<ReadManifest>;
  /** What refers to the digest in the repository. */
  referrers(repo: string, digest: string): Promise<Descriptor[]>;
  /** The digests of all manifests of the repository. */
  revisions(repo: string): Promise<string[]>;
}

const MAX_LINK_BYTES = 256;
const MAX_DEPTH = 8;
const MAX_MANIFESTS = 10_000;
const MAX_TOTAL_BYTES = 64 << 20;
const MAX_REVISIONS = 100_000;
const MAX_REPOS_KNOWN = 16;

/** The digest in a link file; undefined when there is none. Throws a SourceError when it is something else. */
export async function linkIn(
  files: RegistryFiles,
  path: string,
): Promise<{ digest: string; modifiedMs: number } | undefined> {
  const read = await files.read(`${path}/link`, MAX_LINK_BYTES);
  if (read === undefined) return undefined;
  const digest = read.content.toString().trim();
  if (!isDigest(digest)) throw new SourceError(`${path}/link names no digest`);
  return { digest, modifiedMs: read.modifiedMs };
}

export function openFolderReader(files: RegistryFiles): FolderReader {
  const referring = new Map<string, Promise<Map<string, Descriptor[]>>>();

  const read = async (digest: string, repo?: string): Promise<ReadManifest & FolderManifest> => {
    if (repo !== undefined) {
      const link = await linkIn(files, `repositories/${repo}/_manifests/revisions/${pathOf(digest)}`);
      if (link?.digest !== digest)
        throw new SourceError(`the repository does not have the manifest ${digest}`, { status: 404 });
    }
    const found = await files.read(dataOf(digest), MAX_MANIFEST_BYTES);
    if (found === undefined) throw new SourceError(`the folder does not have the manifest ${digest}`, { status: 404 });
    const isOf = digestOf(found.content, digest.split(":")[0] ?? "");
    if (isOf !== digest) throw new SourceError(`the folder has ${isOf} for ${digest}: its digests do not hold`);
    const { mediaType, names, subject } = manifestOf(found.content);
    return { digest, mediaType, names, subject, bytes: found.content, size: found.content.length };
  };

  const placeOf = async (
    { digest, size }: Descriptor,
    repo?: string,
  ): Promise<{ place: ContentPlace; size: number }> => {
    if (repo !== undefined) {
      const link = await linkIn(files, `repositories/${repo}/_layers/${pathOf(digest)}`);
      if (link?.digest !== digest) throw new SourceError(`the repository does not have the blob ${digest}`);
    }
    const found = await files.size(dataOf(digest));
    if (found === undefined) throw new SourceError(`the folder does not have the blob ${digest}`);
    if (found !== size)
      throw new SourceError(`the blob ${digest} has ${found} bytes, and should have ${size}: it is not whole`);
    return { place: files.place(dataOf(digest)), size };
  };

  const revisions = async (repo: string): Promise<string[]> => {
    const found: string[] = [];
    for (const algorithm of ["sha256", "sha512"])
      for await (const { name, kind } of files.list(`repositories/${repo}/_manifests/revisions/${algorithm}`)) {
        const digest = `${algorithm}:${name}`;
        if (kind !== "folder" || !isDigest(digest)) continue;
        if (found.push(digest) > MAX_REVISIONS)
          throw new SourceError(`the repository has more than ${MAX_REVISIONS} manifests`);
      }
    return found;
  };

  /** The manifests of the repository that refer to others, by what they refer to. */
  const readReferring = async (repo: string): Promise<Map<string, Descriptor[]>> => {
    const found = new Map<string, Descriptor[]>();
    for (const digest of await revisions(repo)) {
      const each = await read(digest, repo).catch((error: unknown) => {
        // It is found again where it is needed, and said there.
        if (error instanceof SourceError) return undefined;
        throw error;
      });
      if (each?.subject === undefined) continue;
      found.set(each.subject, [...(found.get(each.subject) ?? []), { digest, size: each.size, isManifest: true }]);
    }
    return found;
  };
  const referrers = async (repo: string, digest: string): Promise<Descriptor[]> => {
    if (!referring.has(repo)) {
      const [oldest] = referring.keys();
      if (referring.size >= MAX_REPOS_KNOWN && oldest !== undefined) referring.delete(oldest);
      referring.set(repo, readReferring(repo));
    }
    return (await referring.get(repo))?.get(digest) ?? [];
  };

  const collect = async (content: FolderContent, seen: Set<string>, digest: string, depth: number, repo?: string) => {
    if (seen.has(digest)) return;
    if (depth > MAX_DEPTH) throw new SourceError(`manifests are nested more than ${MAX_DEPTH} levels deep`);
    if (seen.add(digest).size > MAX_MANIFESTS)
      throw new SourceError(`one tag leads to more than ${MAX_MANIFESTS} manifests`);
    const found = await read(digest, repo);
    if ((content.manifestBytes += found.size) > MAX_TOTAL_BYTES)
      throw new SourceError(`one tag leads to manifests of more than ${MAX_TOTAL_BYTES} bytes`);
    for (const each of found.names)
      if (each.isManifest) await orWithout(() => collect(content, seen, each.digest, depth + 1, repo));
      else if (!content.blobs.has(each.digest)) content.blobs.set(each.digest, await placeOf(each, repo));
    content.manifests.push({ digest, mediaType: found.mediaType, bytes: found.bytes });
    if (repo === undefined) return;
    for (const each of await referrers(repo, digest)) await collect(content, seen, each.digest, depth + 1, repo);
  };

  return {
    async contentOf(digest, repo) {
      const content: FolderContent = { manifestBytes: 0, manifests: [], blobs: new Map() };
      await collect(content, new Set(), digest, 0, repo);
      return content;
    },
    manifest: (repo, digest) => read(digest, repo),
    referrers,
    revisions,
  };
}

/** An index may leave out platforms: whether it may here, the server decides. */
async function orWithout(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SourceError) || error.status !== 404) throw error;
  }
}

function pathOf(digest: string): string {
  return digest.replace(":", "/");
}

function dataOf(digest: string): string {
  const [algorithm = "", hex = ""] = digest.split(":");
  return `blobs/${algorithm}/${hex.slice(0, 2)}/${hex}/data`;
}
