import type { Call } from "@moorage/kernel/core/call";
import { isDigest, parseManifest, type StoredManifest } from "../oci/index.ts";
import { type LocalMirror, localSourceOf } from "../registry/index.ts";
import { linkLocalBlob, type MirrorPlace } from "./commands.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { UpstreamError } from "./errors.ts";
import type { Upstream } from "./registry-client.ts";
import type { RetryPolicy } from "./request.ts";
import type { Referrers } from "./source-lists.ts";

const PAGE = 1_000;
const MAX_REFERRERS = 1_000;

/**
 * A repo of this installation as a source. It is read from the database, and its blobs are linked, not copied. That
 * there is such a repo, and that it may be read, is asked at each step.
 */
export function openLocalUpstream(deps: MirrorDeps, mirror: LocalMirror, retryPolicy: RetryPolicy): Upstream {
  const read = async <T>(work: (call: Call, source: string) => Promise<T>): Promise<T> =>
    deps.transactor.read(mirrorCall(deps), async (call) => {
      const source = await localSourceOf(call, mirror);
      if (source === undefined) throw notAllowed();
      return work(call, source);
    });
  return {
    retryPolicy,
    async *tags(signal) {
      for (let last = "", more = true; more;) {
        signal.throwIfAborted();
        const names = await read((call, source) => tagsAfter(call, source, last));
        more = names.length === PAGE;
        last = names.at(-1) ?? "";
        yield names;
      }
    },
    async resolve(tag) {
      const digest = await read((call, source) => digestOf(call, source, tag));
      return digest === undefined ? undefined : { digest };
    },
    manifest: (reference) => read((call, source) => manifestOf(call, source, reference)),
    referrers: (digest) => read((call, source) => referrersOf(call, source, digest)),
    blob: async () => undefined,
    blobSize: (digest) => read((call, source) => sizeOf(call, source, digest)),
    async link(place: MirrorPlace, digest: string) {
      const { state } = await deps.transactor.write(linkLocalBlob, mirrorCall(deps), { place, mirror, digest });
      if (state === "refused") throw notAllowed();
      return state === "linked";
    },
  };
}

function notAllowed(): UpstreamError {
  return new UpstreamError("refused", "the source is no image of this installation that its setter may pull");
}

async function tagsAfter({ tx }: Call, repo: string, after: string): Promise<string[]> {
  const found = await tx
    .selectFrom("tags")
    .select("name")
    .where("parent", "=", repo)
    .where("name", ">", after)
    .orderBy("name")
    .limit(PAGE)
    .execute();
  return found.map(({ name }) => name);
}

async function digestOf({ tx }: Call, repo: string, reference: string): Promise<string | undefined> {
  const found = isDigest(reference)
    ? tx.selectFrom("manifests").select("digest").where("repo", "=", repo).where("digest", "=", reference)
    : tx.selectFrom("tags").select("digest").where("parent", "=", repo).where("name", "=", reference);
  return (await found.executeTakeFirst())?.digest;
}

async function manifestOf(call: Call, repo: string, reference: string): Promise<StoredManifest | undefined> {
  const digest = await digestOf(call, repo, reference);
  if (digest === undefined) return undefined;
  const row = await call.tx
    .selectFrom("manifests")
    .select(["content", "media_type"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const content = Buffer.from(row.content);
  const manifest = parseManifest(content, row.media_type);
  if ("problem" in manifest)
    throw new UpstreamError("wrong", `a manifest of the source cannot be taken: ${manifest.problem}`);
  return { digest, content, manifest };
}

async function referrersOf({ tx }: Call, repo: string, digest: string): Promise<Referrers> {
  const found = await tx
    .selectFrom("manifests")
    .select("digest")
    .where("repo", "=", repo)
    .where("subject", "=", digest)
    .orderBy("digest")
    .limit(MAX_REFERRERS + 1)
    .execute();
  const digests = found.slice(0, MAX_REFERRERS).map((row) => row.digest);
  if (found.length === digests.length) return { digests };
  const problem = new UpstreamError("wrong", `the source has more than ${MAX_REFERRERS} referrers of one manifest`);
  return { digests, problem };
}

async function sizeOf({ tx }: Call, repo: string, digest: string): Promise<number | undefined> {
  const found = await tx
    .selectFrom("repo_blobs as r")
    .innerJoin("blobs as b", "b.digest", "r.digest")
    .select("b.size")
    .where("r.repo", "=", repo)
    .where("r.digest", "=", digest)
    .executeTakeFirst();
  return found?.size;
}
